// Contracts and machines are deleted: a row says so, their room is free at once, the record is read for a time, and the slug is free after that.
import { expect, it } from 'vitest';
import { publicKeyFrom } from '../../src/core/record/signing.js';
import type { Limits } from '../../src/node/limits.js';
import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { verifyExport } from '../core/record/verifying.js';
import { afterTest, temporaryFolder } from '../left-behind.js';
import { seriesIn } from './asking.js';
import { Caller, gateOf, Holder, inTurn, statusAndCode } from './caller.js';
import { Listening } from './listening.js';
import { until } from './network/redis/server.js';

/** A node in memory, or on a folder, with a short cycle. */
async function start(dir?: string, limits: Partial<Limits> = {}) {
  const storage = openStorage({ dir, cycleMs: 20, onError: () => {} });
  const mint = { threshold: 100, within: 60, onNode: 1_000 };
  const node = await startNode({
    ...storage,
    ...storage.identity,
    limits: { mint, overload: { afterMs: 3_600_000, gateTurnMs: 200, otherTurnMs: 50 }, ...limits },
  });
  afterTest(node.close);
  return { node, nobody: new Caller(node.url), mint: () => Holder.minted(node.url), signer: storage.identity.signer };
}

/** One request in ten cycles. */
const ONE = { threshold: 1, within: 10 };
const KEYED = { ...ONE, keyed: { max_keys: 50 } };

it('a contract is gone with its room, the others go on, and the record holds', async () => {
  const { node, mint, signer } = await start();
  const owner = await mint();
  const { key_id } = owner.made;
  await owner.createMachine('m', true);
  const [one, keyed, other] = [
    await owner.deploy('m', ONE),
    await owner.deploy('m', KEYED),
    await owner.deploy('m', ONE),
  ];
  const gates = [gateOf('m', one), `${gateOf('m', keyed)}?key=ann`];
  for (let times = 0; times < 3; times += 1) await Promise.all(gates.map((gate) => owner.get(gate)));
  const before = await owner.used();
  const answers = await inTurn([keyed, one], (id) => owner.delete(`/api/chain/m/contracts/${id}`));
  const after = await owner.used();
  expect(answers.map(({ status, body }) => [status, body.freed.contracts])).toEqual(Array(2).fill([200, 1]));
  const freed = answers.map(({ body }) => [0, ...Object.values<number>(body.freed)]);
  expect(after).toEqual(before.map((amount, index) => amount - freed[0]![index]! - freed[1]![index]!));
  expect(after[3]).toBe(0);
  const path = `/api/chain/m/contracts/${one}`;
  const gone = await Promise.all([
    ...gates.map((gate) => owner.get(gate)),
    owner.delete(path),
    owner.get(path),
    owner.post(`${path}/transition`, { to: 'limiting' }),
  ]);
  expect(gone.map(statusAndCode)).toEqual(gone.map(() => [404, 'contract_not_found']));
  expect((await owner.get(gateOf('m', other))).status).toBe(200);
  expect((await owner.get('/api/chain/m/contracts')).body.contracts).toMatchObject([{ id: other }]);
  expect(await owner.rows('m', 'kind=contract_deleted')).toMatchObject([
    { contract_id: keyed, by: key_id, cause: 'manual' },
    { contract_id: one, by: key_id, cause: 'manual' },
  ]);
  const pinned = publicKeyFrom(signer.publicKey);
  expect(verifyExport(await owner.exported('m'), { pinned }).valid).toBe(true);
  expect(node.host.failure).toBe(undefined);
});

it('a machine is gone with its room, and its record is read until its retention is over', async () => {
  const { node, mint, nobody } = await start(undefined, { retentionMs: 4_000 });
  const [owner, stranger] = [await mint(), await mint()];
  const gate = gateOf('m', await owner.contractOn('m', KEYED, true));
  for (let times = 0; times < 40; times += 1) await owner.get(`${gate}?key=k${times}`);
  const reader = await Listening.to(node, '/api/chain/m/stream');
  const deleted = await inTurn([stranger, nobody, owner], (by) => by.delete('/api/chain/m'));
  expect(deleted.map(({ status }) => status)).toEqual([403, 401, 200]);
  expect(deleted[2]!.body.freed).toMatchObject({ machines: 1, contracts: 1 });
  expect((await owner.used()).slice(0, 4)).toEqual([0, 0, 0, 0]);
  const refused = await Promise.all([
    owner.tryDeploy('m'),
    owner.event('m', { key: 'a' }),
    owner.delete('/api/chain/m'),
    owner.createMachine('m'),
  ]);
  expect(refused.map(statusAndCode)).toEqual([...Array(3).fill([410, 'machine_deleted']), [409, 'slug_taken']]);
  expect(refused[3]!.body.detail).toContain(deleted[2]!.body.readable_until);
  expect((await nobody.rows('m')).at(-1)).toMatchObject({ kind: 'machine_deleted', cause: 'manual' });
  expect((await nobody.verified('m')).valid).toBe(true);
  expect((await nobody.get('/api/chain/state-machines/m')).body.machine.deleted_at).toEqual(expect.any(String));
  // Read until then, free after that.
  await until(async () => (await nobody.get('/api/chain/m/state')).status === 404);
  // Or its reader would hear the machine of whoever takes the slug.
  await reader.ended();
  await until(async () => (await stranger.createMachine('m', true)).status === 201);
  expect((await nobody.rows('m')).map(({ kind, seq }) => [kind, seq])).toEqual([['machine_created', 1]]);
  const metrics = (await stranger.get('/api/chain/m/metrics')).body;
  expect(seriesIn(metrics).get('weir_machine_gate_seconds_count{machine="m"}')).toBe(0);
});

