// The middleware in the real frameworks, beside express-rate-limit where an option means the same.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request as ExpressRequest } from 'express';
import { rateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WeirClient } from '../../../src/api/client/weir-client.js';
import { type LimitOptions, limit } from '../../../src/tools/middleware/limit.js';
import { startRunning } from '../../node/running.js';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function served(app: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What a client sees, without what depends on the instant. */
async function seen(response: Response) {
  const headers = [...response.headers].filter(([name]) =>
    /ratelimit(?!-reset)|^ratelimit-reset|retry-after|content-type/.test(name),
  );
  return { status: response.status, body: await response.text(), headers: Object.fromEntries(headers) };
}

type Shared = Pick<
  LimitOptions<ExpressRequest>,
  | 'windowMs'
  | 'limit'
  | 'message'
  | 'statusCode'
  | 'standardHeaders'
  | 'legacyHeaders'
  | 'skip'
  | 'keyGenerator'
  | 'identifier'
>;

describe('the middleware beside express-rate-limit', () => {
  // Both say how many seconds are left: they are asked at one instant.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const cases: [string, Shared][] = [
    ['no options', {}],
    ['draft-6', { limit: 2, windowMs: 30_000, standardHeaders: 'draft-6' }],
    ['true', { limit: 2, standardHeaders: true, legacyHeaders: false }],
    ['draft-7', { limit: 2, windowMs: 3_600_000, standardHeaders: 'draft-7' }],
    ['draft-8', { limit: 2, windowMs: 7_200_000, standardHeaders: 'draft-8' }],
    ['draft-8 with a name', { limit: 1, windowMs: 86_400_000, standardHeaders: 'draft-8', identifier: 'daily' }],
    ['no headers at all', { limit: 1, legacyHeaders: false }],
    ['limit 0', { limit: 0 }],
    ['another status and text', { limit: 1, statusCode: 503, message: 'Later.' }],
    ['an object', { limit: 1, message: { error: 'later' } }],
    ['a function', { limit: 1, message: (request: ExpressRequest) => `${request.method} later` }],
    ['keys', { limit: 1, keyGenerator: (request: ExpressRequest) => String(request.query['as']) }],
    ['skipped', { limit: 1, skip: (request: ExpressRequest) => request.query['as'] === 'a' }],
  ];
  it.each(cases)('the middleware answers as express-rate-limit does: %s', async (_, options) => {
    const app = express();
    // Their types do not allow undefined options.
    app.get(
      '/theirs',
      rateLimit({ ...options, validate: false } as object),
      (_request, response) => void response.send('ok'),
    );
    app.get('/ours', limit(options).express, (_request, response) => void response.send('ok'));
    const url = await served(app);
    for (const as of ['a', 'b', 'a', 'b', 'a', 'a', 'a']) {
      const [theirs, ours] = await Promise.all(['theirs', 'ours'].map((path) => fetch(`${url}/${path}?as=${as}`)));
      expect(await seen(ours!)).toEqual(await seen(theirs!));
    }
  });

  it.each([{ skipFailedRequests: true }, { skipSuccessfulRequests: true }])(
    'the middleware takes requests back as express-rate-limit does: %j',
    async (options) => {
      const app = express();
      const answer = (request: ExpressRequest, response: express.Response) =>
        void response.status(Number(request.query['as'])).send('x');
      app.get('/theirs', rateLimit({ ...options, limit: 2, validate: false }), answer);
      app.get('/ours', limit({ ...options, limit: 2 }).express, answer);
      const url = await served(app);
      const statuses: number[][] = [[], []];
      for (const as of [200, 500, 500, 200, 404, 200, 500, 200])
        for (const [index, path] of ['theirs', 'ours'].entries()) {
          statuses[index]!.push((await fetch(`${url}/${path}?as=${as}`)).status);
          // The end of an answer is seen by the server a moment after the client.
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      expect(statuses[1]).toEqual(statuses[0]);
      expect(statuses[1]).toContain(429);
    },
  );
});

/** Each framework with one limited route, which answers `ok`, asked three times by the same client. */
const frameworks: [string, (options: LimitOptions) => Promise<(path: string) => Promise<Response>>][] = [
  [
    'Express',
    async (options) => {
      const app = express();
      app.use(limit(options).express);
      app.get('/', (_request, response) => void response.send('ok'));
      const url = await served(app);
      return (path) => fetch(`${url}${path}`);
    },
  ],
  [
    'Fastify',
    async (options) => {
      const app = Fastify();
      await app.register(limit(options).fastify);
      app.get('/', async () => 'ok');
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      servers.push(app.server);
      return (path) => fetch(`${url}${path}`);
    },
  ],
  [
    'Hono',
    async (options) => {
      const app = new Hono();
      app.use(limit({ keyGenerator: () => 'one', ...options }).hono);
      app.get('/', (context) => context.text('ok'));
      return async (path) => app.request(path);
    },
  ],
  [
    'a fetch handler',
    async (options) => {
      const handler = limit({ keyGenerator: () => 'one', ...options }).fetch(async () => new Response('ok'));
      return async (path) => handler(new Request(`http://x${path}`));
    },
  ],
];

describe.each(frameworks)('the middleware in %s', (name, make) => {
  it('the third request of two is limited, with the fields of draft-8', async () => {
    const ask = await make({ limit: 2, windowMs: 60_000, standardHeaders: 'draft-8', message: 'Later.' });
    const answers = [];
    for (let n = 0; n < 3; n += 1) answers.push(await ask('/'));
    const fields = answers.map(({ status, headers }) => [
      ...[status, headers.get('ratelimit'), headers.get('x-ratelimit-remaining'), headers.get('retry-after')],
    ]);
    expect(fields).toEqual([
      [200, '"2-in-1min"; r=1; t=60', '1', null],
      [200, '"2-in-1min"; r=0; t=60', '0', null],
      [429, '"2-in-1min"; r=0; t=60', '0', '60'],
    ]);
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['ok', 'ok', 'Later.']);
  });

  it('a window written in time is that time in the fields', async () => {
    const ask = await make({ limit: '3 in 10s', standardHeaders: 'draft-8', keyGenerator: () => 'k' });
    const { headers } = await ask('/');
    expect(headers.get('ratelimit-policy')).toMatch(/^"3-in-10sec"; q=3; w=10; /);
  });

  it('the middleware takes a handler of its own, and any rule', async () => {
    const seenKeys: string[] = [];
    const handler = (_request: unknown, response: any, _next: () => void, { key }: { key: string }) => {
      seenKeys.push(key);
      if (name === 'Express') response.status(418).send('tea');
      else if (name === 'Fastify') response.code(418).send('tea');
      return name === 'Express' || name === 'Fastify' ? undefined : new Response('tea', { status: 418 });
    };
    const ask = await make({ limit: 'nginx 1r/m', keyGenerator: () => 'k', handler });
    const answers = [await ask('/'), await ask('/')];
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]))).toEqual([
      [200, 'ok'],
      [418, 'tea'],
    ]);
    expect(seenKeys).toEqual(['k']);
  });

  it('requests that are skipped, or that failed, do not count', async () => {
    const skipping = await make({ limit: 0, skip: () => true });
    expect((await skipping('/')).status).toBe(200);
    const failing = await make({ limit: 1, skipFailedRequests: true, requestWasSuccessful: () => false });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) {
      statuses.push((await failing('/')).status);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(statuses).toEqual([200, 200, 200]);
  });
});

