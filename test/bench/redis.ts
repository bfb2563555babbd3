// Counting in Redis beside the limiter of rate-limiter-flexible on the same server, in the same run: processor time of Redis and of the client.
// Rounds alternate, medians are taken. Skipped where redis-server is absent.
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { CountBatch } from '../../src/node/network/redis/batch.js';
import { prefixOf } from '../../src/node/network/redis/buckets.js';
import { RedisConnection } from '../../src/node/network/redis/connection.js';
import { functionNamed } from '../../src/node/network/redis/library.js';
import { hasRedis, RedisCluster, RedisServer } from '../node/network/redis/server.js';
import { type BenchRow, beside, median } from './measure.js';

const GATES = 2_000;
const THRESHOLD = 100;
const IN_FLIGHT = 50;
const ROUNDS = 3;
const N = 5_000;

interface Cost {
  /** µs of processor time of Redis, and of this process, for one decision. */
  readonly server: number;
  readonly client: number;
  /** Decisions a second. */
  readonly rate: number;
}

export async function benchRedis(): Promise<BenchRow[]> {
  if (!hasRedis) return [];
  const server = await RedisServer.start();
  const connection = await RedisConnection.open({ url: `${server.url}?deadline_ms=10000` });
  const io = new Redis(server.port, '127.0.0.1');
  try {
    return [...(await measured(server, connection, io)), await benchMasters()];
  } finally {
    io.disconnect();
    connection.close();
    await server.stop();
  }
}

async function measured(server: RedisServer, connection: RedisConnection, io: Redis): Promise<BenchRow[]> {
  const prefix = prefixOf('bench');
  const gatesOf = (within: number) => makeGates(connection, prefix, `bench-${within}`, GATES, within);
  const [short, long] = [await gatesOf(60), await gatesOf(600)];
  const flexible = new RateLimiterRedis({ storeClient: io, points: THRESHOLD, duration: 47, keyPrefix: 'rlf' });
  const batch = new CountBatch(connection);
  // Past the connection, whose cycles have one length.
  const fcall = ['FCALL', functionNamed('count'), '1', prefix, String(Number.MAX_SAFE_INTEGER)];
  const single = (gates: readonly string[], cycleMs: number) => (index: number) =>
    connection.command(...fcall, String(cycleMs), gates[index % GATES]!, '1');
  // One round over all gates takes so long: with cycles of a twentieth of it, each gate is asked after a gap of 20.
  let roundMs = 40;
  const bodies: Record<string, (index: number) => Promise<unknown>> = {
    flexible: (index) => flexible.consume(String(index % GATES)).catch(() => {}),
    single: single(short, 3_600_000),
    long: single(long, 3_600_000),
    gap: (index) => single(short, Math.max(1, Math.round(roundMs / 20)))(index),
    batched: (index) => batch.count(prefix, short[index % GATES]!, 1),
  };
  const costs = new Map<string, Cost[]>(Object.keys(bodies).map((name) => [name, []]));
  for (let round = -1; round < ROUNDS; round += 1)
    for (const [name, body] of Object.entries(bodies)) {
      // Gates of the round before have other cycles.
      if (name === 'gap') await costOf(server, GATES, body);
      const cost = await costOf(server, N, body);
      if (name === 'single') roundMs = (GATES / cost.rate) * 1_000;
      if (round >= 0) costs.get(name)!.push(cost);
    }
  const of = (name: string, what: keyof Cost) => {
    const cost = median(costs.get(name)!.map((one) => one[what]));
    return what === 'rate' ? cost : 1e6 / cost;
  };
  const row = (what: string, [a, b]: readonly [string, string], figure: keyof Cost, target: number): BenchRow => {
    const [value, other] = [of(a, figure), of(b, figure)];
    const unit = figure === 'rate' ? 'decisions/s' : 'decisions/CPU s';
    return { what, value, unit, against: beside(value, NAMES[b]!, other, target) };
  };
  return [
    row('Redis: its CPU, one decision a call', ['single', 'flexible'], 'server', 1 / 1.3),
    row('Redis: its CPU, window of 600 cycles', ['long', 'single'], 'server', 1 / 1.1),
    row('Redis: its CPU, after a gap of 20 cycles', ['gap', 'single'], 'server', 1 / 1.6),
    row('Redis: its CPU, batched, 50 in flight', ['batched', 'flexible'], 'server', 1),
    row('Redis: CPU of the node, batched, 50 in flight', ['batched', 'flexible'], 'client', 4),
    row('Redis: rate, batched, 50 in flight', ['batched', 'flexible'], 'rate', 3),
  ];
}

