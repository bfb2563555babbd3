// Owns the gate of a node on Redis over HTTP, beside a bare route of Fastify and one behind rate-limiter-flexible on the same Redis, each in a
// process of its own, asked in turn: processor time of the process for a request, and requests a second. Skipped where redis-server is absent.
import { once } from 'node:events';
import autocannon from 'autocannon';
import { hasRedis, RedisServer } from '../node/network/redis/server.js';
import { type BenchRow, median } from './measure.js';
import { type Server, startServer } from './node.js';

const CONNECTIONS = 50;
const kinds = ['network', 'fastify', 'flexible'] as const;

interface Cost {
  /** Requests for a second of processor time of the server, and a second. */
  readonly forCpu: number;
  readonly rate: number;
}

export async function benchNetwork(seconds = 2, rounds = 5): Promise<BenchRow[]> {
  if (!hasRedis) return [];
  const redis = await RedisServer.start();
  const servers = await Promise.all(kinds.map((kind) => startServer(kind, redis.url)));
  try {
    const seen = kinds.map((): Cost[] => []);
    for (let round = -1; round < rounds; round += 1)
      for (const [index, server] of servers.entries()) {
        const cost = await costOf(server, seconds);
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

async function costOf({ process, told: { url, authorization, gate } }: Server, duration: number): Promise<Cost> {
  const cpuUs = async () => {
    process.send('cpu');
    const [{ user, system }] = (await once(process, 'message')) as [NodeJS.CpuUsage];
    return user + system;
  };
  const before = await cpuUs();
  const { requests, non2xx, errors } = await autocannon({
    url: url + gate,
    connections: CONNECTIONS,
    duration,
    headers: { authorization },
  });
  if (non2xx > 0 || errors > 0) throw new Error(`${url}: ${non2xx} refused, ${errors} lost`);
  return { forCpu: (1e6 * requests.total) / ((await cpuUs()) - before), rate: requests.total / duration };
}
