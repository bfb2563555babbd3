// Owns the gate of a node on Redis over HTTP, beside a bare route of Fastify and one behind rate-limiter-flexible on the same Redis, each in a
// process of its own, asked in turn: processor time of the process for a request, and requests a second. Skipped where redis-server is absent.
import { hasRedis, RedisServer } from '../node/network/redis/server.js';
import { type BenchRow, median, saturated } from './measure.js';
import { startServer } from './node.js';

const kinds = ['network', 'fastify', 'flexible'] as const;

type Cost = Awaited<ReturnType<typeof saturated>>;

export async function benchNetwork(seconds = 2, rounds = 5): Promise<BenchRow[]> {
  if (!hasRedis) return [];
  const redis = await RedisServer.start();
  const servers = await Promise.all(kinds.map((kind) => startServer(kind, redis.url)));
  try {
    const seen = kinds.map((): Cost[] => []);
    for (let round = -1; round < rounds; round += 1)
      for (const [index, { process, told }] of servers.entries()) {
        const headers = { authorization: told.authorization };
        const cost = await saturated(process, told.url + told.gate, seconds, { headers });
        if (round >= 0) seen[index]!.push(cost);
      }
    const row = (
      what: string,
      unit: string,
      figure: keyof Cost,
      peer: 1 | 2,
      name: string,
      target: number,
    ): BenchRow => {
      const [value, other] = [0, peer].map((index) => median(seen[index]!.map((cost) => cost[figure])));
      // The rounds of both stand next to each other: what disturbs the machine disturbs both.
      const ratio = median(seen[0]!.map((cost, round) => cost[figure] / seen[peer]![round]![figure]));
      return { what, value: value!, unit, against: { name, value: other!, ratio, target } };
    };
    const bare = 'bare Fastify, same schemas';
    const flexible = 'Fastify, rate-limiter-flexible';
    return [
      row('node on Redis: GET gate, its CPU', 'requests/CPU s', 'forCpu', 1, bare, 1 / 1.2),
      row('node on Redis: GET gate, its CPU', 'requests/CPU s', 'forCpu', 2, flexible, 1),
      row('node on Redis: GET gate', 'requests/s', 'rate', 2, flexible, 1.1),
    ];
  } finally {
    for (const { process } of servers) process.kill();
    await redis.stop();
  }
}
