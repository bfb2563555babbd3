// Owns one server of the node's bench, in a process of its own: the node, or one that it is measured against. Leaves asking to
// node.ts. Every one of them answers the same requests with the same fields; the peers decide nothing.
//
//   weir         the node on a database file: record, metrics and stream on
//   fastify      the same routes with the same schemas on Fastify, and a constant answer
//   http         the same over node:http, checked by hand
//   rate-limit   as fastify, behind @fastify/rate-limit in its memory store, by the same header
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyRequest, type FastifySchema } from 'fastify';
import { rateLimiter, TEMPLATE_ID } from '../../src/limiter/rate-limiter.js';
import { countOne } from '../../src/node/routes/events.js';
import { gate } from '../../src/node/routes/gate.js';
import { newKey } from '../../src/node/secret.js';
import { startOwnNode } from './own-node.js';

export type Kind = 'weir' | 'fastify' | 'http' | 'rate-limit';

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
  await fetch(`${node.url}/api/chain/state-machines`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"slug":"bench","is_public":true}',
  });
  const { id } = node.host.createContract('bench', rateLimiter({ threshold: THRESHOLD }), TEMPLATE_ID);
  return { url: node.url, authorization, ...paths, gate: paths.gate.replace(ID, id) };
}

async function fastify(isLimited: boolean): Promise<Listening> {
  const app = Fastify();
  if (isLimited) {
    const keyGenerator = ({ headers }: FastifyRequest) => headers.authorization ?? '';
    await app.register(rateLimit, { max: THRESHOLD, timeWindow: 47_000, keyGenerator });
  }
  const answerOf = (route: typeof gate) => ({ 200: route.answers[200]?.schema });
  const event: FastifySchema = { body: countOne.shapes?.body, response: answerOf(countOne) };
  app.post('/api/chain/:slug/event', { schema: event }, () => eventAnswer);
  const look: FastifySchema = { querystring: gate.shapes?.querystring, response: answerOf(gate) };
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, authorization: 'Bearer bench', ...paths };
}

const kinds: Record<Kind, () => Promise<Listening>> = {
  weir,
  fastify: () => fastify(false),
  http,
  'rate-limit': () => fastify(true),
};

process.send?.(await kinds[process.argv[2] as Kind]());
process.on('disconnect', () => process.exit());
