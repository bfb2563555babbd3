// Real gateways of Debian in front of a real app, with the recipes of scenarios/recipes as they stand there.
import { createServer as createHttpServer, request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import autocannon from 'autocannon';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Loopback, loopback } from '../../loopback.js';
import { startEdge } from '../../node/edge.js';
import { Raw } from '../../node/raw.js';
import type { Running as Node } from '../../node/running.js';
import { type App, gateways, type Places, recipe, startApp } from './gateway-servers.js';
import { isInstalled } from './real-servers.js';

const MANY = 2_000;
/** Half of many, behind two others. */
const LIMIT = 2 + MANY / 2;

describe.each(Object.entries(gateways))('%s', (name, { program, start }) => {
  const isOpen = name !== 'Caddy';
  // Caddy passes on the headers of an admission to the app, not to the client.
  const saysQuota = name !== 'Caddy';

  describe.skipIf(!isInstalled(program))('an app behind the gateway', () => {
    let node: Node;
    let app: App;
    let gateway: Loopback;
    let contractId: string;
    beforeAll(async () => {
      const edge = await startEdge();
      node = edge.node;
      contractId = await edge.owner.deploy('edge', { within: 1, threshold: LIMIT });
      app = await startApp();
      gateway = await start({ node: hostOf(node.url), contractId, key: edge.key, app: hostOf(app.url) });
    });
    afterAll(async () => {
      await gateway?.close();
      await app?.close();
      await node?.close();
    });
    const count = () => node.host.contracts.get(contractId)!.gate.count;

    it('the gateway lets through what is admitted, as the client sent it', async () => {
      const sent = [
        fetch(`${gateway.url}/a/b?peek=1&n=5&deny=503`),
        fetch(`${gateway.url}/form`, { method: 'POST', body: 'x=1', headers: { 'content-type': 'text/odd' } }),
      ];
      const answers = await Promise.all(sent);
      const read = async (answer: Response) => [answer.status, await answer.text(), answer.headers.has('ratelimit')];
      expect(await Promise.all(answers.map(read))).toEqual([
        [200, 'app', saysQuota],
        [200, 'app', saysQuota],
      ]);
      expect(app.asked.map(({ method, url, body }) => [method, url, body]).sort()).toEqual([
        ['GET', '/a/b?peek=1&n=5&deny=503', ''],
        ['POST', '/form', 'x=1'],
      ]);
      expect(count()).toBe(2);
    });

    it(`the gateway answers ${MANY} requests without one 5xx, and asks the app for those that are admitted`, async () => {
      const asked = app.asked.length;
      const { statuses, errors } = await hammer(gateway.url, MANY);
      process.stdout.write(`${name}: ${JSON.stringify(statuses)}, errors ${errors}\n`);
      const { 200: admitted, 429: limited = 0, ...others } = statuses;
      expect({ admitted, others, errors }).toEqual({ admitted: LIMIT - 2, others: {}, errors: 0 });
      expect([count(), app.asked.length - asked]).toEqual([LIMIT + limited, admitted]);
    });

    it('the gateway answers a limited request with 429 and Retry-After, and does not ask the app', async () => {
      const before = app.asked.length;
      const answers: unknown[] = [];
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE', 'HEAD']) {
        const answer = await fetch(`${gateway.url}/?peek=1`, { method, ...(method === 'POST' ? { body: 'x' } : {}) });
        await answer.text();
        const limit = answer.headers.get('ratelimit')?.replace(/t=[1-9]\d*/, 't=T');
        answers.push([method, answer.status, /^[1-9]\d*$/.test(answer.headers.get('retry-after') ?? ''), limit]);
      }
      const limited = (method: string) => [method, 429, true, '"default";r=0;t=T'];
      expect(answers).toEqual(['GET', 'POST', 'OPTIONS', 'DELETE', 'HEAD'].map(limited));
      expect(app.asked.length - before).toBe(0);
    });

    it('the gateway lets no limited request through, up to the largest that it takes, and takes 11 kB of headers', async () => {
      const before = app.asked.length;
      const taken: Record<string, number> = {};
      for (const [shape, request] of Object.entries(largeRequests))
        for (let kb = 1; kb <= 40; kb += 1) {
          const status = await statusOf(gateway.url, request(kb * 1_000));
          expect([shape, kb, status]).toEqual([shape, kb, expect.toBeOneOf([0, 400, 403, 413, 414, 429, 431, 494])]);
          if (status === 429) taken[shape] = kb;
        }
      process.stdout.write(`${name}: taken, in kB: ${JSON.stringify(taken)}\n`);
      expect(app.asked.length - before).toBe(0);
      expect([taken['a URI'], taken['many headers']]).toEqual([
        name === 'Caddy' ? 12 : 4,
        expect.toSatisfy((kb: number) => kb >= 11),
      ]);
    });

    it(`the gateway is ${isOpen ? 'open' : 'closed'} while the node is away`, async () => {
      await node.close();
      const before = app.asked.length;
      const answer = await fetch(`${gateway.url}/away`);
      expect([answer.status, await answer.text(), app.asked.length - before]).toEqual(
        isOpen ? [200, 'app', 1] : [502, '', 0],
      );
    });
  });

  it.skipIf(!isInstalled(program))('the gateway gives up on a node that accepts and does not answer', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
    const { url } = await loopback(silent);
    const app = await startApp();
    const places = { node: hostOf(url), contractId: 'none', key: 'none', app: hostOf(app.url) };
    const gateway = await start(places, 'as written');
    const answer = await fetch(`${gateway.url}/silent`);
    const answered = [answer.status, await answer.text(), app.asked.length];
    await Promise.all([gateway.close(), app.close()]);
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(answered).toEqual(isOpen ? [200, 'app', 1] : [504, '', 0]);
  });

  it.skipIf(!isInstalled(program))('the gateway opens only if the node says it is away, never on a 4xx', async () => {
    let status = 200;
    const node = await loopback(createHttpServer((_request, response) => response.writeHead(status).end()));
    const app = await startApp();
    const gateway = await start({ node: hostOf(node.url), contractId: 'any', key: 'any', app: hostOf(app.url) });
    const open: number[] = [];
    const answers: Record<number, number> = {};
    const asked = [200, 301, 400, 401, 403, 404, 408, 409, 413, 414, 421, 429, 431, 451, 500, 501, 502, 503, 504, 507];
    for (status of asked) {
      const before = app.asked.length;
      answers[status] = await statusOf(gateway.url, headOf('/', []));
      if (app.asked.length > before) open.push(status);
    }
    await Promise.all([gateway.close(), app.close(), node.close()]);
    // Caddy passes on what is no 2xx. nginx makes a 500 of a status that its recipe does not name.
    const expected = (of: number) => {
      if (!isOpen || of === 200) return of;
      if (of >= 502 && of <= 504) return 200;
      if (name === 'nginx') return of >= 500 || [301, 408, 451].includes(of) ? 500 : 403;
      if (of === 429) return 429;
      return of >= 400 && of < 500 ? 403 : 500;
    };
    expect(answers).toEqual(Object.fromEntries(asked.map((one) => [one, expected(one)])));
    expect(open).toEqual(isOpen ? [200, 502, 503, 504] : [200]);
  });

  it.skipIf(!isInstalled(program))('the gateway counts all spellings of a path as one, and no second key', async () => {
    const { node, owner, key } = await startEdge();
    const app = await startApp();
    const keyed = { max_keys: 100, idle_cycles: 0, overflow: 'refuse', store_keys: 'plain' };
    const statuses = async (source: object, requests: readonly string[]) => {
      const contractId = await owner.deploy('edge', { within: 1, threshold: 2, keyed, gate: { key: source } });
      const places = { node: hostOf(node.url), contractId, key, app: hostOf(app.url) };
      const gateway = await start(places);
      const all: number[] = [];
      for (const request of requests) all.push(await statusOf(gateway.url, request));
      await gateway.close();
      return all;
    };
    const header = name === 'Caddy' ? 'X-Forwarded-Uri' : 'X-Original-URI';
    const spellings = ['/api', '//api/2', '/%61pi', '/x/../api', '/./api?x', '/%2e/api', '/other'];
    const byPath = await statuses(
      { uri: { header, segments: 1 } },
      spellings.map((target) => headOf(target, [`${header}: /mine`])),
    );
    const asked = app.asked.length;
    const byKey = await statuses({ header: 'X-Api-Key' }, [
      headOf('/', ['X-Api-Key: alpha']),
      headOf('/', ['X-Api-Key: alpha', 'X-Api-Key: x1']),
      headOf('/', ['X-Api-Key: alpha', 'X-Api-Key: x2']),
      headOf('/', ['X-Api-Key: alpha', 'X-Api-Key: x3']),
      headOf('/', ['X-Api-Key: beta, x3']),
      headOf('/', []),
    ]);
    const keys = app.asked.slice(asked).map(({ key }) => key);
    await Promise.all([app.close(), node.close()]);
    expect(byPath).toEqual([200, 200, 429, 429, 429, 429, 200]);
    // What nginx 1.22 reads of several lines is the first: it is what is counted, and what the app gets.
    expect([byKey, keys]).toEqual(
      name === 'nginx'
        ? [
            [200, 200, 429, 429, 403, 403],
            ['alpha', 'alpha'],
          ]
        : [[200, 403, 403, 403, 403, 403], ['alpha']],
    );
  });
});