const node = await startRunning({ cycleMs: 50 });

it('a limit by a node is counted there; when it is away, the request fails or passes, as asked', async () => {
  const client = new WeirClient({ url: node.url, key: node.keyOf('owner') });
  await client.call('createMachine', { body: { slug: 'edge' } });
  const { contract } = await client.call('deployRateLimiter', {
    body: { slug: 'edge', threshold: 1, within: 1_200 },
  });
  const target = { client, machine: 'edge', contract: contract.id };
  const keyGenerator = () => 'k';
  const one = limit({ node: target, keyGenerator, standardHeaders: 'draft-7' }).fetch(() => new Response('ok'));
  const two = limit({ node: target, keyGenerator }).fetch(() => new Response('ok'));
  const [first, second] = [await one(new Request('http://x')), await two(new Request('http://x'))];
  expect([first.status, second.status]).toEqual([200, 429]);
  expect(first.headers.get('ratelimit')).toBe('limit=1, remaining=0, reset=60');
  expect(first.headers.get('ratelimit-policy')).toBe('1;w=60');
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(50);
  const away = { ...target, client: new WeirClient({ url: 'http://127.0.0.1:9', retries: 0 }) };
  const closed = limit({ node: away, keyGenerator }).fetch(() => new Response('ok'));
  const open = limit({ node: away, keyGenerator, passOnStoreError: true }).fetch(() => new Response('ok'));
  await expect(closed(new Request('http://x'))).rejects.toMatchObject({ code: 'node_unreachable' });
  expect((await open(new Request('http://x'))).status).toBe(200);
});

it.each<[string, LimitOptions, string]>([
  ['a window of 0', { windowMs: 0 }, '/windowMs'],
  ['half a request', { limit: 0.5 }, '/limit'],
  ['no keys', { maxKeys: 0 }, '/maxKeys'],
  ['two counters', { limit: { threshold: 1 }, node: {} as never }, '/node'],
  ['two windows', { limit: '1 in 60s', windowMs: 1_000 }, '/windowMs'],
  ['words of no limiter', { limit: '100 in' }, ''],
  ['an unknown option', { windowsMs: 1000 } as LimitOptions, '/windowsMs'],
  ['an unknown field of a rule', { limit: { tresholds: 5 } as never }, '/tresholds'],
  ['a rule cannot take back', { limit: { threshold: 1 }, skipFailedRequests: true }, '/skipFailedRequests'],
])('an option that does not fit is refused with its place: %s', (_, options, path) => {
  expect(() => limit(options)).toThrow(
    expect.objectContaining({
      code: expect.stringMatching(/^invalid_(input|definition)$/),
      faults: [expect.objectContaining({ path })],
    }),
  );
});

it('an option is named by its present name if a former one is given', () => {
  expect(() => limit({ max: 5 } as LimitOptions)).toThrow('max is no option; did you mean "limit"?');
});

it('a request without an address needs a key', async () => {
  const handler = limit().fetch(() => new Response('ok'));
  await expect(handler(new Request('http://x'))).rejects.toMatchObject({ code: 'wrong_usage' });
});
