// The gate as gateways ask it: by any method, below any path, with their own headers and with those of their clients.
import { METHODS } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { gateOf, inTurn, type Told } from './caller.js';
import { startEdge } from './edge.js';
import { Listening } from './listening.js';
import { plainly, Raw } from './raw.js';
import type { Ask } from './running.js';

const { node, owner } = await startEdge();

const newGate = async (parameters: object = {}) =>
  gateOf('edge', await owner.deploy('edge', { within: 1, threshold: 3, ...parameters }));

const countOf = async (gate: string) => (await owner.get(gate.replace(/\/gate$/, ''))).body.contract.count;

/** Statuses of requests that are made one after the other. */
const statuses = (asks: readonly (readonly [method: string, path: string, ask?: Ask])[]) =>
  inTurn(asks, async ([method, path, ask = { key: owner.key }]) => (await node.ask(method, path, ask)).status);

const raw = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) =>
  plainly(node.url, method, path, { authorization: `Bearer ${owner.key}`, ...headers }, body);

it('a gate counts a request by any method, here and below', async () => {
  const gate = await newGate({ threshold: 1_000 });
  const methods = METHODS.filter((method) => method !== 'CONNECT');
  const asks = methods.flatMap((method) => [gate, `${gate}/orders/7`].map((path) => [method, path] as const));
  const answers = await inTurn(asks, async ([method, path]) => (await raw(method, path, {})).status);
  expect([new Set(answers), await countOf(gate)]).toEqual([new Set([200]), 2 * methods.length]);
});

it('a gate answers HEAD and OPTIONS as it decides, with the fields of the others', async () => {
  const gate = await newGate({ threshold: 1 });
  const read = ({ status, headers, body }: Told) => [
    status,
    headers.get('ratelimit-policy')?.replace(/w=\d+/, 'w=W'),
    headers.get('ratelimit')?.replace(/t=[1-9]\d*/, 't=T'),
    headers.has('retry-after'),
    typeof body,
  ];
  const answers = await inTurn(['HEAD', 'OPTIONS', 'HEAD'], (method) => owner.ask(method, gate));
  expect(answers.map(read)).toEqual([
    [200, '"default";q=1;w=W', '"default";r=0;t=T', false, 'string'],
    [429, '"default";q=1;w=W', '"default";r=0;t=T', true, 'object'],
    [429, '"default";q=1;w=W', '"default";r=0;t=T', true, 'string'],
  ]);
});

