// What nodes over one Redis promise when something breaks: real servers that are killed, stopped, full or cut off.
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, RESP_TYPES } from '@redis/client';
import { afterEach, describe, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { prefixOf } from '../../src/node/network/redis/buckets.js';
import { serve } from '../cli/command-line.js';
import { verifyExport } from '../core/record/verifying.js';
import { temporaryFolder } from '../left-behind.js';
import { Caller, gateOf, Holder, inTurn, statusAndCode } from './caller.js';
import { hasRedis, RedisReplicas, RedisServer, until } from './network/redis/server.js';
import { type NetworkNode, startNetworkNode } from './network-nodes.js';

const CYCLE_MS = 200;

let server: RedisServer | undefined;
let stopAlso: (() => Promise<void>) | undefined;
let nodes: NetworkNode[] = [];
let children: ChildProcess[] = [];
/** Who has the machine; before it is made, a stranger. */
let owner = new Caller('');

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  server?.signal('SIGCONT');
  await Promise.all(nodes.map((node) => node.close()));
  await stopAlso?.();
  stopAlso = undefined;
  server = undefined;
  nodes = [];
  children = [];
  owner = new Caller('');
});

/** So many nodes, a machine, and a gate on it. @returns the path of the gate */
async function begin(
  count: number,
  args: readonly string[],
  threshold: number,
  within: number,
  deadlineMs?: number,
): Promise<string> {
  server = await RedisServer.start(...args);
  for (let index = 0; index < count; index += 1) nodes.push(await startNetworkNode(server.url, CYCLE_MS, deadlineMs));
  return deployed(threshold, within);
}

/** A new owner, who asks the first node, with a machine and a gate. */
async function deployed(threshold: number, within: number): Promise<string> {
  owner = await Holder.minted(nodes[0]!.url);
  return gateOf('edge', await owner.contractOn('edge', { threshold, within }, true));
}

/** The owner, as it asks one of the nodes. */
const at = (index: number) => owner.at(nodes[index % nodes.length]!);

const isReady = async (node: { readonly url: string }) => (await owner.at(node).get('/readyz')).status === 200;
const allReady = () => until(async () => (await Promise.all(nodes.map(isReady))).every(Boolean));

/** Sends to all nodes until it is stopped. */
function hammer(path: string) {
  const told = { acknowledged: 0, refused: 0, retryAfter: new Set<string | null>() };
  let isOver = false;
  const senders = nodes.flatMap((node) =>
    [1, 2, 3].map(async () => {
      while (!isOver) {
        const { status, headers } = await owner.at(node).post(path);
        if (status === 503) {
          told.refused += 1;
          told.retryAfter.add(headers.get('retry-after'));
        } else told.acknowledged += 1;
      }
    }),
  );
  return {
    told,
    async stop() {
      isOver = true;
      await Promise.all(senders);
    },
  };
}

/** All that was counted, by the last node. */
async function countOf(path: string): Promise<number> {
  for (;;) {
    const { status, body } = await owner.at(nodes.at(-1)!).post(`${path}?peek=1`);
    if (status !== 503) return body.count;
  }
}

