// Three nodes that count at once in one Redis decide as one naive limiter that is given the same events in the order of Redis.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pause } from '../../../../src/core/time/wall.js';
import { CountBatch, type GateReply } from '../../../../src/node/network/redis/batch.js';
import { prefixOf } from '../../../../src/node/network/redis/buckets.js';
import { RedisConnection } from '../../../../src/node/network/redis/connection.js';
import { GateBytes } from '../../../../src/node/network/redis/gate-bytes.js';
import { NaiveLimiter } from '../../../core/limiter/naive-limiter.js';
import { forAllAsync } from '../../../draws.js';
import { hasRedis, RedisServer } from './server.js';

/** A cycle of some ms, so that a test goes through hundreds of them. */
const CYCLE_MS = 4;
const slug = 'edge';
const prefix = prefixOf(slug);

let server: RedisServer;
let nodes: RedisConnection[];
let made = 0;

beforeAll(async () => {
  if (!hasRedis) return;
  server = await RedisServer.start();
  nodes = await Promise.all(
    [1, 2, 3].map(() => RedisConnection.open({ url: server.url, cycleMs: CYCLE_MS, deadlineMs: 10_000 })),
  );
});

afterAll(async () => {
  for (const node of nodes ?? []) node.close();
  await server?.stop();
});

/** An empty gate of its own. @returns its name and the cycle in which it was made */
async function makeGate(threshold: number, within: number): Promise<string> {
  made += 1;
  const [node] = nodes;
  await node!.command('DEL', `${prefix}w:${slug}`, `${prefix}d:${slug}`, `${prefix}due`);
  await node!.call('machine', prefix, [slug, '{}', '{"e":0}', '0']);
  await node!.call('contract', prefix, [slug, `c${made}`, '{}', '{"e":0}', String(threshold), String(within)]);
  return `${slug}/c${made}`;
}

/** The moves of a gate, as they wait for their link. */
async function movesOf(gate: string): Promise<object[]> {
  const entries = await nodes[0]!.command<string[]>('ZRANGE', `${prefix}w:${slug}`, '0', '-1');
  const parsed = entries.map((text) => JSON.parse(text.slice(text.indexOf('{'))));
  return parsed.flatMap(({ g, cycle, to, count }) =>
    g === gate ? [{ cycle, to: to === 1 ? 'limiting' : 'allowing', count }] : [],
  );
}

const step = fc.record({
  node: fc.nat(2),
  n: fc.integer({ min: 1, max: 7 }),
  waitMs: fc.constantFrom(0, 0, 0, 1, 3, 9, 30),
});