/** Requests of about so many bytes, by where they are. */
const largeRequests: Readonly<Record<string, (bytes: number) => string>> = {
  'a URI': (bytes) => headOf(`/?${'a'.repeat(bytes)}`, []),
  'a key': (bytes) => headOf('/', [`X-Api-Key: ${'a'.repeat(bytes)}`]),
  'a short key and a long one': (bytes) => headOf('/', ['X-Api-Key: a', `X-Api-Key: ${'a'.repeat(bytes)}`]),
  'many headers': (bytes) =>
    headOf(
      '/',
      Array.from({ length: bytes / 1_000 }, (_, n) => `X-Pad-${n}: ${'a'.repeat(980)}`),
    ),
  'all of them': (bytes) =>
    headOf(`/?${'a'.repeat(bytes / 4)}`, [
      `X-Api-Key: ${'a'.repeat(bytes / 4)}`,
      `X-Forwarded-For: ${'1.2.3.4, '.repeat(bytes / 36)}1.2.3.4`,
      `Authorization: Bearer ${'a'.repeat(bytes / 4)}`,
    ]),
};

function headOf(target: string, lines: readonly string[]): string {
  return `${[`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`;
}

/** The status that a request gets as it is written; 0 where the connection is closed without one. */
async function statusOf(url: string, request: string): Promise<number> {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec((await new Raw(url).send(request).ended()).text)?.[1] ?? 0);
}

/**
 * Traefik and Envoy are not in Debian and are not here. What they send is known from their sources, and is sent by a client of the test
 * (forward.go of Traefik 2 and 3; ext_authz_http_impl.cc of Envoy). What they make of an answer is theirs.
 */
describe('what gateways send that are not here', () => {
  let node: Node;
  let places: Places;
  beforeAll(async () => {
    const { owner, key, ...edge } = await startEdge();
    node = edge.node;
    const gate = { credential: { header: 'X-Weir-Key' } };
    const contractId = await owner.deploy('edge', { within: 1, threshold: 4, gate });
    places = { node: hostOf(node.url), contractId, key, app: '127.0.0.1:1' };
  });

  it('a request as Traefik sends it is admitted: a GET with the key as Basic, the client in X-Forwarded-*', async () => {
    const { http } = parse(recipe('traefik.yaml', places));
    const { address, authRequestHeaders } = http.middlewares.weir.forwardAuth;
    const { username, password, host, pathname } = new URL(address);
    // Go sends the user of a URL as Basic where there is no Authorization, and that of the client is not among the headers named.
    expect(authRequestHeaders).not.toContain('Authorization');
    const answer = await sent('GET', `http://${host}${pathname}`, {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'user-agent': 'Go-http-client/1.1',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-method': 'POST',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop.example',
      'x-forwarded-uri': '/cart?peek=1',
      'accept-encoding': 'gzip',
    });
    expect(answer).toEqual([200, undefined]);
  });

  it('requests as Envoy sends them are decided: what the client asked behind the prefix, with an empty body', async () => {
    const config = parse(recipe('envoy.yaml', places));
    const [chain] = config.static_resources.listeners[0].filter_chains;
    const [filter] = chain.filters[0].typed_config.http_filters;
    const { path_prefix, authorization_request } = filter.typed_config.http_service;
    const [{ key: name, value }] = authorization_request.headers_to_add;
    const asks = [
      ['POST', '/cart?peek=1&n=1000'],
      ['PROPFIND', '/%zz'],
      ['DELETE', '/'],
      ['GET', '/api/chain/edge/state?key=x'],
      ['HEAD', '/'],
    ] as const;
    const answers: unknown[] = [];
    for (const [method, path] of asks) {
      const headers = {
        host: 'shop.example',
        'content-length': '0',
        authorization: 'Bearer of-the-client',
        'x-forwarded-for': '203.0.113.7',
        [name]: value,
      };
      answers.push(await sent(method, `${node.url}${path_prefix}`, headers, path));
    }
    // One was counted by Traefik.
    expect(answers).toEqual([
      [200, undefined],
      [200, undefined],
      [200, undefined],
      [429, expect.stringMatching(/^\d+$/)],
      [429, expect.anything()],
    ]);
    expect(node.host.contracts.get(places.contractId)!.gate.count).toBe(6);
  });
});

/** Status and Retry-After. @param path behind that of the URL, as it is */
function sent(method: string, url: string, headers: Record<string, string>, path = '') {
  const { hostname, port, pathname } = new URL(url);
  return new Promise<unknown[]>((resolve, reject) => {
    request({ hostname, port, path: `${pathname}${path}`, method, headers })
      .on('error', reject)
      .on('response', (response) => resolve([response.resume().statusCode, response.headers['retry-after']]))
      .end();
  });
}

/** At least so many requests, 20 at a time on connections that are kept, with every status that came back. */
function hammer(url: string, most: number): Promise<{ statuses: Record<string, number>; errors: number }> {
  const statuses: Record<string, number> = {};
  return new Promise((resolve, reject) => {
    const running = autocannon({ url, connections: 20, amount: most }, (error, { errors }) => {
      if (error) reject(error);
      else resolve({ statuses, errors });
    });
    running.on('response', (_client, status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
  });
}

function hostOf(url: string): string {
  return new URL(url).host;
}
