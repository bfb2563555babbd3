// The limit in somebody's own process beside the limits of the frameworks: requests in a second of processor time, from 50 connections.
// Each server has a process of its own, and they are asked in turn.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { type BenchRow, beside, inTurn } from './measure.js';
import type { MiddlewareKind } from './middleware-peer.js';

const CONNECTIONS = 50;

const peers = [
  ['fastify', 'Fastify', '@fastify/rate-limit', 1],
  ['express', 'Express', 'express-rate-limit', 1.2],
] as const;

export async function benchMiddleware(seconds = 3, rounds = 6): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [name, framework, peer, target] of peers) {
    const kinds = (['bare', 'peer', 'weir'] as const).map((which): MiddlewareKind => `${name} ${which}`);
    const servers = kinds.map((kind) => fork(fileURLToPath(new URL('./middleware-peer.js', import.meta.url)), [kind]));
    try {
      const urls = await Promise.all(servers.map(async (server) => (await once(server, 'message'))[0] as string));
      const measures = kinds.map(
        (kind, k) => [kind, () => perProcessorSecond(servers[k]!, urls[k]!, seconds)] as const,
      );
      const [bare, other, own] = Object.values(await inTurn(Object.fromEntries(measures), rounds)) as [
        number,
        number,
        number,
      ];
      const row = { what: `middleware: GET on ${framework}`, value: own, unit: 'requests/processor s' };
      rows.push({ ...row, against: beside(own, peer, other, target) });
      rows.push({ ...row, against: beside(own, `bare ${framework}`, bare) });
    } finally {
      for (const server of servers) server.kill();
    }
  }
  return rows;
}

async function perProcessorSecond(server: ChildProcess, url: string, duration: number): Promise<number> {
  const used = async () => {
    server.send('used');
    const [{ user, system }] = (await once(server, 'message')) as [NodeJS.CpuUsage];
    return (user + system) / 1e6;
  };
  const before = await used();
  const { requests, non2xx, errors } = await autocannon({ url, connections: CONNECTIONS, duration });
  if (non2xx > 0 || errors > 0) throw new Error(`${url}: ${non2xx} refused, ${errors} lost`);
  return requests.total / ((await used()) - before);
}