it.each([
  ['POST', 'application/json', '{'],
  ['POST', 'text/xml', '<a/>'],
  ['POST', '/', 'x'],
  ['POST', ';;;', 'x'],
  ['PUT', 'multipart/form-data; boundary=', 'x'],
  ['PATCH', '', 'x'],
  ['DELETE', 'a/b', 'x'],
  ['QUERY', 'x', 'y'],
  ['GET', 'application/json', '[1'],
  ['OPTIONS', 'image/png', 'x'],
])('a gate answers %s with a body of the type "%s" without a look at it', async (method, type, body) => {
  const gate = await newGate();
  const headers = { 'content-type': type, 'content-length': `${body.length}` };
  const answers = [await raw(method, gate, headers, body), await raw(method, `${gate}/a`, headers, body)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

it('a gate does not wait for a body, and takes one that is larger than any that is read', async () => {
  const gate = await newGate({ threshold: 100 });
  const large = await raw('POST', gate, { 'content-type': 'text/plain' }, 'x'.repeat(3 << 20));
  const head = `POST ${gate} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.key}\r\n`;
  const { statuses, socket } = await new Raw(node.url).send(`${head}Content-Length: 1000000\r\n\r\n`).answered();
  socket.destroy();
  expect([large.status, statuses, await countOf(gate)]).toEqual([200, [200], 2]);
});

it('a gate takes nothing from the path and the query of a client', async () => {
  const gate = await newGate({ threshold: 4 });
  const behind = ['/?peek=1', '/a?n=1000', '/%zz', `/${'long/'.repeat(1_000)}?key=x&deny=503`, '/../../../state?x'];
  const answers = await inTurn(behind, async (path) => (await raw('GET', gate + path, {})).status);
  expect([answers, await countOf(gate)]).toEqual([[200, 200, 200, 200, 429], 5]);
});

it('a gate denies with a status that a gateway knows, and with no other', async () => {
  const gate = await newGate({ threshold: 1 });
  await owner.get(gate);
  const denied = await inTurn([403, 429, 503], (deny) => owner.get(`${gate}?deny=${deny}`));
  const others = await Promise.all(['401', '200', '', 'x'].map((deny) => owner.get(`${gate}?deny=${deny}`)));
  expect(
    denied.map(({ status, headers, body }) => [status, body.status, body.code, headers.has('retry-after')]),
  ).toEqual([403, 429, 503].map((status) => [status, status, 'too_many_requests', true]));
  expect(others.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect(others[0]?.body.detail).toContain('/deny must be one of "403", "429", "503"');
});

it('a gate counts a request as many, and admits it if all of them fit', async () => {
  const gate = await newGate({ threshold: 10, within: 5 });
  const window: [query: string, status: number, count?: number, retryAfterCycles?: number][] = [
    ['n=6', 200, 6, 5],
    ['n=4&peek=1', 200, 6, 0],
    ['n=5&peek=1', 429, 6, 5],
    ['n=11&peek=1', 429, 6],
    ['n=5', 429, 11, 5],
    ['n=0', 400],
    ['n=x', 400],
    ['n=-1', 400],
    ['peek=1', 429, 11, 5],
  ];
  for (const [query, expected, count, retryAfterCycles] of window) {
    const { status, body } = await owner.get(`${gate}?${query}`);
    expect([status, body.count, body.retry_after_cycles], query).toEqual([expected, count, retryAfterCycles]);
  }
  const params = { rate: 1, per_ms: 3_600_000, capacity: 10 };
  const bucket = gateOf('edge', await owner.deploy('edge', { params }, 'token-bucket'));
  const edges: [query: string, status: number, retryAfter?: string][] = [
    ['n=11', 429],
    ['n=1000000000', 429],
    ['n=8&peek=1', 200],
    ['n=8', 200],
    // Nothing of it is kept: two are left.
    ['n=3', 429, '3600'],
    ['n=3&peek=1', 429, '3600'],
    ['n=2', 200],
    ['n=1', 429, '3600'],
    ['n=5', 429, '18000'],
    ['n=0', 400],
    ['n=1000000001', 400],
    ['n=x', 400],
    ['n=1.5', 400],
    ['n=1&n=1', 400],
  ];
  for (const [query, expected, retryAfter = null] of edges) {
    const { status, headers, body } = await owner.get(`${bucket}?${query}`);
    expect([status, headers.get('retry-after')], query).toEqual([expected, retryAfter]);
    if (query === 'n=11') expect(body.detail).toMatch(/None of this cost will be admitted by waiting/);
  }
});

it('a gate takes up to 1,000 places at once where a rule limits what is in flight', async () => {
  const parameters = { hold_ms: 1_000, params: { limit: 5_000 } };
  const gate = gateOf('edge', await owner.deploy('edge', parameters, 'concurrency'));
  expect(await statuses(['n=1000', 'n=1001'].map((query) => ['GET', `${gate}?${query}`]))).toEqual([200, 400]);
});

it('a cost by header is a whole number from 1 to the most of the deploy, or refused with 403', async () => {
  const gate = await newGate({ threshold: 1_000, gate: { cost: { header: 'X-Cost', max: 20 } } });
  const answers: unknown[] = [];
  for (const cost of ['1', '20', '007', '0', '-1', '21', '1.5', '', 'x', '1, 2', '99999999999999999999']) {
    const { status, body } = await raw('GET', gate, { 'x-cost': cost });
    answers.push([cost, status, JSON.parse(body).count ?? JSON.parse(body).code]);
  }
  const without = await owner.get(`${gate}/x?n=50`);
  const asked = await owner.get(`${gate}?n=5`, { 'x-cost': '0' });
  const refused = (cost: string) => [cost, 403, 'gate_header_unusable'];
  expect(answers).toEqual([
    ['1', 200, 1],
    ['20', 200, 21],
    ['007', 200, 28],
    ...['0', '-1', '21', '1.5', '', 'x', '1, 2', '99999999999999999999'].map(refused),
  ]);
  expect([without.body.count, asked.body.count]).toEqual([29, 34]);
});

describe('a credential by header', () => {
  let gate: string;
  let privateGate: string;
  beforeAll(async () => {
    gate = await newGate({ threshold: 1_000, gate: { credential: { header: 'X-Gateway-Key' } } });
    privateGate = gate.replace('/api/chain/edge/', '/api/chain/none/');
  });
  const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

  it('a credential by header is a key with the same rights as in Authorization', async () => {
    const keys = {
      admin: owner.key,
      gate: node.keyOf('owner', 60_000, { scopes: ['gate'] }),
      'of this machine': node.keyOf('owner', 60_000, { machine: 'edge' }),
      'of another machine': node.keyOf('owner', 60_000, { machine: 'other' }),
      read: node.keyOf('owner', 60_000, { scopes: ['read'] }),
      expired: node.keyOf('owner', 0),
      'of another owner': node.keyOf('other'),
      unknown: `weir_${'x'.repeat(43)}`,
    };
    const outcomes: Record<string, unknown> = {};
    for (const [name, sent] of Object.entries(keys)) {
      const ways = [sent, `Bearer ${sent}`, basic('gateway', sent)];
      const answers = await Promise.all(
        ways.map((value) => node.ask('GET', gate, { headers: { 'x-gateway-key': value } })),
      );
      outcomes[name] = [...new Set(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()))];
    }
    expect(outcomes).toEqual({
      admin: ['200'],
      gate: ['200'],
      'of this machine': ['200'],
      'of another machine': ['401 credential_missing'],
      read: ['403 scope_missing'],
      expired: ['401 credential_missing'],
      'of another owner': ['401 credential_missing'],
      unknown: ['401 credential_missing'],
    });
  });

  it('a credential by header opens its gate, and nothing else', async () => {
    const headers = { 'x-gateway-key': owner.key };
    const paths = [gate.replace(/\/gate$/, ''), '/api/chain/edge/state', await newGate()];
    expect(await statuses(paths.map((path) => ['GET', path, { headers }]))).toEqual([404, 404, 401]);
    expect(await statuses([['POST', '/api/chain/edge/event', { headers, body: { type: 'request' } }]])).toEqual([401]);
  });

  it('a wrong credential by header does not show whether there is such a contract', async () => {
    const answers = await Promise.all(
      [gate, privateGate].flatMap((path) =>
        [node.keyOf('other'), 'weir_x'].map((sent) => node.ask('GET', path, { headers: { 'x-gateway-key': sent } })),
      ),
    );
    const [first] = answers;
    expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [401, first?.body]));
  });

  it('a credential by header goes before Authorization, which may be that of a client', async () => {
    const client = { 'x-gateway-key': owner.key, authorization: 'Bearer of-the-client' };
    expect(
      await statuses([
        ['GET', gate, { headers: client }],
        ['GET', gate, { headers: { ...client, authorization: `Bearer ${node.keyOf('other')}` } }],
        ['GET', gate, { headers: { 'x-gateway-key': 'of-the-client', authorization: `Bearer ${owner.key}` } }],
      ]),
    ).toEqual([200, 200, 200]);
  });

  it('a credential by header ends at once when its key is revoked', async () => {
    const { body: made } = await owner.post('/api/keys', { scopes: ['gate'] });
    const headers = { 'x-gateway-key': made.key };
    const before = await statuses([['GET', gate, { headers }]]);
    await owner.delete(`/api/keys/${made.key_id}`);
    expect([before, await statuses([['GET', gate, { headers }]])]).toEqual([[200], [401]]);
  });

  it('a key is also the password of Basic in Authorization, at a gate alone', async () => {
    const plain = await newGate();
    const headers = { authorization: basic('any', owner.key) };
    expect(
      await statuses([
        ['GET', plain, { headers }],
        ['GET', plain, { headers: { authorization: basic('any', 'x') } }],
        ['GET', plain, { headers: { authorization: 'Basic' } }],
        ['GET', '/api/keys', { headers }],
      ]),
    ).toEqual([200, 401, 401, 401]);
  });

  it('a gateway may pass on the name that its client asked for; without a key no other name is answered to', async () => {
    const host = { host: 'shop.example' };
    const outcomes = [
      await raw('GET', gate, host),
      await raw('GET', gate, { ...host, authorization: 'x', 'x-gateway-key': owner.key }),
      await raw('GET', gate, { ...host, authorization: 'Bearer x' }),
      await raw('GET', '/api/keys', host),
    ];
    expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 421, 421]);
  });
});

