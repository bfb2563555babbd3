// What a node makes, and keeps, while its heap is nearly full, and what its caches keep of credentials.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { Access } from '../../src/node/access.js';
import { type Heap, keptBytes, MemoryGuard } from '../../src/node/memory-guard.js';
import { newKey } from '../../src/node/secret.js';
import { MemoryCredentials } from '../../src/node/store/credential-store.js';
import { gateOf } from './caller.js';
import { startRunning } from './running.js';

// What is used, and whether a full collection comes before it is looked at; and whether there is too little left.
it.each([
  [50, false, false],
  [75, false, false],
  [84, false, false],
  [86, false, true],
  [69, true, false],
  [71, true, true],
])('the guard with %i of 100 used, fully collected: %s, says memory is low: %s', (usedBytes, isCollected, isLow) => {
  const guard = new MemoryGuard(() => ({ usedBytes, limitBytes: 100 }));
  if (isCollected) guard.collected();
  expect(guard.isLow).toBe(isLow);
});

it('the guard lets go on once a collection has freed enough', () => {
  const heap = { usedBytes: 80, limitBytes: 100 };
  const guard = new MemoryGuard(() => heap);
  guard.collected();
  const before = guard.isLow;
  heap.usedBytes = 40;
  guard.collected();
  expect([before, guard.isLow]).toEqual([true, false]);
});

it.each([64, 128, 1_000])('what may be kept in a heap of %i MiB is that, by this Node', (mebibytes) => {
  const limit = 'require("node:v8").getHeapStatistics().heap_size_limit';
  const { stdout } = spawnSync(process.execPath, [`--max-old-space-size=${mebibytes}`, '-p', limit], {
    encoding: 'utf8',
  });
  expect(keptBytes(Number(stdout)) / 2 ** 20).toBe(mebibytes);
});

it('a node with little memory left makes nothing that it would have to keep, and decides what it has', async () => {
  const heap = { usedBytes: 10, limitBytes: 100 };
  const memoryGuard = new MemoryGuard((): Heap => heap);
  const node = await startRunning({ memoryGuard });
  const owner = node.owner('alice');
  await owner.createMachine('m');
  const deploy = (overflow: string) => owner.deploy('m', { keyed: { max_keys: 100, overflow }, threshold: 100 });
  const [refusing, sharing] = [await deploy('refuse'), await deploy('share')];
  const gate = (id: string, name: string) => owner.get(`${gateOf('m', id)}?key=${name}`);
  for (const id of [refusing, sharing]) await gate(id, 'known');

  heap.usedBytes = 95;
  memoryGuard.collected();
  const made = await Promise.all([
    node.ask('POST', '/api/demo-key/mint'),
    owner.post('/api/keys', { scopes: ['read'] }),
    owner.post('/api/session'),
    owner.createMachine('more'),
    owner.tryDeploy('m'),
    gate(refusing, 'new'),
    gate(sharing, 'new'),
  ]);
  expect(made.map(({ status, body, headers }) => [status, body.code, headers.get('retry-after')])).toEqual(
    Array.from({ length: 7 }, () => [503, 'memory_low', '10']),
  );
  const events = ['known', 'new'].map((key) => ({ type: 'request', contract_id: refusing, key }));
  const { outcomes } = (await owner.post('/api/chain/m/events', events)).body;
  expect(outcomes).toMatchObject([{ contracts: [{ admitted: 1 }] }, { ok: false, code: 'memory_low' }]);
  expect((await gate(refusing, 'known')).status).toBe(200);

  heap.usedBytes = 10;
  memoryGuard.collected();
  expect((await gate(refusing, 'new')).status).toBe(200);
  await node.close();
  expect(node.errors).toEqual([]);
});

it('a key is let in however it is written, and remembered once', () => {
  const credentials = new MemoryCredentials();
  let lookUps = 0;
  const counting = new Proxy(credentials, {
    get(target, name) {
      if (name === 'keyByHash') lookUps += 1;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const { text, hash } = newKey();
  const times = { createdAtMs: 0, expiresAtMs: 1_000 };
  credentials.putKey({ id: 'k', hash, owner: 'o', scopes: ['admin'], machine: undefined, isRevoked: false, ...times });
  const access = new Access(counting);
  const seen = [1, 200, 10_000].map((blanks) => {
    lookUps = 0;
    const header = `Bearer${' '.repeat(blanks)}${text}`;
    const owners = [1, 2, 3].map(() => access.callerByKey(header, 'gate', 1).owner);
    const gateways = [1, 2, 3].map(() => access.gatewayOf(header, 1)?.owner);
    return [lookUps, new Set([...owners, ...gateways])];
  });
  expect(seen).toEqual([
    [1, new Set(['o'])],
    [0, new Set(['o'])],
    [0, new Set(['o'])],
  ]);
});