/** Slugs of as many buckets, and gates of each. */
const SLUGS = 512;
const GATES_OF_SLUG = 4;

/** Decisions for a second of processor time of the busiest server: what so many servers can do at most. */
async function benchMasters(): Promise<BenchRow> {
  const [one, three] = [await RedisServer.start(), await RedisCluster.start()];
  try {
    const [alone, shared] = [await capacityOf([one], one.url), await capacityOf(three.servers, three.url)];
    const rounds: [number, number][] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push([await alone.measure(), await shared.measure()]);
    alone.connection.close();
    shared.connection.close();
    const [other, value] = [median(rounds.map(([first]) => first)), median(rounds.map(([, second]) => second))];
    const against = beside(value, 'one master', other, 2.2);
    return { what: 'Redis: capacity of three masters', value, unit: 'decisions/CPU s', against };
  } finally {
    await Promise.all([one.stop(), three.stop()]);
  }
}

async function capacityOf(servers: readonly RedisServer[], url: string) {
  const connection = await RedisConnection.open({ url: `${url}?deadline_ms=10000`, cycleMs: 3_600_000 });
  const batch = new CountBatch(connection);
  const slugs = Array.from({ length: SLUGS }, (_, index) => `bench-${index}`);
  const made = slugs.map((slug) => makeGates(connection, prefixOf(slug), slug, GATES_OF_SLUG, 60));
  const gates = (await Promise.all(made)).flatMap((names, index) =>
    names.map((name) => ({ name, prefix: prefixOf(slugs[index]!) })),
  );
  // So many that what a server does by itself is little beside it.
  const n = 4 * N;
  const measure = async () => {
    const before = await Promise.all(servers.map(cpuOf));
    // By a step that has no factor with their number, so that neighbours are of different slugs.
    const body = (index: number) => {
      const { name, prefix } = gates[(index * 37) % gates.length]!;
      return batch.count(prefix, name, 1);
    };
    await costOf(servers[0]!, n, body);
    const after = await Promise.all(servers.map(cpuOf));
    return (n / Math.max(...after.map((us, index) => us - before[index]!))) * 1e6;
  };
  await measure();
  return { connection, measure };
}

async function makeGates(connection: RedisConnection, prefix: string, slug: string, gates: number, within: number) {
  await connection.call('machine', prefix, [slug, '{}', '{"e":0}', '0']);
  const ids = Array.from({ length: gates }, (_, index) => `c${index}`);
  const make = (id: string) =>
    connection.call('contract', prefix, [slug, id, '{}', '{"e":0}', String(THRESHOLD), String(within)]);
  await Promise.all(ids.map(make));
  return ids.map((id) => `${slug}/${id}`);
}

const NAMES: Readonly<Record<string, string>> = {
  flexible: 'rate-limiter-flexible',
  single: 'a window of 60, same cycle',
};

/** Decides n times, with so many in flight. */
async function costOf(server: RedisServer, n: number, body: (index: number) => Promise<unknown>): Promise<Cost> {
  const redis = await cpuOf(server);
  const own = process.cpuUsage();
  const startMs = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < n) await body(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const tookMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(own);
  return { server: ((await cpuOf(server)) - redis) / n, client: (user + system) / n, rate: (n / tookMs) * 1_000 };
}

/** Processor time of the server so far, in µs. */
async function cpuOf(server: RedisServer): Promise<number> {
  const text = await server.ask<string>('INFO', 'cpu');
  const seconds = ['used_cpu_user', 'used_cpu_sys'].map((name) =>
    Number(new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]),
  );
  return seconds.reduce((sum, one) => sum + one * 1e6, 0);
}
