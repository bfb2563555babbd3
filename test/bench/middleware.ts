// The limit in somebody's own process beside the limits of the frameworks: requests in a second of processor time, from 50 connections.
// Each server has a process of its own, and they are asked in turn.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type BenchRow, beside, inTurn, saturated } from './measure.js';
import type { MiddlewareKind } from './middleware-peer.js';

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
        (kind, k) => [kind, async () => (await saturated(servers[k]!, urls[k]!, seconds)).forCpu] as const,
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
