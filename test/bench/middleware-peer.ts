// One server of the bench of limits in a process: a framework, bare or behind a limit. Says what processor time it has used when asked.
import { createServer } from 'node:http';
import fastifyRateLimit from '@fastify/rate-limit';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { limit } from '../../src/tools/middleware/limit.js';
import { loopback } from '../loopback.js';

export type MiddlewareKind = `${'fastify' | 'express'} ${'bare' | 'peer' | 'weir'}`;

const MOST = 1_000_000_000;
const options = { windowMs: 47_000, limit: MOST };

/** With the fields that @fastify/rate-limit sends by itself. */
async function fastify(add?: (app: ReturnType<typeof Fastify>) => Promise<unknown>): Promise<string> {
  const app = Fastify();
  await add?.(app);
  app.get('/', () => ({ ok: true }));
  return app.listen({ port: 0, host: '127.0.0.1' });
}

/** With those of draft-8. */
async function expressWith(handler?: express.RequestHandler): Promise<string> {
  const app = express();
  if (handler !== undefined) app.use(handler);
  app.get('/', (_request, response) => void response.json({ ok: true }));
  return (await loopback(createServer(app))).url;
}

const draft8 = { ...options, standardHeaders: 'draft-8', legacyHeaders: false } as const;
const servers: Record<MiddlewareKind, () => Promise<string>> = {
  'fastify bare': () => fastify(),
  'fastify peer': () => fastify(async (app) => app.register(fastifyRateLimit, { max: MOST, timeWindow: 47_000 })),
  'fastify weir': () => fastify(async (app) => app.register(limit(options).fastify)),
  'express bare': () => expressWith(),
  'express peer': () => expressWith(rateLimit(draft8)),
  'express weir': () => expressWith(limit(draft8).express),
};

process.send?.(await servers[process.argv[2] as MiddlewareKind]());
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit());