it('a shadow admits all, and says what it would have limited', async () => {
  const gate = await newGate({ threshold: 1, shadow: true });
  const answers = await inTurn(['', '', '?peek=1', '?deny=403'], (query) => owner.get(gate + query));
  const contract_id = gate.split('/')[5];
  const event = await owner.event('edge', { contract_id });
  expect(
    answers.map(({ status, headers, body }) => [
      status,
      headers.get('weir-shadow'),
      headers.get('ratelimit')?.replace(/t=[1-9]\d*/, 't=T'),
      headers.has('retry-after'),
      body.decision,
      body.would_limit,
      body.state,
    ]),
  ).toEqual([
    [200, 'admitted', '"default";r=0;t=T', false, 'admitted', false, 'allowing'],
    [200, 'limited', '"default";r=0;t=T', false, 'admitted', true, 'limiting'],
    [200, 'limited', '"default";r=0;t=T', false, 'admitted', true, 'limiting'],
    [200, 'limited', '"default";r=0;t=T', false, 'admitted', true, 'limiting'],
  ]);
  expect(event.body.contracts[0]).toMatchObject({ admitted: 1, limited: 0, would_limit: true, count: 4 });
  const rows = await owner.rows('edge', `contract_id=${contract_id}`);
  expect(rows.map(({ to, emitted }) => [to, emitted])).toEqual([
    ['allowing', []],
    ['limiting', ['rate_limited']],
  ]);
  const { contract } = (await owner.get(gate.replace(/\/gate$/, ''))).body;
  expect(contract).toMatchObject({ shadow: true, currentState: 'limiting', threshold: 1 });
  expect((await owner.get('/metrics')).body).toMatch(/^weir_decisions_total\{decision="would_limit"\} 3$/m);
});

