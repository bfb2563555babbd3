// Contracts and machines are deleted: a row says so, their room is free at once, the record is read for a time, and the slug is free after that.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Limits } from '../../src/node/limits.js';
import { type RunningNode, startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { publicKeyFrom } from '../../src/record/signing.js';
import { temporaryFolder } from '../left-behind.js';
import { verifyExport } from '../record/verifying.js';

const DEPLOY = '/api/contracts/templates/rate-limiter/deploy';

const running: RunningNode[] = [];
afterEach(async () => {
  for (const node of running.splice(0)) await node.close();
});

interface Told {
  readonly status: number;
  readonly body: any;
}

/** A node in memory, or on a folder, with a short cycle. */
async function start(dir: string | undefined, limits: Partial<Limits> = {}) {
  const storage = openStorage({ dir, cycleMs: 20, onError: () => {} });
  const { store, credentials, clock, identity } = storage;
  const mint = { threshold: 100, within: 60, addresses: 10 };
  const node = await startNode({
    ...{ store, credentials, clock, signer: identity.signer, successions: identity.successions },
    limits: { mint, overload: { afterMs: 3_600_000, gateTurnMs: 200, otherTurnMs: 50 }, ...limits },
  });
  running.push(node);
  const ask = async (method: string, path: string, key?: string, body?: object): Promise<Told> => {
    const response = await fetch(`${node.url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json$|json;/.test(response.headers.get('content-type') ?? '') && !path.includes('ndjson');
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };
  const owner = async () => (await ask('POST', '/api/demo-key/mint')).body;
  const machine = (key: string, slug: string) =>
    ask('POST', '/api/chain/state-machines', key, { slug, is_public: true });
  const deploy = async (key: string, slug: string, more: object = {}) =>
    (await ask('POST', DEPLOY, key, { slug, threshold: 1, within: 10, ...more })).body.contract.id as string;
  return { node, ask, owner, machine, deploy, signer: identity.signer };
}

describe.each([
  ['in memory', () => undefined],
  ['on SQLite', () => temporaryFolder()],
])('%s', (_, folder) => {
  it('a contract is gone with its room, the others go on, and the record holds', async () => {
    const { node, ask, owner, machine, deploy, signer } = await start(folder());
    const { key, key_id } = await owner();
    await machine(key, 'm');
    const [one, keyed, other] = [
      await deploy(key, 'm'),
      await deploy(key, 'm', { keyed: { max_keys: 50 } }),
      await deploy(key, 'm'),
    ];
    const gate = (id: string, query = '') => ask('GET', `/api/chain/m/contracts/${id}/gate${query}`, key);
    for (let times = 0; times < 3; times += 1) await Promise.all([gate(one), gate(keyed!, '?key=ann')]);
    const used = async () => {
      const { contracts, window_cycles, key_cells, definition_bytes } = (await ask('GET', '/api/limits', key)).body;
      return [contracts, window_cycles, key_cells, definition_bytes].map((room) => room.used);
    };
    const before = await used();
    const answers = [
      await ask('DELETE', `/api/chain/m/contracts/${keyed}`, key),
      await ask('DELETE', `/api/chain/m/contracts/${one}`, key),
    ];
    const after = await used();
    expect(answers.map(({ status, body }) => [status, body.freed.contracts])).toEqual([
      [200, 1],
      [200, 1],
    ]);
    const freed = answers.map(({ body }) => Object.values<number>(body.freed));
    expect(after).toEqual(before.map((amount, index) => amount - freed[0]![index]! - freed[1]![index]!));
    expect(after[2]).toBe(0);
    const gone = [
      await gate(one),
      await gate(keyed!, '?key=ann'),
      await ask('DELETE', `/api/chain/m/contracts/${one}`, key),
      await ask('GET', `/api/chain/m/contracts/${one}`, key),
      await ask('POST', `/api/chain/m/contracts/${one}/transition`, key, { to: 'limiting' }),
    ];
    expect(gone.map(({ status, body }) => [status, body.code])).toEqual(gone.map(() => [404, 'contract_not_found']));
    expect((await gate(other)).status).toBe(200);
    const listed = await ask('GET', '/api/chain/m/contracts', key);
    expect(listed.body.contracts.map(({ id }: { id: string }) => id)).toEqual([other]);
    const rows = (await ask('GET', '/api/chain/m/state?kind=contract_deleted', key)).body.rows;
    expect(rows.map(({ contract_id, by, cause }: any) => [contract_id, by, cause])).toEqual([
      [keyed, key_id, 'manual'],
      [one, key_id, 'manual'],
    ]);
    const exported = (await ask('GET', '/api/chain/m/state?format=ndjson', key)).body;
    expect(verifyExport(exported, { pinned: publicKeyFrom(signer.publicKey) }).valid).toBe(true);
    expect(node.host.failure).toBe(undefined);
  });

  it('a machine is gone with its room, and its record is read until its retention is over', async () => {
    const { ask, owner, machine, deploy } = await start(folder(), { retentionMs: 1_500 });
    const [{ key }, { key: stranger }] = [await owner(), await owner()];
    await machine(key, 'm');
    const id = await deploy(key, 'm', { keyed: { max_keys: 50 } });
    for (let times = 0; times < 40; times += 1)
      await ask('GET', `/api/chain/m/contracts/${id}/gate?key=k${times}`, key);
    const refused = [await ask('DELETE', '/api/chain/m', stranger), await ask('DELETE', '/api/chain/m')];
    const { status, body } = await ask('DELETE', '/api/chain/m', key);
    expect([...refused.map((one) => one.status), status, body.freed.machines, body.freed.contracts]).toEqual([
      403, 401, 200, 1, 1,
    ]);
    const limits = (await ask('GET', '/api/limits', key)).body;
    expect([limits.machines.used, limits.contracts.used, limits.key_cells.used]).toEqual([0, 0, 0]);
    const still = await Promise.all([
      ask('GET', '/api/chain/m/state'),
      ask('GET', '/api/chain/m/state/verify'),
      ask('GET', '/api/chain/state-machines/m'),
      ask('POST', DEPLOY, key, { slug: 'm' }),
      ask('POST', '/api/chain/m/event', key, { type: 'request', key: 'a' }),
      ask('DELETE', '/api/chain/m', key),
      machine(key, 'm'),
    ]);
    expect(still.map((one) => [one.status, one.body.code])).toEqual([
      [200, undefined],
      [200, undefined],
      [200, undefined],
      [410, 'machine_deleted'],
      [410, 'machine_deleted'],
      [410, 'machine_deleted'],
      [409, 'slug_taken'],
    ]);
    expect(still[0]!.body.rows.at(-1)).toMatchObject({ kind: 'machine_deleted', cause: 'manual' });
    expect(still[1]!.body.valid).toBe(true);
    expect(still[2]!.body.machine.deleted_at).toEqual(expect.any(String));
    // Read until then, free after that.
    await vi.waitUntil(async () => (await ask('GET', '/api/chain/m/state')).status === 404, { timeout: 20_000 });
    await vi.waitUntil(async () => (await machine(stranger, 'm')).status === 201, { timeout: 20_000 });
    const anew = (await ask('GET', '/api/chain/m/state')).body;
    expect(anew.rows.map(({ kind, seq }: any) => [kind, seq])).toEqual([['machine_created', 1]]);
  });

  it('who takes the slug of a deleted machine gets none of its kept answers, and they take no room any more', async () => {
    const { node, ask, owner, machine, deploy } = await start(folder(), { retentionMs: 500, answersKibPerOwner: 1 });
    const [{ key }, { key: stranger }] = [await owner(), await owner()];
    const once = async (by: string, idempotencyKey: string) => {
      const response = await fetch(`${node.url}/api/chain/m/event`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${by}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: '{"type":"request"}',
      });
      return [response.status, response.headers.get('idempotent-replayed')];
    };
    const begin = async (by: string) => {
      await vi.waitUntil(async () => (await machine(by, 'm')).status === 201, { timeout: 20_000 });
      await deploy(by, 'm', { within: 10_000 });
    };
    const told: unknown[] = [];
    for (const by of [key, stranger, key]) {
      await begin(by);
      for (const name of ['a', 'b', 'a']) told.push(await once(by, name));
      // As many as an owner may have are kept.
      let sent = 0;
      while ((await once(by, `more ${sent}`))[0] === 200) sent += 1;
      told.push(sent);
      await ask('DELETE', '/api/chain/m', by);
    }
    const each = [[200, null], [200, null], [200, 'true'], told[3]];
    expect(told).toEqual([...each, ...each, ...each]);
  });

  it('what the owner of an ended key has left is deleted by the node', async () => {
    const { ask, owner, machine, deploy } = await start(folder());
    const [gone, stays] = [await owner(), await owner()];
    for (const [slug, { key }] of [
      ['left', gone],
      ['kept', stays],
    ] as const) {
      await machine(key, slug);
      await deploy(key, slug);
    }
    expect((await ask('DELETE', `/api/keys/${gone.key_id}`, gone.key)).status).toBe(204);
    const deletedAt = async (slug: string) =>
      (await ask('GET', `/api/chain/state-machines/${slug}`)).body.machine.deleted_at;
    await vi.waitUntil(async () => (await deletedAt('left')) !== undefined, { timeout: 20_000 });
    const { rows } = (await ask('GET', '/api/chain/left/state')).body;
    expect(rows.at(-1)).toMatchObject({ kind: 'machine_deleted', cause: 'system' });
    expect(await deletedAt('kept')).toBe(undefined);
  });
});

describe('the operator', () => {
  it.each(['owner', 'key', 'machine'])(
    'evicts an owner, named by %s: keys, sessions and machines end, and others stay',
    async (by) => {
      const { node, ask, owner, machine, deploy } = await start(temporaryFolder());
      const [bad, good] = [await owner(), await owner()];
      for (const [slug, { key }] of [
        ['spam-1', bad],
        ['spam-2', bad],
        ['shop', good],
      ] as const) {
        await machine(key, slug);
        await deploy(key, slug);
        await deploy(key, slug);
      }
      const further = (await ask('POST', '/api/keys', bad.key, { scopes: ['gate'] })).body;
      const named = by === 'owner' ? bad.owner : by === 'key' ? further.key_id : 'spam-2';
      expect(await node.evict(named)).toEqual({ owner: bad.owner, keys: 2, machines: 2, contracts: 4 });
      const statuses = await Promise.all([
        ask('GET', '/api/limits', bad.key),
        ask('GET', '/api/chain/spam-1/state', further.key),
        ask('GET', '/api/chain/shop/contracts', good.key),
      ]);
      expect(statuses.map(({ status }) => status)).toEqual([401, 401, 200]);
      const { rows } = (await ask('GET', '/api/chain/spam-1/state')).body;
      expect(rows.at(-1)).toMatchObject({ kind: 'machine_deleted', cause: 'system' });
      await expect(node.evict('nobody')).rejects.toMatchObject({ code: 'owner_not_found' });
    },
  );
});

describe('free keys', () => {
  it.each([
    ['127.0.0.1', undefined, 201, undefined],
    ['127.0.0.1', 0, 403, 'mint_off'],
    ['0.0.0.0', undefined, 403, 'mint_off'],
    ['0.0.0.0', 5, 201, undefined],
  ])('of a node on %s, with %s for an address', async (host, threshold, status, code) => {
    const { store, credentials, clock, identity } = openStorage({ cycleMs: 777, onError: () => {} });
    const limits = threshold === undefined ? {} : { mint: { threshold, within: 60, addresses: 10 } };
    const node = await startNode({ store, credentials, clock, signer: identity.signer, host, limits });
    running.push(node);
    const port = new URL(node.url).port;
    const response = await fetch(`http://127.0.0.1:${port}/api/demo-key/mint`, { method: 'POST' });
    expect([response.status, ((await response.json()) as { code?: string }).code]).toEqual([status, code]);
  });
});