describe.skipIf(!hasRedis)('counting in Redis (needs redis-server)', () => {
  it('three nodes decide in Redis as the naive model, whatever they send at once', async () => {
    await forAllAsync(
      [
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(step, { minLength: 5, maxLength: 40 }),
      ],
      { numRuns: 60 },
      async (threshold, within, steps) => {
        const gate = await makeGate(threshold, within);
        const batches = nodes.map((node) => new CountBatch(node));
        const asked: Promise<{ readonly n: number; readonly counted: GateReply }>[] = [];
        for (const { node, n, waitMs } of steps) {
          asked.push(batches[node]!.count(prefix, gate, n).then((counted) => ({ n, counted })));
          if (waitMs > 0) await pause(waitMs);
        }
        const told = await Promise.all(asked);
        // In a cycle the count only rises: cycle and count give the order in which Redis counted.
        told.sort((a, b) => a.counted.cycle - b.counted.cycle || a.counted.count - b.counted.count);
        const model = new NaiveLimiter(threshold, within, told[0]!.counted.cycle);
        for (const { n, counted } of told) {
          const { admitted } = model.decide(n, counted.cycle);
          const { count, state } = model;
          expect({ ...counted, state: counted.isLimiting ? 'limiting' : 'allowing' }).toMatchObject({
            admitted,
            count,
            state,
          });
        }
        expect(await movesOf(gate)).toEqual(model.transitions);
      },
    );
  });

  it('Redis says when a gate is due to move, and moves it in that cycle', async () => {
    const gate = await makeGate(3, 20);
    const [node] = nodes;
    const batch = new CountBatch(node!);
    const { cycle, isLimiting } = await batch.count(prefix, gate, 5);
    expect(isLimiting).toBe(true);
    const due = await node!.command<string>('ZSCORE', `${prefix}d:${slug}`, gate);
    expect(Number(due)).toBe(cycle + 20);
    await pause(25 * CYCLE_MS);
    await node!.call('due', prefix, ['64']);
    expect(await movesOf(gate)).toEqual([
      { cycle, to: 'limiting', count: 4 },
      { cycle: cycle + 20, to: 'allowing', count: 0 },
    ]);
    expect(await node!.command('ZSCORE', `${prefix}d:${slug}`, gate)).toBeNull();
  });

  it('Redis counts late events in their cycle, and refuses those of another time', async () => {
    // So long that a machine may stand still while this goes on.
    const within = 5_000;
    const gate = await makeGate(100, within);
    const [node] = nodes;
    const batch = new CountBatch(node!);
    const { cycle } = await batch.count(prefix, gate, 1);
    await pause(3 * CYCLE_MS);
    const late = async (n: number, happened: number) =>
      (await node!.call<number[]>('late', prefix, [gate, String(n), '0', String(happened)]))[1];
    const [admitted, count] = await late(4, cycle + 1);
    expect([admitted, count]).toEqual([4, 5]);
    expect((await late(1, cycle - within - 10))[0]).toBe(-3);
    expect((await late(1, cycle + 10_000))[0]).toBe(-3);
    const [, bytes] = await node!.call<Buffer>('look', prefix, [gate], { isBinary: true });
    const { window } = new GateBytes(bytes);
    const byCycle = new Map<number, number>();
    for (let at = 0; at < window.counts.length; at += 2)
      byCycle.set(window.cycle - window.counts[at]!, window.counts[at + 1]!);
    expect([...byCycle]).toEqual([
      [cycle + 1, 4],
      [cycle, 1],
    ]);
  });

  it('a call to Redis does nothing after its deadline', async () => {
    const gate = await makeGate(3, 20);
    const [node] = nodes;
    const untilMs = node!.nowMs() - 1_000;
    await expect(node!.call('count', prefix, [gate, '5'], { untilMs })).rejects.toMatchObject({
      code: 'store_away',
    });
    const { count } = await new CountBatch(node!).count(prefix, gate, 1);
    expect(count).toBe(1);
  });

  it('Redis bounds the keys of a contract, and forgets one that is idle', async () => {
    const owner = await makeGate(2, 5);
    const batch = new CountBatch(nodes[0]!);
    const count = (key: string, isShared = false) => batch.count(prefix, `${owner}/${key}`, 1, isShared ? -2 : 2);
    // One call: all in one cycle.
    const told = await Promise.all([count('a'), count('b'), count('c'), count('a'), count('a')]);
    expect(told.map(({ admitted }) => admitted)).toEqual([1, 1, -2, 1, 0]);
    await pause(12 * CYCLE_MS);
    expect((await count('c')).admitted).toBe(1);
  });

  it('Redis deletes a machine with many contracts at once for those who look, and in small pieces for itself', async () => {
    const [node] = nodes;
    const [big, many] = ['big', 60];
    const at = prefixOf(big);
    const ids = Array.from({ length: many }, (_, index) => `c${index}`);
    const call = async (name: Parameters<RedisConnection['call']>[0], ...args: string[]) =>
      (await node!.call<number[] | number>(name, at, args))[1];
    const firstOf = async (...asked: Parameters<typeof call>) => ((await call(...asked)) as number[])[0];
    const there = () => node!.command<number>('EXISTS', ...ids.map((id) => `${at}g:${big}/${id}`));
    await call('machine', big, '{}', '{"e":0}', '0');
    for (const id of ids) await call('contract', big, id, `{"id":"${id}"}`, '{"e":0}', '1', '9');
    await call('count', `${big}/c7/key`, '1 5');
    const entry = (kind: string) => `{"e":{"kind":"${kind}"}}`;
    const end = () => call('endmachine', big, entry('machine_deleted'), '1 1');
    expect([await end(), await end()]).toEqual([expect.any(Number), 0]);
    // All of it is kept, and nobody finds any.
    const gone = async () => {
      const gate = `${big}/c59`;
      expect([
        await firstOf('count', gate, '1'),
        await firstOf('count', `${big}/c7/key`, '1 5'),
        await firstOf('late', gate, '1', '0', '1'),
        await call('move', gate, '0', '1', '0', ''),
        await call('look', gate),
        await call('endcontract', big, entry('contract_deleted'), 'c59'),
        await call('commit', gate, '0', 's', '-1', '', '0', '0', '0'),
        await call('contract', big, 'new', '{"id":"new"}', '{"e":0}', '1', '9'),
      ]).toEqual([-1, -1, -1, -1, -1, 0, -2, 0]);
    };
    await gone();
    expect([await there(), await call('sweep', '1000'), await there()]).toEqual([many, 0, many]);
    // Its record has ended with its row: from then on it is removed, a few contracts a call, whoever calls.
    const waiting = await node!.command<string[]>('ZRANGE', `${at}w:${big}`, '0', '-1');
    const head = [big, '0', '0', String(waiting.length), waiting.at(-1)!, 'checkpoint', '1', 'at', '1', 'hash', 'row'];
    expect(await call('link', ...head)).toBe(1);
    expect([await call('sweep', '100'), await there()]).toEqual([1, many - 10]);
    await gone();
    expect(await call('remove', big, '1000')).toBe(0);
    await call('due', '64');
    expect(await there()).toBe(many - 20);
    await gone();
    while ((await call('sweep', '100')) === 1);
    const left = ['g:big/c7/key', 'k:big/c7', 'gone', 'over', 'ended', 'd:big'].map((key) => `${at}${key}`);
    expect([await there(), await node!.command('EXISTS', ...left)]).toEqual([0, 0]);
    const fields = await node!.command<string[]>('HKEYS', `${at}m:${big}`);
    expect(fields.filter((name) => /^[cx]:|swept/.test(name))).toEqual([]);
    expect([await call('remove', big, '1000'), await node!.command('EXISTS', `${at}m:${big}`)]).toEqual([1, 0]);
  });
});
