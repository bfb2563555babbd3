// Owns one server of the node's bench, in a process of its own: the node, or one that it is measured against. Leaves asking to
// node.ts. Every one of them answers the same requests with the same fields; the peers decide nothing.
//
//   weir         the node on a database file: record, metrics and stream on
//   fastify      the same routes with the same schemas on Fastify, and a constant answer
//   http         the same over node:http, checked by hand
//   rate-limit   as fastify, behind @fastify/rate-limit in its memory store, by the same header
//   network      the node on Redis
//   flexible     as fastify, behind rate-limiter-flexible on the same Redis, by the same header
import { createServer } from 'node:http';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyRequest, type FastifySchema } from 'fastify';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { countOne, gate } from '../../src/api/client/endpoints.js';
import { rateLimiter, TEMPLATE_ID } from '../../src/core/limiter/rate-limiter.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { newKey } from '../../src/node/secret.js';
import { loopback } from '../loopback.js';
import { Caller, Holder } from '../node/caller.js';
import { startNetworkNode } from '../node/network-nodes.js';
import { startOwnNode } from './own-node.js';

export type Kind = 'weir' | 'fastify' | 'http' | 'rate-limit' | 'network' | 'flexible';

/** What the bench is told once the server listens. */
export interface Listening {
  readonly url: string;
  readonly authorization: string;
  readonly event: string;
  readonly gate: string;
}

const THRESHOLD = 1_000_000_000;
const ID = '0123456789abcdef';
const contract = {
  id: ID,
  state: 'allowing',
  count: 12_345,
  threshold: THRESHOLD,
  remaining: THRESHOLD - 12_345,
  retry_after_cycles: 0,
};
const eventAnswer = { ok: true, cycle: 2_345_678_901, contracts: [{ ...contract, admitted: 1, limited: 0 }] };
const gateAnswer = { ok: true, cycle: 2_345_678_901, decision: 'admitted', ...contract };
const gateFields: [string, string][] = [
  ['ratelimit-policy', `"default";q=${THRESHOLD};w=47`],
  ['ratelimit', `"default";r=${contract.remaining};t=0`],
  ['cache-control', 'no-store'],
];
const paths = { event: '/api/chain/bench/event', gate: `/api/chain/bench/contracts/${ID}/gate` };

async function weir(): Promise<Listening> {
  const { node, clock, credentials } = await startOwnNode();
  const secret = newKey();
  const expiresAtMs = Math.floor(clock.now()) + 3_600_000;
  const key = { id: 'bench', hash: secret.hash, owner: 'bench', createdAtMs: 0, expiresAtMs, isRevoked: false };
  credentials.putKey({ ...key, scopes: ['admin'], machine: undefined });
  const authorization = `Bearer ${secret.text}`;
  await new Caller(node.url, secret.text).createMachine('bench', true);
  const { id } = node.host.createContract('bench', rateLimiter({ threshold: THRESHOLD }), TEMPLATE_ID);
  return { url: node.url, authorization, ...paths, gate: paths.gate.replace(ID, id) };
}

/** The node on Redis, asked for all that it needs over HTTP. */
async function network(redis: string): Promise<Listening> {
  const { url } = await startNetworkNode(redis, CYCLE_MS);
  const owner = await Holder.minted(url);
  await owner.createMachine('bench', true);
  const { contract } = (await owner.post('/api/chain/bench/contracts', rateLimiter({ threshold: THRESHOLD }))).body;
  const authorization = `Bearer ${owner.key}`;
  return { url, authorization, ...paths, gate: paths.gate.replace(ID, contract.id) };
}

async function fastify(isLimited: boolean, redis?: string): Promise<Listening> {
  const app = Fastify();
  const keyGenerator = ({ headers }: FastifyRequest) => headers.authorization ?? '';
  if (redis !== undefined) {
    const storeClient = new Redis(redis);
    const limiter = new RateLimiterRedis({ storeClient, points: THRESHOLD, duration: 47 });
    app.addHook('preHandler', async (request) => {
      await limiter.consume(keyGenerator(request));
    });
  }
  if (isLimited) {
    await app.register(rateLimit, { max: THRESHOLD, timeWindow: 47_000, keyGenerator });
  }
  const answerOf = (route: typeof countOne | typeof gate) => ({ 200: route.answers[200].schema });
  const event: FastifySchema = { body: countOne.shapes.body, response: answerOf(countOne) };
  app.post('/api/chain/:slug/event', { schema: event }, () => eventAnswer);
  const look: FastifySchema = { querystring: gate.shapes.querystring, response: answerOf(gate) };
  app.get('/api/chain/:slug/contracts/:contract_id/gate', { schema: look }, (_request, reply) => {
    for (const [name, value] of gateFields) reply.header(name, value);
    return gateAnswer;
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), authorization: 'Bearer bench', ...paths };
}

async function http(): Promise<Listening> {
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isGate = request.url === paths.gate;
      const { type, count = 1 } = isGate ? { type: 'request' } : JSON.parse(Buffer.concat(chunks).toString());
      const isGood = typeof type === 'string' && Number.isInteger(count) && count >= 1;
      const text = JSON.stringify(isGate ? gateAnswer : eventAnswer);
      const fields = isGate ? Object.fromEntries(gateFields) : {};
      response.writeHead(isGood ? 200 : 400, { ...json, ...fields, 'content-length': Buffer.byteLength(text) });
      response.end(text);
    });
  });
  const { url } = await loopback(server);
  return { url, authorization: 'Bearer bench', ...paths };
}

const [kind, redis = ''] = process.argv.slice(2);
const kinds: Record<Kind, () => Promise<Listening>> = {
  weir,
  fastify: () => fastify(false),
  http,
  'rate-limit': () => fastify(true),
  network: () => network(redis),
  flexible: () => fastify(false, redis),
};

process.send?.(await kinds[kind as Kind]());
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit());