it('what was deleted stays deleted after a restart, its record too, and keys of removed contracts are freed', async () => {
  const dir = temporaryFolder();
  const first = await start(dir);
  const { key } = await first.owner();
  for (const slug of ['m', 'n']) await first.machine(key, slug);
  const [a, b] = [await first.deploy(key, 'm', { keyed: { max_keys: 2_000 } }), await first.deploy(key, 'm')];
  await first.deploy(key, 'n');
  const requests = Array.from({ length: 1_000 }, (_, n) => ({ contract_id: a, key: `key-${n}` }));
  await first.ask('POST', '/api/chain/m/gates', key, { requests });
  await first.ask('DELETE', `/api/chain/m/contracts/${a}`, key);
  await first.ask('DELETE', '/api/chain/n', key);
  await running.splice(0)[0]!.close();

  const second = await start(dir);
  const { ask } = second;
  const listed = (await ask('GET', '/api/chain/m/contracts', key)).body.contracts;
  const limits = (await ask('GET', '/api/limits', key)).body;
  const deleted = await ask('GET', '/api/chain/state-machines/n', key);
  expect([
    listed.map(({ id }: { id: string }) => id),
    limits.machines.used,
    limits.contracts.used,
    limits.key_cells.used,
    typeof deleted.body.machine.deleted_at,
    deleted.body.machine.contract_count,
    (await ask('POST', DEPLOY, key, { slug: 'n' })).body.code,
    (await ask('GET', '/api/chain/n/state/verify', key)).body.valid,
    (await ask('GET', '/api/chain/m/state/verify', key)).body.valid,
  ]).toEqual([[b], 1, 1, 0, 'string', 0, 'machine_deleted', true, true]);
  // Its number is given anew only once its keys are gone.
  const again = await second.deploy(key, 'm', { keyed: { max_keys: 2_000 } });
  const keys = (await ask('GET', `/api/chain/m/contracts/${again}/keys`, key)).body.keys;
  expect(keys).toEqual([]);
  await running.splice(0)[0]!.close();

  // A removed machine is no missing one for the mark beside the database.
  const third = await start(dir, { retentionMs: 1 });
  await vi.waitUntil(async () => (await third.ask('GET', '/api/chain/n/state', key)).status === 404, {
    timeout: 20_000,
  });
  await vi.waitUntil(async () => (await third.machine(key, 'n')).status === 201, { timeout: 20_000 });
  await running.splice(0)[0]!.close();
  const fourth = await start(dir);
  expect((await fourth.ask('GET', '/api/chain/n/state', key)).body.rows.length).toBe(1);
});
