// What nodes over one Redis promise when something breaks: real servers that are killed, stopped, full or cut off.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, RESP_TYPES } from '@redis/client';
import { afterEach, describe, expect, it } from 'vitest';
import { prefixOf } from '../../src/store/redis/buckets.js';
import { temporaryFolder } from '../left-behind.js';
import { verifyExport } from '../record/verifying.js';
import { hasRedis, RedisReplicas, RedisServer, until } from '../store/redis/server.js';
import { type NetworkNode, startNetworkNode } from './network-nodes.js';

const CYCLE_MS = 200;

let server: RedisServer | undefined;
let stopAlso: (() => Promise<void>) | undefined;
let nodes: NetworkNode[] = [];
let children: ChildProcess[] = [];
let key = '';

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  server?.signal('SIGCONT');
  await Promise.all(nodes.map((node) => node.close()));
  await server?.stop();
  await stopAlso?.();
  stopAlso = undefined;
  server = undefined;
  nodes = [];
  children = [];
  key = '';
});

interface Answer {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
}

async function ask(url: string, method: string, path: string, body?: object): Promise<Answer> {
  const headers = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && !path.includes('ndjson');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Three nodes, a machine, and a gate on it. @returns the path of the gate */
async function begin(
  count: number,
  args: readonly string[],
  threshold: number,
  within: number,
  deadlineMs?: number,
): Promise<string> {
  server = await RedisServer.start(...args);
  for (let index = 0; index < count; index += 1) nodes.push(await startNetworkNode(server.url, CYCLE_MS, deadlineMs));
  return deployed(nodes[0]!.url, threshold, within);
}

async function deployed(url: string, threshold: number, within: number): Promise<string> {
  key = (await ask(url, 'POST', '/api/demo-key/mint')).body.key;
  await ask(url, 'POST', '/api/chain/state-machines', { slug: 'edge', is_public: true });
  const made = await ask(url, 'POST', '/api/contracts/templates/rate-limiter/deploy', {
    slug: 'edge',
    threshold,
    within,
  });
  return `/api/chain/edge/contracts/${made.body.contract.id}/gate`;
}

const isReady = async (url: string) => (await ask(url, 'GET', '/readyz')).status === 200;
const allReady = () => until(async () => (await Promise.all(nodes.map(({ url }) => isReady(url)))).every(Boolean));

/** Sends to all nodes until it is stopped. */
function hammer(path: string) {
  const told = { acknowledged: 0, refused: 0, retryAfter: new Set<string | null>() };
  let isOver = false;
  const senders = nodes.flatMap(({ url }) =>
    [1, 2, 3].map(async () => {
      while (!isOver) {
        const { status, headers } = await ask(url, 'POST', path);
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
    const { status, body } = await ask(nodes.at(-1)!.url, 'POST', `${path}?peek=1`);
    if (status !== 503) return body.count;
  }
}

describe.skipIf(!hasRedis)('faults of a network of nodes (needs redis-server)', () => {
  it('Redis killed and started again: nothing that was acknowledged is lost, nothing counts twice', async () => {
    const path = await begin(3, ['--appendonly', 'yes', '--appendfsync', 'everysec'], 100_000, 100_000);
    for (let round = 0; round < 3; round += 1) {
      const before = await countOf(path);
      const sending = hammer(path);
      await until(async () => sending.told.acknowledged > 100);
      await server!.kill();
      await until(async () => sending.told.refused > 20);
      expect((await ask(nodes[0]!.url, 'GET', '/readyz')).body.code).toBe('store_away');
      expect((await ask(nodes[0]!.url, 'GET', '/healthz')).status).toBe(200);
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

  it('Redis stopped: answers come while it stands still, and nothing counts after its deadline', async () => {
    const path = await begin(3, [], 100_000, 100_000, 250);
    await allReady();
    await until(async () => (await ask(nodes[0]!.url, 'POST', path)).status === 200);
    const before = await countOf(path);
    server!.signal('SIGSTOP');
    const told = await Promise.all(
      Array.from({ length: 30 }, (_, index) => ask(nodes[index % 3]!.url, 'POST', path).then(({ status }) => status)),
    );
    expect(told).toEqual(Array(30).fill(503));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    server!.signal('SIGCONT');
    await allReady();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await countOf(path)).toBe(before);
  });

  it('Redis stopped and killed: a contract that is open then admits, says so, and invents no count', async () => {
    const closed = await begin(2, ['--appendonly', 'yes'], 2, 100_000, 2_000);
    const deploy = (body: object) => ask(nodes[0]!.url, 'POST', '/api/contracts/templates/rate-limiter/deploy', body);
    const open = { slug: 'edge', threshold: 2, within: 100_000, when_away: 'open' };
    const ofRule = {
      slug: 'edge',
      rule: { primitive: 'token_bucket', params: { rate: 1, per_ms: 86_400_000, capacity: 2 } },
    };
    const made = await Promise.all(
      [open, { ...open, keyed: { max_keys: 9 } }, { ...ofRule, when_away: 'open' }].map(deploy),
    );
    expect(made.map(({ body }) => body.contract.when_away)).toEqual(['open', 'open', 'open']);
    const [plain, keyed, rule] = made.map(({ body }) => body.contract.id as string);
    const gate = (id: string) => `/api/chain/edge/contracts/${id}/gate`;
    const opened = [gate(plain!), `${gate(keyed!)}?key=ann`, gate(rule!)];
    // Both nodes know of all four.
    for (const path of [closed, ...opened]) expect((await ask(nodes[1]!.url, 'POST', path)).status).toBe(200);
    const countAll = () =>
      Promise.all(opened.map((path) => ask(nodes[1]!.url, 'POST', `${path}${path.includes('?') ? '&' : '?'}peek=1`)));
    const before = (await countAll()).map(({ body }) => body.count);
    for (const [go, comeBack] of [
      [() => server!.signal('SIGSTOP'), () => server!.signal('SIGCONT')],
      [() => server!.kill(), () => server!.restart()],
    ]) {
      await go!();
      for (let round = 0; round < 5; round += 1) {
        const { url } = nodes[round % 2]!;
        expect(await ask(url, 'POST', closed)).toMatchObject({ status: 503, body: { code: 'store_away' } });
        for (const path of opened) {
          const { status, headers, body } = await ask(url, 'POST', path);
          expect([status, headers.get('weir-away'), headers.get('ratelimit')]).toEqual([200, 'open', null]);
          const marked = { decision: 'admitted', away: true, retry_after_cycles: 0 };
          const key = path.includes('?') ? { key: 'ann' } : {};
          expect(body).toEqual({ ok: true, cycle: expect.any(Number), id: path.split('/')[5], ...key, ...marked });
        }
        const event = { type: 'request', contract_id: plain, count: 2 };
        const counted = await ask(url, 'POST', '/api/chain/edge/event', event);
        expect([counted.headers.get('weir-away'), counted.body.contracts]).toEqual([
          'open',
          [{ id: plain, admitted: 2, limited: 0, retry_after_cycles: 0, away: true }],
        ]);
        const requests = [{ contract_id: plain, n: 2 }];
        const { body } = await ask(url, 'POST', '/api/chain/edge/gates', { requests });
        expect(body.decisions).toEqual([{ admitted: 2, limited: 0, retry_after_cycles: 0, away: true }]);
        // What is to be counted, whenever that is, is refused: so are bulks, late events, and what a closed contract decides too.
        const { cycle } = (await ask(url, 'GET', '/api/clock')).body;
        const late = await ask(url, 'POST', '/api/chain/edge/event', { ...event, cycle: cycle - 1 });
        const bulk = await ask(url, 'POST', '/api/chain/edge/events', [event]);
        const all = await ask(url, 'POST', '/api/chain/edge/gates', {
          requests: [...requests, { contract_id: closed.split('/')[5] }],
        });
        expect([late, bulk, all].map(({ status }) => status)).toEqual([503, 503, 503]);
      }
      await comeBack!();
      await allReady();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect((await countAll()).map(({ body }) => body.count)).toEqual(before);
    }
    const metrics = await ask(nodes[0]!.url, 'GET', '/metrics');
    expect([metrics.status, metrics.body]).toEqual([
      200,
      expect.stringContaining('weir_decisions_total{decision="away"} 42'),
    ]);
    // Then it limits as if nothing had been.
    const after = [];
    for (let n = 0; n < 2; n += 1) after.push((await ask(nodes[0]!.url, 'POST', opened[0]!)).status);
    expect(after).toEqual([200, 429]);
  });

  it('a replica takes over: with wait=1 nothing that was acknowledged is lost', async () => {
    const redis = await RedisReplicas.start();
    stopAlso = redis.stop;
    for (let index = 0; index < 2; index += 1)
      nodes.push(await startNetworkNode(`${redis.url}?wait=1`, CYCLE_MS, 2_000));
    const path = await deployed(nodes[0]!.url, 100_000, 100_000);
    await until(async () => (await ask(nodes[1]!.url, 'POST', `${path}?peek=1`)).status === 200);
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
    const state = await ask(nodes[1]!.url, 'GET', '/api/chain/edge/state?format=ndjson');
    const fingerprints = nodes.map(({ fingerprint }) => fingerprint);
    expect(verifyExport(state.body, { nodes: fingerprints })).toMatchObject({ valid: true });
  });

  it('Redis out of memory: it goes on counting, and rows come once there is room', async () => {
    const path = await begin(2, ['--maxmemory-policy', 'noeviction'], 3, 100_000);
    await server!.ask('CONFIG', 'SET', 'maxmemory', '1mb');
    const told = await Promise.all([1, 2, 3, 4, 5].map((index) => ask(nodes[index % 2]!.url, 'POST', path)));
    expect(told.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
    const made = await ask(nodes[0]!.url, 'POST', '/api/chain/state-machines', { slug: 'another' });
    expect(made).toMatchObject({ status: 503, body: { code: 'store_away' } });
    expect((await ask(nodes[1]!.url, 'GET', '/api/chain/edge/state')).body.rows).toHaveLength(2);
    await server!.ask('CONFIG', 'SET', 'maxmemory', '0');
    await until(async () => (await ask(nodes[1]!.url, 'GET', '/api/chain/edge/state')).body.rows.length === 3);
  });

  it('connections cut in the middle of batches: every outcome is known, or an error; none counts twice', async () => {
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

  it('Redis emptied: no node is ready, none vouches for what is not there, and the log says what is missing', async () => {
    const path = await begin(2, [], 1, 100_000);
    const statuses = [];
    for (const index of [0, 1, 0]) statuses.push((await ask(nodes[index]!.url, 'POST', path)).status);
    expect(statuses).toEqual([200, 429, 429]);
    const of = (url: string, way: string) => ask(url, 'GET', `/api/chain/edge${way}`);
    await until(async () => (await of(nodes[1]!.url, '/state')).body.head?.seq === 3);
    await until(async () => (await of(nodes[0]!.url, '/state')).body.head?.seq === 3);
    await server!.ask('FLUSHALL');
    for (const { url } of nodes) {
      await until(async () => !(await isReady(url)));
      const ready = await ask(url, 'GET', '/readyz');
      expect(ready).toMatchObject({ status: 503, body: { code: 'rows_missing' } });
      expect(ready.body.detail).toContain('Redis lacks rows that were acknowledged. Missing: ');
      expect(ready.body.detail).toContain('the machine edge with its 3 rows');
      const verified = (await of(url, '/state/verify')).body;
      expect(verified).toMatchObject({ valid: false, rows: 0, first_broken: { check: 'tail', seq: 1 } });
      expect((await ask(url, 'GET', '/api/chain/state-machines/edge')).body.code).toBe('rows_missing');
      expect((await of(url, path.slice('/api/chain/edge'.length, -'/gate'.length))).status).not.toBe(200);
      expect((await ask(url, 'POST', path)).status).not.toBe(200);
      expect((await ask(url, 'POST', path.replace('gate', 'transition'), { to: 'allowing' })).status).not.toBe(200);
    }
    for (const { said } of nodes) await until(() => said().some((line) => line.includes('rows_missing')));
  });

  it.each([
    ['is shorter', 0],
    ['is shorter, with another row', 1],
    ['has other rows', 2],
    ['is longer, with other rows', 4],
  ])(
    'Redis as it was before, and its record %s: every node that knows better says so until it has the rows again',
    async (_, moves) => {
      const path = await begin(2, [], 1_000, 2);
      const by = (index: number) => nodes[index % 2]!.url;
      const move = async (url: string, to: string) =>
        (await ask(url, 'POST', path.replace('gate', 'transition'), { to, hold_cycles: 100_000 })).status;
      await move(by(0), 'limiting');
      const before = await everything();
      for (const to of ['allowing', 'limiting']) expect(await move(by(1), to)).toBe(200);
      for (const { url } of nodes)
        await until(async () => (await ask(url, 'GET', '/api/chain/edge/state')).body.head?.seq === 5);
      const newest = await everything();
      // What a node writes that has never heard of these rows.
      const elsewhere = await RedisServer.start();
      await put(before, elsewhere);
      const other = await startNetworkNode(elsewhere.url, CYCLE_MS);
      for (let n = 0; n < moves; n += 1) expect(await move(other.url, n % 2 === 0 ? 'allowing' : 'limiting')).toBe(200);
      expect((await ask(other.url, 'GET', '/api/chain/edge/state/verify')).body.valid).toBe(true);
      await put(await everything(elsewhere));
      await other.close();
      await elsewhere.stop();
      for (const { url } of nodes) {
        await until(async () => !(await isReady(url)));
        expect((await ask(url, 'GET', '/readyz')).body.code).toBe('rows_missing');
        expect((await ask(url, 'GET', '/api/chain/edge/state/verify')).body.valid).toBe(false);
        expect(await move(url, 'limiting')).toBe(503);
      }
      await put(newest);
      for (const { url } of nodes) {
        await until(() => isReady(url));
        expect((await ask(url, 'GET', '/api/chain/edge/state/verify')).body).toMatchObject({ valid: true, rows: 5 });
      }
    },
  );

  it('a node with a folder knows after a restart what Redis must have, and goes on without it only if it is accepted', async () => {
    server = await RedisServer.start();
    const dir = temporaryFolder();
    const start = (acceptLoss = false) => startNetworkNode(server!.url, CYCLE_MS, undefined, {}, { dir, acceptLoss });
    nodes.push(await start());
    const path = await deployed(nodes[0]!.url, 1, 100_000);
    for (let n = 0; n < 2; n += 1) await ask(nodes[0]!.url, 'POST', path);
    await until(async () => (await ask(nodes[0]!.url, 'GET', '/api/chain/edge/state')).body.head?.seq === 3);
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
    expect(await isReady(nodes[0]!.url)).toBe(true);
    await nodes.pop()!.close();
    nodes.push(await start());
  });

  it.each(['allkeys-lru', 'volatile-ttl'])(
    'Redis with the policy %s: no node starts, and none that runs is ready',
    async (policy) => {
      await begin(1, [], 5, 100);
      await server!.ask('CONFIG', 'SET', 'maxmemory-policy', policy);
      const { url } = nodes[0]!;
      await until(async () => !(await isReady(url)));
      const ready = await ask(url, 'GET', '/readyz');
      expect(ready).toMatchObject({
        status: 503,
        body: { code: 'store_unfit', detail: expect.stringContaining(policy) },
      });
      await until(() => nodes[0]!.said().some((line) => line.includes('store_unfit')));
      const starting = startNetworkNode(server!.url, CYCLE_MS);
      await expect(starting).rejects.toMatchObject({ code: 'store_unfit', fix: expect.stringContaining('noeviction') });
      await server!.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await until(() => isReady(url));
    },
  );

  it('wait=1 and no replica: the node does not start, and says why', async () => {
    server = await RedisServer.start();
    await expect(startNetworkNode(`${server.url}?wait=1`, CYCLE_MS)).rejects.toMatchObject({
      code: 'store_unfit',
      why: expect.stringContaining('it has 0'),
    });
  });

  it.each(['not there', 'stopped'])(
    'Redis is %s: a node that starts says at once which Redis does not answer',
    async (how) => {
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
    },
  );

  it('entries of the log that cannot be read are skipped and logged: what comes after them is heard', async () => {
    await begin(2, [], 5, 100);
    const [first, second] = nodes;
    const mint = async () => (await ask(first!.url, 'POST', '/api/keys', { scopes: ['read'] })).body;
    const made = await mint();
    const status = async (url: string) => {
      const headers = { authorization: `Bearer ${made.key}` };
      return (await fetch(`${url}/api/chain/edge/contracts`, { headers })).status;
    };
    expect(await status(second!.url)).toBe(200);
    const bad = [
      '{',
      'null',
      '{"kind":"key"}',
      '{"kind":"key","key":{"id":"x"}}',
      '{"kind":"elsewise"}',
      '{"kind":"session"}',
    ];
    for (const text of bad) await server!.ask('XADD', 'weir:{directory}:log', '*', 'change', text);
    await server!.ask('SADD', 'weir:{directory}:machines', 'broken');
    await server!.ask('HSET', `${prefixOf('broken')}m:broken`, 'image', '{', 'seq', '0', 'hash', 'x');
    await server!.ask('XADD', 'weir:{directory}:log', '*', 'change', '{"kind":"machine","slug":"broken"}');
    expect((await ask(first!.url, 'DELETE', `/api/keys/${made.key_id}`)).status).toBe(204);
    await until(async () => (await status(second!.url)) === 401);
    for (const { url, errors } of nodes) {
      expect(await isReady(url)).toBe(true);
      expect(
        errors.map((error) => (error as Error).message).filter((text) => /entry .* of the log/.test(text)),
      ).toHaveLength(bad.length);
      expect(errors.some((error) => /the machine "broken"/.test((error as Error).message))).toBe(true);
    }
    // Others start beside it, too.
    nodes.push(await startNetworkNode(server!.url, CYCLE_MS));
    expect(await isReady(nodes[2]!.url)).toBe(true);
  });

  it('a log that cannot be followed: 503, and what it does not say is read once a minute', async () => {
    await begin(2, [], 5, 100);
    const [first, second] = nodes;
    const made = (await ask(first!.url, 'POST', '/api/keys', { scopes: ['read'] })).body;
    const known = () => second!.directory.credentials.keyById(made.key_id);
    await until(() => known() !== undefined);
    const log = 'weir:{directory}:log';
    // Revoked without a word in the log.
    const text = await server!.ask<string>('HGET', 'weir:{directory}:keys', made.key_id);
    await server!.ask(
      'HSET',
      'weir:{directory}:keys',
      made.key_id,
      JSON.stringify({ ...JSON.parse(text), isRevoked: true }),
    );
    await second!.directory.follow();
    expect(known()?.isRevoked).toBe(false);
    await second!.directory.reloadIfDue(Number.POSITIVE_INFINITY);
    expect(known()?.isRevoked).toBe(true);
    await server!.ask('DEL', log);
    await server!.ask('SET', log, 'no stream');
    for (const { url } of nodes) await until(async () => !(await isReady(url)));
    await server!.ask('DEL', log);
    await allReady();
  });

  it('nodes killed and paused while they link, with a clock an hour ahead: one chain, no row lost, none twice', async () => {
    await begin(1, [], 1, 2);
    const started = await Promise.all([0, 1, 2].map((index) => startProcess(server!.url, index === 0 ? 3_600_000 : 0)));
    const path = await deployedOn(started[1]!.url);
    const clocks = await Promise.all(started.map(({ url }) => ask(url, 'GET', '/api/clock')));
    const cycles = clocks.map(({ body }) => body.cycle as number);
    expect(Math.max(...cycles) - Math.min(...cycles)).toBeLessThan(100);
    const all = [...nodes.map(({ fingerprint }) => fingerprint), ...started.map(({ fingerprint }) => fingerprint)];
    for (let round = 0; round < 9; round += 1) {
      const victim = started[round % started.length]!;
      const others = [nodes[0]!.url, ...started.filter((one) => one !== victim).map(({ url }) => url)];
      const asking = Promise.all([...others, victim.url].map((url) => ask(url, 'POST', path).catch(() => undefined)));
      if (round % 2 === 0) {
        victim.process.kill('SIGSTOP');
        await Promise.all(others.map((url) => ask(url, 'POST', path)));
        victim.process.kill('SIGCONT');
        await asking;
      } else {
        victim.process.kill('SIGKILL');
        await asking;
        started[round % started.length] = await startProcess(server!.url, 0);
        all.push(started[round % started.length]!.fingerprint);
      }
      await new Promise((resolve) => setTimeout(resolve, 3 * CYCLE_MS));
    }
    const state = () => ask(nodes[0]!.url, 'GET', `/api/chain/second/state?kind=transition&limit=250`);
    // Idle for long enough, the contract allows again: every move was linked.
    await until(async () => (await state()).body.rows.at(-1)?.to === 'allowing');
    const { body } = await ask(nodes[0]!.url, 'GET', '/api/chain/second/state?format=ndjson');
    expect(verifyExport(body, { nodes: all })).toMatchObject({ valid: true });
    const moves = (await state()).body.rows.map(({ to }: { to: string }) => to);
    expect(moves.length).toBeGreaterThan(4);
    expect(moves).toEqual(moves.map((_: string, index: number) => (index % 2 === 0 ? 'limiting' : 'allowing')));
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

async function deployedOn(url: string): Promise<string> {
  await ask(url, 'POST', '/api/chain/state-machines', { slug: 'second', is_public: true });
  const body = { slug: 'second', threshold: 1, within: 2 };
  const made = await ask(url, 'POST', '/api/contracts/templates/rate-limiter/deploy', body);
  return `/api/chain/second/contracts/${made.body.contract.id}/gate`;
}

/** `weir serve` in a process of its own, whose wall clock is ahead. */
async function startProcess(url: string, aheadMs: number) {
  // What is looked at here is the record, not how soon an answer comes.
  const command = ['dist/cli/main.js', 'serve', '--store', `${url}?deadline_ms=20000`, '--port', '0', '--json'];
  const shifted = aheadMs === 0 ? [] : ['--import', './test/node/shifted-date.mjs'];
  const shift = join(mkdtempSync(join(tmpdir(), 'weir-shift-')), 'ms');
  writeFileSync(shift, String(aheadMs));
  const env = { ...process.env, WEIR_TEST_SHIFT: shift };
  const child = spawn(process.execPath, [...shifted, ...command], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return { process: child, ...(JSON.parse(text) as { url: string; fingerprint: string }) };
}