it('the next owner of the slug of a deleted machine gets none of its kept answers, and they take no room any more', async () => {
  const { mint } = await start(undefined, { retentionMs: 500, answersKib: { perOwner: 1, onNode: 262_144 } });
  const [owner, stranger] = [await mint(), await mint()];
  const told = await inTurn([owner, stranger, owner], async (by) => {
    const once = async (key: string) => {
      const { status, headers } = await by.event('m', {}, { 'idempotency-key': key });
      return [status, headers.get('idempotent-replayed')];
    };
    await until(async () => (await by.createMachine('m')).status === 201);
    await by.deploy('m', { threshold: 1, within: 10_000 });
    const answers: unknown[] = await inTurn(['a', 'b', 'a'], once);
    // As many as an owner may have are kept.
    let sent = 0;
    while ((await once(`more ${sent}`))[0] === 200) sent += 1;
    await by.delete('/api/chain/m');
    return [...answers, sent];
  });
  const each = [[200, null], [200, null], [200, 'true'], told[0]![3]];
  expect(told).toEqual([each, each, each]);
});

it('the operator evicts an owner, named by a key or a machine too: keys and machines end, and others stay', async () => {
  const { node, mint, nobody } = await start(temporaryFolder());
  const good = await mint();
  await good.contractOn('shop', ONE, true);
  for (const by of ['owner', 'key', 'machine']) {
    const bad = await mint();
    for (const slug of [`${by}-1`, `${by}-2`]) {
      await bad.contractOn(slug, ONE, true);
      await bad.deploy(slug, ONE);
    }
    const further = await bad.make({ scopes: ['gate'] });
    const { owner } = bad.made;
    const named = by === 'owner' ? owner : by === 'key' ? further.made.key_id : 'machine-2';
    expect(await node.evict(named)).toEqual({ owner, keys: 2, machines: 2, contracts: 4 });
    const answers = [await bad.get('/api/limits'), await further.get(`/api/chain/${by}-1/state`)];
    answers.push(await good.get('/api/chain/shop/contracts'));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 200]);
    expect((await nobody.rows(`${by}-1`)).at(-1)).toMatchObject({ kind: 'machine_deleted', cause: 'system' });
  }
  await expect(node.evict('nobody')).rejects.toMatchObject({ code: 'owner_not_found' });
});

it.each([
  ['127.0.0.1', { mint: { threshold: 0, within: 60, onNode: 1_000 } }],
  ['0.0.0.0', {}],
])('a node on %s with the bounds %j mints no free keys', async (host, limits) => {
  const storage = openStorage({ cycleMs: 777, onError: () => {} });
  const node = await startNode({ ...storage, ...storage.identity, host, limits });
  afterTest(node.close);
  const anyone = new Caller(`http://127.0.0.1:${new URL(node.url).port}`);
  expect(statusAndCode(await anyone.post('/api/demo-key/mint'))).toEqual([403, 'mint_off']);
});

it('what was deleted stays deleted after a restart, its record too, and keys of removed contracts are freed', async () => {
  const dir = temporaryFolder();
  let owner: Caller | undefined;
  let last: Awaited<ReturnType<typeof start>> | undefined;
  /** The owner on the next node of the folder; the one before is closed. */
  const next = async (limits?: Partial<Limits>) => {
    await last?.node.close();
    last = await start(dir, limits);
    owner = owner === undefined ? await last.mint() : owner.at(last.node);
    return owner;
  };
  const first = await next();
  const keyed = { ...ONE, keyed: { max_keys: 2_000 } };
  const [a, b] = [await first.contractOn('m', keyed), await first.deploy('m', ONE)];
  await first.contractOn('n', ONE);
  const events = Array.from({ length: 1_000 }, (_, n) => ({ type: 'request', contract_id: a, key: `key-${n}` }));
  await first.post('/api/chain/m/events', events);
  await first.delete(`/api/chain/m/contracts/${a}`);
  await first.delete('/api/chain/n');

  const second = await next();
  expect((await second.get('/api/chain/m/contracts')).body.contracts).toMatchObject([{ id: b }]);
  expect((await second.used()).slice(0, 4)).toEqual([1, 1, 10, 0]);
  const { machine } = (await second.get('/api/chain/state-machines/n')).body;
  expect(machine).toMatchObject({ deleted_at: expect.any(String), contract_count: 0 });
  expect(statusAndCode(await second.tryDeploy('n'))).toEqual([410, 'machine_deleted']);
  for (const slug of ['m', 'n']) expect((await second.verified(slug)).valid).toBe(true);
  // Its number is given anew only once its keys are gone.
  const again = await second.deploy('m', keyed);
  expect((await second.get(`/api/chain/m/contracts/${again}/keys`)).body.keys).toEqual([]);

  // A removed machine is no missing one for the mark beside the database.
  const third = await next({ retentionMs: 1 });
  await until(async () => (await third.get('/api/chain/n/state')).status === 404);
  await until(async () => (await third.createMachine('n')).status === 201);
  expect(await (await next()).rows('n')).toHaveLength(1);
});