it('a shadow of a rule admits all as well', async () => {
  const parameters = { shadow: true, params: { rate: 1, per_ms: 3_600_000, capacity: 1 } };
  const gate = gateOf('edge', await owner.deploy('edge', parameters, 'token-bucket'));
  const answers = [await owner.get(gate), await owner.get(gate)];
  expect(answers.map(({ status, headers }) => [status, headers.get('weir-shadow')])).toEqual([
    [200, 'admitted'],
    [200, 'limited'],
  ]);
});

it.each([
  [{ shadow: false }, undefined],
  [{ limiter: { threshold: 2, within: 9, shadow: false } }, undefined],
  [{ limiter: { threshold: 2, within: 9 }, shadow: false }, undefined],
  [{ limiter: { threshold: 2, within: 9 } }, true],
  [{ limiter: { threshold: 2, within: 9, shadow: true } }, true],
  [{ threshold: 2 }, true],
])('a shadow that is changed by %j is one after that: %s', async (change, shadow) => {
  const gate = await newGate({ threshold: 1, shadow: true });
  const { status, body } = await owner.patch(gate.replace(/\/gate$/, ''), change);
  expect([status, body.contract.shadow]).toEqual([200, shadow]);
});

it('near_limit is emitted once, on the record and on the stream, before the limit', async () => {
  await owner.createMachine('near');
  const stream = await Listening.to(node, '/api/chain/near/stream', owner);
  const gate = gateOf('near', await owner.deploy('near', { threshold: 5, within: 1, near_limit: 0.8 }));
  const answers = await inTurn(Array(6).keys(), () => owner.get(gate));
  const heard = await stream.next('near_limit');
  await stream.next('rate_limited');
  expect(answers.map(({ status, body: { state, remaining } }) => [status, state, remaining])).toEqual([
    [200, 'allowing', 4],
    [200, 'allowing', 3],
    [200, 'allowing', 2],
    [200, 'nearing', 1],
    [200, 'nearing', 0],
    [429, 'limiting', 0],
  ]);
  expect([heard.data.data.count, stream.of('near_limit').length]).toEqual([4, 1]);
});