describe.skipIf(!hasRedis)('faults of a network of nodes (needs redis-server)', () => {
  it('a Redis that is killed and started again loses nothing acknowledged, and nothing counts twice', async () => {
    const path = await begin(3, ['--appendonly', 'yes', '--appendfsync', 'everysec'], 100_000, 100_000);
    for (let round = 0; round < 2; round += 1) {
      const before = await countOf(path);
      const sending = hammer(path);
      await until(async () => sending.told.acknowledged > 100);
      await server!.kill();
      await until(async () => sending.told.refused > 20);
      expect((await owner.get('/readyz')).body.code).toBe('store_away');
      expect((await owner.get('/healthz')).status).toBe(200);
      await server!.restart();
      await allReady();
      const { acknowledged } = sending.told;
      await until(async () => sending.told.acknowledged > acknowledged + 100);
      await sending.stop();
      const counted = (await countOf(path)) - before;
      expect(counted).toBeGreaterThanOrEqual(sending.told.acknowledged);
      // What was under way when it was killed may have counted or not: at most one request of each sender, and none twice.
      expect(counted).toBeLessThanOrEqual(sending.told.acknowledged + nodes.length * 3);
      expect([...sending.told.retryAfter]).toEqual(['1']);
    }
  });

  it('while Redis stands still every request is answered, and nothing counts after its deadline', async () => {
    // One that is patient prepares it: on a busy machine a call may take longer than the deadline of the others.
    const path = await begin(1, [], 100_000, 100_000);
    for (let index = 0; index < 3; index += 1) nodes.push(await startNetworkNode(server!.url, CYCLE_MS, 250));
    await nodes.shift()!.close();
    await allReady();
    await until(async () => (await at(0).post(path)).status === 200);
    const before = await countOf(path);
    server!.signal('SIGSTOP');
    const told = await Promise.all(Array.from({ length: 30 }, (_, index) => at(index).post(path)));
    expect(told.map(({ status }) => status)).toEqual(Array(30).fill(503));
    await pause(1_500);
    server!.signal('SIGCONT');
    await allReady();
    await pause(500);
    expect(await countOf(path)).toBe(before);
  });

  it('an answer says that a call is done while no node links its row, and the row comes later', async () => {
    server = await RedisServer.start();
    nodes.push(await startNetworkNode(server.url, CYCLE_MS, undefined, { linkedWithinMs: 50 }));
    owner = await Holder.minted(nodes[0]!.url);
    const lease = `${prefixOf('edge')}lease`;
    await server.ask('SET', lease, 'another node');
    const { status, body } = await owner.createMachine('edge');
    expect([status, body.code]).toEqual([503, 'store_away']);
    expect(body.detail).toContain(
      'It is done, and its row is not in the record yet. No node has linked it within 0.05 s.',
    );
    await server.ask('DEL', lease);
    await until(async () => (await owner.rows('edge'))?.length === 1);
  });

  it('while Redis is stopped or killed an open contract admits, says so, and invents no count', async () => {
    const closed = await begin(2, ['--appendonly', 'yes'], 2, 100_000, 2_000);
    const open = { threshold: 2, within: 100_000, when_away: 'open' };
    const rule = { primitive: 'token_bucket', params: { rate: 1, per_ms: 86_400_000, capacity: 2 } };
    const limits = [
      open,
      { ...open, keyed: { max_keys: 9, store_keys: 'plain', show_keys: true } },
      { rule, when_away: 'open' },
    ];
    const made = await Promise.all(limits.map((limit) => owner.tryDeploy('edge', limit)));
    expect(made.map(({ body }) => body.contract.when_away)).toEqual(['open', 'open', 'open']);
    const [plain, keyed, ofRule] = made.map(({ body }) => body.contract.id as string);
    const opened = [gateOf('edge', plain!), `${gateOf('edge', keyed!)}?key=ann`, gateOf('edge', ofRule!)];
    // Both nodes know of all four.
    for (const path of [closed, ...opened]) expect((await at(1).post(path)).status).toBe(200);
    const countAll = () =>
      Promise.all(opened.map((path) => at(1).post(`${path}${path.includes('?') ? '&' : '?'}peek=1`)));
    const before = (await countAll()).map(({ body }) => body.count);
    for (const [go, comeBack] of [
      [() => server!.signal('SIGSTOP'), () => server!.signal('SIGCONT')],
      [() => server!.kill(), () => server!.restart()],
    ]) {
      await go!();
      for (let round = 0; round < 5; round += 1) {
        const caller = at(round);
        expect(statusAndCode(await caller.post(closed))).toEqual([503, 'store_away']);
        for (const path of opened) {
          const { status, headers, body } = await caller.post(path);
          expect([status, headers.get('weir-away'), headers.get('ratelimit')]).toEqual([200, 'open', null]);
          const marked = { decision: 'admitted', away: true, retry_after_cycles: 0 };
          const key = path.includes('?') ? { key: 'ann' } : {};
          expect(body).toEqual({ ok: true, cycle: expect.any(Number), id: path.split('/')[5], ...key, ...marked });
        }
        const event = { type: 'request', contract_id: plain, count: 2 };
        const counted = await caller.post('/api/chain/edge/event', event);
        expect([counted.headers.get('weir-away'), counted.body.contracts]).toEqual([
          'open',
          [{ id: plain, admitted: 2, limited: 0, retry_after_cycles: 0, away: true }],
        ]);
        // What is to be counted, whenever that is, is refused: so are many events at once, and late ones.
        const { cycle } = (await caller.get('/api/clock')).body;
        const late = await caller.post('/api/chain/edge/event', { ...event, cycle: cycle - 1 });
        const many = await caller.post('/api/chain/edge/events', [event]);
        expect([late, many].map(statusAndCode)).toEqual(Array(2).fill([503, 'store_away']));
      }
      await comeBack!();
      await allReady();
      await pause(500);
      expect((await countAll()).map(({ body }) => body.count)).toEqual(before);
    }
    expect((await owner.get('/metrics')).body).toContain('weir_decisions_total{decision="away"} 30');
    // Then it limits as if nothing had been.
    expect([(await owner.post(opened[0]!)).status, (await owner.post(opened[0]!)).status]).toEqual([200, 429]);
  });

  it('a replica that takes over has all that was acknowledged with wait=1', async () => {
    const redis = await RedisReplicas.start();
    stopAlso = redis.stop;
    for (let index = 0; index < 2; index += 1)
      nodes.push(await startNetworkNode(`${redis.url}?wait=1`, CYCLE_MS, 2_000));
    const path = await deployed(100_000, 100_000);
    await until(async () => (await at(1).post(`${path}?peek=1`)).status === 200);
    const sending = hammer(path);
    await until(async () => sending.told.acknowledged > 100);
    // No replica has what is sent now: it is not acknowledged.
    await redis.cutOff();
    await until(async () => sending.told.refused > 20);
    const { acknowledged } = sending.told;
    await redis.master.kill();
    await until(async () => sending.told.acknowledged > acknowledged + 100);
    await sending.stop();
    await allReady();
    const counted = await countOf(path);
    expect(counted).toBeGreaterThanOrEqual(sending.told.acknowledged);
    expect(counted).toBeLessThanOrEqual(sending.told.acknowledged + sending.told.refused);
    const fingerprints = nodes.map(({ fingerprint }) => fingerprint);
    expect(verifyExport(await at(1).exported('edge'), { nodes: fingerprints })).toMatchObject({ valid: true });
  });

  it('a Redis out of memory goes on counting, and rows come once there is room', async () => {
    const path = await begin(2, ['--maxmemory-policy', 'noeviction'], 3, 100_000);
    await server!.ask('CONFIG', 'SET', 'maxmemory', '1mb');
    const told = await Promise.all([1, 2, 3, 4, 5].map((index) => at(index).post(path)));
    expect(told.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
    expect(statusAndCode(await owner.createMachine('another'))).toEqual([503, 'store_away']);
    expect(await at(1).rows('edge')).toHaveLength(2);
    await server!.ask('CONFIG', 'SET', 'maxmemory', '0');
    await until(async () => (await at(1).rows('edge')).length === 3);
  });

  it.each([
    ['a replica', 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'],
    ['one with too few replicas', 'CONFIG SET min-replicas-to-write 1', 'CONFIG SET min-replicas-to-write 0'],
    ['one that the node may not write to', 'ACL SETUSER default -@write', 'ACL SETUSER default +@all'],
  ])('a node is not ready while Redis takes no writes, as %s', async (_what, refuse, take) => {
    const path = await begin(1, [], 100_000, 100_000);
    await server!.ask(...refuse.split(' '));
    await until(async () => !(await isReady(nodes[0]!)));
    const ready = await owner.at(nodes[0]!).get('/readyz');
    expect([...statusAndCode(ready), ready.body.detail]).toEqual([
      503,
      'store_away',
      expect.stringContaining('Redis refuses it: '),
    ]);
    expect(statusAndCode(await owner.post(path))).toEqual([503, 'store_away']);
    await server!.ask(...take.split(' '));
    await allReady();
    expect((await owner.post(path)).status).toBe(200);
  });

  it('connections that are cut amid batches leave every outcome known, or an error, and none counts twice', async () => {
    const path = await begin(3, [], 100_000, 100_000);
    const sending = hammer(path);
    for (let cut = 0; cut < 10; cut += 1) {
      const { acknowledged } = sending.told;
      await until(async () => sending.told.acknowledged > acknowledged + 50);
      await server!.ask('CLIENT', 'KILL', 'TYPE', 'normal');
    }
    await allReady();
    await sending.stop();
    const counted = await countOf(path);
    expect(counted).toBeGreaterThanOrEqual(sending.told.acknowledged);
    expect(counted).toBeLessThanOrEqual(sending.told.acknowledged + sending.told.refused);
  });

  it('no node is ready or vouches for what is gone once Redis is emptied, and the log says what is missing', async () => {
    const path = await begin(2, [], 1, 100_000);
    const statuses = await inTurn([0, 1, 0], async (index) => (await at(index).post(path)).status);
    expect(statuses).toEqual([200, 429, 429]);
    const headOf = async (index: number) => (await at(index).get('/api/chain/edge/state')).body.head?.seq;
    for (const index of [0, 1]) await until(async () => (await headOf(index)) === 3);
    await server!.ask('FLUSHALL');
    for (const node of nodes) {
      await until(async () => !(await isReady(node)));
      const caller = owner.at(node);
      const ready = await caller.get('/readyz');
      expect(statusAndCode(ready)).toEqual([503, 'rows_missing']);
      expect(ready.body.detail).toContain('Redis lacks rows that were acknowledged. Missing: ');
      expect(ready.body.detail).toContain('the machine edge with its 3 rows');
      const verified = await caller.verified('edge');
      expect(verified).toMatchObject({ valid: false, rows: 0, first_broken: { check: 'tail', seq: 1 } });
      expect((await caller.get('/api/chain/state-machines/edge')).body.code).toBe('rows_missing');
      const refused = [await caller.get(path.slice(0, -'/gate'.length)), await caller.post(path)];
      refused.push(await caller.post(path.replace('gate', 'transition'), { to: 'allowing' }));
      expect(refused.map(({ status }) => status)).not.toContain(200);
    }
    for (const { said } of nodes) await until(() => said().some((line) => line.includes('rows_missing')));
  });

  it.each([
    ['is shorter', 0],
    ['is shorter, with another row', 1],
    ['has other rows', 2],
    ['is longer, with other rows', 4],
  ])('a node that knows better than an old Redis, whose record %s, says so until rows are back', async (_, moves) => {
    const path = await begin(2, [], 1_000, 2);
    const move = async (caller: Caller, to: string) =>
      (await caller.post(path.replace('gate', 'transition'), { to, hold_cycles: 100_000 })).status;
    const verified = (caller: Caller) => caller.verified('edge');
    await move(owner, 'limiting');
    const before = await everything();
    for (const to of ['allowing', 'limiting']) expect(await move(at(1), to)).toBe(200);
    for (const index of [0, 1])
      await until(async () => (await at(index).get('/api/chain/edge/state')).body.head?.seq === 5);
    const newest = await everything();
    // What a node writes that has never heard of these rows.
    const elsewhere = await RedisServer.start();
    await put(before, elsewhere);
    const other = await startNetworkNode(elsewhere.url, CYCLE_MS);
    for (let n = 0; n < moves; n += 1)
      expect(await move(owner.at(other), n % 2 === 0 ? 'allowing' : 'limiting')).toBe(200);
    expect((await verified(owner.at(other))).valid).toBe(true);
    await put(await everything(elsewhere));
    await other.close();
    for (const node of nodes) {
      await until(async () => !(await isReady(node)));
      const caller = owner.at(node);
      expect((await caller.get('/readyz')).body.code).toBe('rows_missing');
      expect((await verified(caller)).valid).toBe(false);
      expect(await move(caller, 'limiting')).toBe(503);
    }
    await put(newest);
    for (const node of nodes) {
      await until(() => isReady(node));
      expect(await verified(owner.at(node))).toMatchObject({ valid: true, rows: 5 });
    }
  });

  it('a node with a folder knows after a restart what Redis must have, and does without it only if told to', async () => {
    server = await RedisServer.start();
    const dir = temporaryFolder();
    const start = (acceptLoss = false) => startNetworkNode(server!.url, CYCLE_MS, undefined, {}, { dir, acceptLoss });
    nodes.push(await start());
    const path = await deployed(1, 100_000);
    for (let n = 0; n < 2; n += 1) await owner.post(path);
    await until(async () => (await owner.get('/api/chain/edge/state')).body.head?.seq === 3);
    await nodes.pop()!.close();
    nodes.push(await start());
    await nodes.pop()!.close();
    const before = await everything();
    await server!.ask('FLUSHALL');
    await expect(start()).rejects.toMatchObject({
      code: 'rows_missing',
      why: expect.stringContaining('the machine edge with its 3 rows'),
    });
    await put(before);
    nodes.push(await start());
    await nodes.pop()!.close();
    await server!.ask('FLUSHALL');
    nodes.push(await start(true));
    expect(await isReady(nodes[0]!)).toBe(true);
    await nodes.pop()!.close();
    nodes.push(await start());
  });

  it.each(['allkeys-lru', 'volatile-ttl'])('no node starts, or stays ready, on a Redis with %s', async (policy) => {
    await begin(1, [], 5, 100);
    await server!.ask('CONFIG', 'SET', 'maxmemory-policy', policy);
    await until(async () => !(await isReady(nodes[0]!)));
    const ready = await owner.get('/readyz');
    expect(statusAndCode(ready)).toEqual([503, 'store_unfit']);
    expect(ready.body.detail).toContain(policy);
    await until(() => nodes[0]!.said().some((line) => line.includes('store_unfit')));
    const starting = startNetworkNode(server!.url, CYCLE_MS);
    await expect(starting).rejects.toMatchObject({ code: 'store_unfit', fix: expect.stringContaining('noeviction') });
    await server!.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await until(() => isReady(nodes[0]!));
  });

  it('a node with wait=1 and no replica does not start, and says why', async () => {
    server = await RedisServer.start();
    await expect(startNetworkNode(`${server.url}?wait=1`, CYCLE_MS)).rejects.toMatchObject({
      code: 'store_unfit',
      why: expect.stringContaining('it has 0'),
    });
  });

  it.each(['not there', 'stopped'])('a node on a Redis that is %s says at once which does not answer', async (how) => {
    server = await RedisServer.start();
    const { url, port } = server;
    if (how === 'stopped') server.signal('SIGSTOP');
    else await server.kill();
    await expect(startNetworkNode(url, CYCLE_MS)).rejects.toMatchObject({
      code: 'store_away',
      what: 'The node was not started.',
      why: expect.stringContaining(`Redis at 127.0.0.1:${port} cannot be asked`),
      fix: expect.not.stringContaining('readyz'),
    });
  });

  it('entries of the log that cannot be read are skipped and logged: what comes after them is heard', async () => {
    await begin(2, [], 5, 100);
    const { key, key_id } = (await owner.post('/api/keys', { scopes: ['read'] })).body;
    const reader = new Caller(nodes[1]!.url, key);
    const status = async () => (await reader.get('/api/chain/edge/contracts')).status;
    expect(await status()).toBe(200);
    const unfit = ['{"kind":"key"}', '{"kind":"key","key":{"id":"x"}}', '{"kind":"elsewise"}', '{"kind":"session"}'];
    const bad = ['{', 'null', ...unfit];
    for (const text of bad) await server!.ask('XADD', 'weir:{directory}:log', '*', 'change', text);
    await server!.ask('SADD', 'weir:{directory}:machines', 'broken');
    await server!.ask('HSET', `${prefixOf('broken')}m:broken`, 'image', '{', 'seq', '0', 'hash', 'x');
    await server!.ask('XADD', 'weir:{directory}:log', '*', 'change', '{"kind":"machine","slug":"broken"}');
    expect((await owner.delete(`/api/keys/${key_id}`)).status).toBe(204);
    await until(async () => (await status()) === 401);
    for (const node of nodes) {
      expect(await isReady(node)).toBe(true);
      const messages = node.errors.map((error) => (error as Error).message);
      expect(messages.filter((text) => /entry .* of the log/.test(text))).toHaveLength(bad.length);
      expect(messages.some((text) => /the machine "broken"/.test(text))).toBe(true);
    }
    // Others start beside it, too.
    nodes.push(await startNetworkNode(server!.url, CYCLE_MS));
    expect(await isReady(nodes[2]!)).toBe(true);
  });

  it('no node is ready while the log cannot be followed, and what it does not say is read when it is due', async () => {
    await begin(2, [], 5, 100);
    const { key_id } = (await owner.post('/api/keys', { scopes: ['read'] })).body;
    const { directory } = nodes[1]!;
    const known = () => directory.credentials.keyById(key_id);
    await until(() => known() !== undefined);
    const [log, keys] = ['weir:{directory}:log', 'weir:{directory}:keys'];
    // Revoked without a word in the log.
    const kept = JSON.parse(await server!.ask<string>('HGET', keys, key_id));
    await server!.ask('HSET', keys, key_id, JSON.stringify({ ...kept, isRevoked: true }));
    await directory.follow();
    expect(known()?.isRevoked).toBe(false);
    await directory.reloadIfDue(Number.POSITIVE_INFINITY);
    expect(known()?.isRevoked).toBe(true);
    await server!.ask('DEL', log);
    await server!.ask('SET', log, 'no stream');
    for (const node of nodes) await until(async () => !(await isReady(node)));
    await server!.ask('DEL', log);
    await allReady();
  });

  it('nodes that are killed and paused while they link, one an hour ahead, write one chain, no row lost or twice', async () => {
    await begin(1, [], 1, 2);
    const started = await Promise.all([0, 1, 2].map((index) => startProcess(server!.url, index === 0 ? 3_600_000 : 0)));
    const id = await owner.at(started[1]!).contractOn('second', { threshold: 1, within: 2 }, true);
    const path = gateOf('second', id);
    const clocks = await Promise.all(started.map((node) => owner.at(node).get('/api/clock')));
    const cycles = clocks.map(({ body }) => body.cycle as number);
    expect(Math.max(...cycles) - Math.min(...cycles)).toBeLessThan(100);
    const all = [...nodes.map(({ fingerprint }) => fingerprint), ...started.map(({ fingerprint }) => fingerprint)];
    for (let round = 0; round < 6; round += 1) {
      const victim = started[round % started.length]!;
      const others = [nodes[0]!, ...started.filter((one) => one !== victim)].map((node) => owner.at(node));
      const asking = Promise.all([...others, owner.at(victim)].map((one) => one.post(path).catch(() => undefined)));
      if (round % 2 === 0) {
        victim.child.kill('SIGSTOP');
        await Promise.all(others.map((one) => one.post(path)));
        victim.child.kill('SIGCONT');
        await asking;
      } else {
        victim.child.kill('SIGKILL');
        await asking;
        started[round % started.length] = await startProcess(server!.url, 0);
        all.push(started[round % started.length]!.fingerprint);
      }
      await pause(3 * CYCLE_MS);
    }
    const moves = async () => (await owner.rows('second', 'kind=transition&limit=250')).map(({ to }) => to as string);
    // Idle for long enough, the contract allows again: every move was linked.
    await until(async () => (await moves()).at(-1) === 'allowing');
    expect(verifyExport(await owner.exported('second'), { nodes: all })).toMatchObject({ valid: true });
    const states = await moves();
    expect(states.length).toBeGreaterThan(4);
    expect(states).toEqual(states.map((_, index) => (index % 2 === 0 ? 'limiting' : 'allowing')));
    expect(await server!.ask('KEYS', 'weir:{*}:w:*')).toEqual([]);
  });
});

/** All that Redis has, by key. */
async function everything(redis = server!): Promise<Map<string, string>> {
  const client = createClient({ url: redis.url }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  await client.connect();
  const dumped = new Map<string, string>();
  for (const key of await redis.ask<string[]>('KEYS', '*')) {
    const value = (await client.sendCommand(['DUMP', key])) as unknown as Buffer | null;
    // A lease would be one without an end.
    if (value !== null && !key.endsWith(':lease')) dumped.set(key, value.toString('base64'));
  }
  client.destroy();
  return dumped;
}

/** Redis has this, and nothing else. */
async function put(dumped: ReadonlyMap<string, string>, redis = server!): Promise<void> {
  const client = createClient({ url: redis.url });
  await client.connect();
  const all = client.multi().addCommand(['FLUSHALL']);
  for (const [key, value] of dumped)
    all.addCommand(['RESTORE', key, '0', Buffer.from(value, 'base64') as unknown as string]);
  await all.exec();
  client.destroy();
}

/** `weir serve` in a process of its own, whose wall clock is ahead. */
async function startProcess(url: string, aheadMs: number) {
  const shift = join(temporaryFolder(), 'ms');
  writeFileSync(shift, String(aheadMs));
  // What is looked at here is the record, not how soon an answer comes.
  const store = ['--store', `${url}?deadline_ms=20000`, '--cycle-ms', String(CYCLE_MS)];
  const node = await serve(store, { NODE_OPTIONS: `--import=${preload}`, WEIR_TEST_SHIFT: shift });
  children.push(node.child);
  return node;
}

// As a URL: the path of a checkout may have blanks, and options are separated by them.
const preload = new URL('./shifted-date.mjs', import.meta.url).href;
