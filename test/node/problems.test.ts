import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { statusAndCode, toldBy } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { plainly, Raw } from './raw.js';

const node = await nodeOfFile({
  limits: {
    shortBodyBytes: 1_000,
    headersTimeoutMs: 1_000,
    requestTimeoutMs: 2_000,
    connectionsCheckMs: 50,
    idleTimeoutMs: 6_000,
  },
});
const owner = node.owner();
const contract = await owner.contractOn('gate', { within: 10 });

const EVENT = '/api/chain/gate/event';
const MACHINES = '/api/chain/state-machines';
const DEPLOY = '/api/contracts/templates/rate-limiter/deploy';
const CONTRACTS = '/api/chain/gate/contracts';
const SHIFT = '/api/core/shift';
const closed = { name: 'x', version: '1.0', states: { a: { initial: true } }, transitions: [] };

type Case = [what: string, path: string, body: unknown, answer: string, fault?: string | undefined, type?: string];

// biome-ignore format: one case a line
const wrong: readonly Case[] = [
  ['bad JSON', EVENT, '{"type":', '400 invalid_json'],
  ['no JSON', EVENT, 'hello', '400 invalid_json'],
  ['an array', EVENT, '[]', '400 invalid_input', '/ must be an object'],
  ['a number', EVENT, '1', '400 invalid_input', '/ must be an object'],
  ['null', EVENT, 'null', '400 invalid_input', '/ must be an object'],
  ['nothing', EVENT, '', '400 invalid_input', '/type is required'],
  ['text', EVENT, '{"type":"request"}', '415 unsupported_media_type', undefined, 'text/plain'],
  ['a form', EVENT, 'type=request', '415 unsupported_media_type', undefined, 'application/x-www-form-urlencoded'],
  ['a type that is none', EVENT, '{"type":"request"}', '415 unsupported_media_type', undefined, 'json'],
  ['another charset', EVENT, '{"type":"request"}', '415 unsupported_media_type', undefined, 'application/json; charset=latin1'],
  ...['\n', '\u202e', '\u2066', '\u200b', '\ufeff', '\u0085', '\u{e0001}', '\u{e0169}', '\u{1d173}', '\u034f'].map((one): Case => [`a name with ${escape(one)}`, MACHINES,
    { slug: 'new', display_name: `gate${one}x` }, '400 invalid_input',
    '/display_name has a character that controls, turns the direction of the text, or is invisible']),
  ['half a character', MACHINES, { slug: 'new', display_name: 'a\ud800' }, '400 invalid_input', '/display_name has half a character'],
  ['half a character in a name', CONTRACTS, { ...closed, states: { 'a\udc00': {} } }, '400 invalid_input', '/states has half a character'],
  ['no field', EVENT, '{}', '400 invalid_input', '/type is required'],
  ['a field misspelt', EVENT, { type: 'request', cuont: 3 }, '400 invalid_input', '/cuont is not known; did you mean "count"?'],
  ['__proto__', EVENT, '{"type":"request","__proto__":{}}', '400 invalid_input',
    '/__proto__ is not known; allowed here: type, count, cycle, contract_id, key'],
  ['a text for a number', EVENT, { type: 'request', count: '3' }, '400 invalid_input', '/count must be an integer'],
  ['a fraction', EVENT, { type: 'request', count: 1.5 }, '400 invalid_input', '/count must be an integer'],
  ['zero events', EVENT, { type: 'request', count: 0 }, '400 invalid_input', '/count must be >= 1'],
  ['too many events', EVENT, { type: 'request', count: 1e9 + 1 }, '400 invalid_input', '/count must be <= 1000000000'],
  ['a number beyond all', EVENT, '{"type":"request","count":1e999}', '400 invalid_input', '/count must be an integer'],
  ['an unknown kind of event', EVENT, { type: 'reqest' }, '422 unknown_event_type'],
  ['that behind a byte order mark, which is no part of it', EVENT, '\ufeff{"type":"reqest"}', '422 unknown_event_type'],
  ['an event from the future', EVENT, { type: 'request', cycle: 9e15 }, '422 event_in_future'],
  ['an event from the past', EVENT, { type: 'request', cycle: 1 }, '422 event_too_old'],
  ['a contract that is not there', EVENT, { type: 'request', contract_id: 'x' }, '404 contract_not_found'],
  ['a body too large', EVENT, { type: 'request', x: 'x'.repeat(1_000) }, '413 body_too_large'],
  ['a slug of capitals', MACHINES, { slug: 'Gate' }, '400 invalid_input', '/slug must match ^[a-z0-9-]{1,64}$'],
  ['a slug taken', MACHINES, { slug: 'gate' }, '409 slug_taken'],
  ['a slug of the node', MACHINES, { slug: 'weir-mint' }, '409 slug_taken'],
  ['a slug that is a route', MACHINES, { slug: 'active' }, '409 slug_taken'],
  ['a threshold of zero', DEPLOY, { slug: 'gate', threshold: 0 }, '400 invalid_input', '/threshold must be >= 1'],
  ['a window too long', DEPLOY, { slug: 'gate', within: 100_001 }, '400 invalid_input', '/within must be <= 100000'],
  ['a limit that cannot be read', DEPLOY, { slug: 'gate', limit: '5' }, '400 invalid_definition',
    '/limit cannot be read: "5" at character 1: it does not say in what time, as 100 in 60s does'],
  ['a machine that is not there', DEPLOY, { slug: 'none' }, '404 machine_not_found'],
  ['a definition without states', CONTRACTS, { ...closed, states: {} }, '400 invalid_definition',
    '/states must not be empty'],
  ['an operator that is not there', CONTRACTS, { ...closed, transitions: [{ from: 'a', to: 'a', operator: 'KO43' }] },
    '422 operator_not_registered', '/transitions/0/operator names the operator "KO43", which is not registered'],
  ['no steps', SHIFT, { steps: 0 }, '400 invalid_input', '/steps must be >= 1'],
  ['too many steps', SHIFT, { steps: 33 }, '400 invalid_input', '/steps must be <= 32'],
  ['an operator unknown', SHIFT, { steps: 1, operators: ['KO41'] }, '422 operator_not_registered', '/operators/0 is not registered'],
  ['an input unknown', SHIFT, { steps: 1, inputs: { s: 1 } }, '400 invalid_input', '/inputs/s is not known; allowed here: S'],
];

it.each(wrong)('a bad request is told what is wrong with it: %s', async (_name, path, body, answer, fault, type) => {
  const before = node.host.machines.get('gate')?.head;
  const told = await owner.post(path, body, type === undefined ? {} : { 'content-type': type });
  const { code, errors } = told.body;
  expect(`${told.status} ${code}`).toBe(answer);
  expect(errors?.[0] && `${errors[0].path} ${errors[0].message}`).toBe(fault);
  expect(told.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(told.body).toMatchObject({ ok: false, status: told.status, type: `urn:weir:problem:${code}` });
  // Never half an effect.
  expect(node.host.machines.get('gate')?.head).toEqual(before);
  expect(node.host.contracts.get(contract)?.gate.count).toBe(0);
});

it.each([
  ['GET', '/api/chain/gate/state?limit=0', 400, 'invalid_input'],
  ['GET', '/api/chain/gate/state?limit=ten', 400, 'invalid_input'],
  ['GET', '/api/chain/gate/state?limit=1&limit=2', 400, 'invalid_input'],
  ['GET', '/api/chain/gate/state?lmit=1', 400, 'invalid_input'],
  ['GET', '/api/clock?x=1', 400, 'invalid_input'],
  ['GET', '/api/chain/active?cycles=6001', 400, 'invalid_input'],
  ['GET', '/api/chain/gate/contracts/none', 404, 'contract_not_found'],
  ['GET', '/api/chain/gate/contracts/none/gate', 404, 'contract_not_found'],
  ['GET', '/api/chain/none/contracts', 404, 'machine_not_found'],
  ['GET', '/api/chain/state-machines/%00', 404, 'machine_not_found'],
  ['GET', '/api/chain/state-machines/%E0%A4%A', 404, 'route_not_found'],
  ['GET', `/api/chain/state-machines/${'x'.repeat(200)}`, 404, 'route_not_found'],
  ['GET', '/api/operators/KO', 404, 'operator_not_found'],
  ['GET', '/api/contracts/templates/ratelimiter', 404, 'template_not_found'],
  ['GET', '/nowhere', 404, 'route_not_found'],
  ['POST', '/nowhere', 404, 'route_not_found'],
  ['POST', '/api/chain/', 404, 'route_not_found'],
  ['GET', '/api/chain//event', 404, 'route_not_found'],
  ['GET', '/api/chain/gate/stream?last_event_id=x', 400, 'invalid_input'],
  ['GET', '/api/chain/gate/stream?after_cycle=1', 400, 'invalid_input'],
  ['GET', '/api/chain/gate/state?format=ndjson&kind=transition', 400, 'invalid_input'],
  ['GET', `${CONTRACTS}?search=none&after=${contract}`, 400, 'invalid_input'],
  ['GET', `${MACHINES}?sort=limiting&after=none`, 400, 'invalid_input'],
  ['GET', `/api/chain/gate/event`, 405, 'method_not_allowed'],
  ['PUT', `/api/chain/gate/event`, 405, 'method_not_allowed'],
  // As of a machine of this name, which none can have.
  ['DELETE', MACHINES, 404, 'machine_not_found'],
  ['DELETE', '/api/chain/gate/event', 405, 'method_not_allowed'],
  ['OPTIONS', MACHINES, 405, 'method_not_allowed'],
])('%s %s is answered with %i %s', async (method, path, status, code) => {
  expect(statusAndCode(await owner.ask(method, path))).toEqual([status, code]);
});

it.each([
  ['gzip', gzipSync('{"type":"request"}'), { 'content-encoding': 'gzip' }, '415 unsupported_media_type'],
  ['bytes that are no UTF-8', Buffer.from('{"type":"request","key":"\xff"}', 'latin1'), {}, '400 invalid_json'],
])('a body of %s is not read, nor is an array', async (_name, body, headers, answer) => {
  for (const path of [EVENT, `${EVENT}s`]) {
    const sent = { ...headers, authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' };
    const told = await toldBy(await fetch(`${node.url}${path}`, { method: 'POST', headers: sent, body }));
    expect([path, `${told.status} ${told.body.code}`]).toEqual([path, answer]);
  }
  expect(node.host.contracts.get(contract)?.gate.count).toBe(0);
});

it('a wrong method is told the right ones, and a path nearly right the one that is meant', async () => {
  expect((await owner.ask('PUT', '/api/keys')).headers.get('allow')).toBe('GET, HEAD, POST');
  const near = await owner.get('/api/contracts/template');
  expect(near.body.detail).toContain('Did you mean /api/contracts/templates?');
});

it('the name of a definition leads to no contract, and whose it is, is said', async () => {
  const { body } = await owner.get(`${CONTRACTS}/rate_limiter`);
  expect([body.code, body.detail.includes(contract)]).toEqual(['contract_not_found', true]);
});

it('what leads nowhere is told so whatever its body is', async () => {
  expect((await owner.post('/nowhere', 'x'.repeat(2_000))).status).toBe(404);
});

it('a HEAD answers like a GET without a body, except where a GET does not end', async () => {
  const heads = ['/healthz', MACHINES, `${CONTRACTS}/${contract}/gate`, '/api/chain/gate/stream'];
  const answers = await Promise.all(heads.map((path) => owner.ask('HEAD', path)));
  expect(answers.map(({ status, body }) => `${status}${body}`)).toEqual(['200', '200', '200', '405']);
});

it('every method that Node knows is answered, and never by a mistake of ours', async () => {
  const others = 'POST PUT DELETE PATCH OPTIONS TRACE PROPFIND QUERY PURGE SEARCH'.split(' ');
  const asked = ['GET', 'HEAD', ...others].map((method) => plainly(node.url, method, '/api/clock'));
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, ...others.map(() => 405)]);
});

it('rows are found by the name of a contract as by its id', async () => {
  await owner.createMachine('named');
  const contract_id = await owner.deploy('named', { name: 'checkout' });
  const rows = await owner.rows('named', 'contract_id=checkout');
  expect(rows).toMatchObject([{ kind: 'contract_created', contract_id }]);
  expect(await owner.rows('named', `contract_id=${contract_id}`)).toEqual(rows);
});

const HTTP = 'HTTP/1.1\r\nHost: localhost\r\n';
const TYPE = 'Content-Type: application/json\r\n';
const MINT = '/api/demo-key/mint';
const MINE = `${HTTP}Authorization: Bearer ${owner.key}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

// biome-ignore format: one case a line
it.each([
  ['noise', '\x16\x03\x01\x02\r\n\r\n', 400, 'malformed_request'],
  ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400, 'malformed_request'],
  ['two lengths', `POST / ${HTTP}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`, 400, 'malformed_request'],
  ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
  ['headers too large', `GET / ${HTTP}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['a path too long', `GET /${'x'.repeat(20_000)} ${HTTP}\r\n`, 431, 'headers_too_large'],
  ['headers that do not end', `GET / ${HTTP}`, 408, 'request_timeout'],
  ['an expectation', `GET / ${HTTP}Expect: 200-ok\r\nConnection: close\r\n\r\n`, 400, 'malformed_request'],
  ['HTTP/0.9', 'GET /healthz\r\n\r\n', 400, 'malformed_request'],
  ['HTTP/2.0 in text', `GET /healthz HTTP/2.0\r\n\r\n`, 400, 'malformed_request'],
  ['chunks of HTTP/1.0', `POST ${MINT} HTTP/1.0\r\nConnection: keep-alive\r\n${TYPE}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, 400, 'malformed_request'],
  ['a tunnel', `CONNECT example.org:443 ${HTTP}\r\n`, 405, 'method_not_allowed'],
  ['a body that does not come', `POST ${MINT} ${HTTP}${TYPE}Content-Length: 9\r\n\r\n{`, 408, 'request_timeout'],
  ['a body that its head does not name', `GET /api/clock ${HTTP}\r\n{"x":1}`, 200, undefined],
  ['more behind the last request', `GET /api/clock ${HTTP}Connection: close\r\n\r\nx`, 200, undefined],
  ['a chunk that is none, of a request that has its answer', `POST /nowhere ${HTTP}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 404, 'route_not_found'],
  ['a body that does not come, of another', `POST /nowhere ${HTTP}Content-Length: 9\r\n\r\n`, 404, 'route_not_found'],
  ['a tunnel behind a request', `GET /api/clock ${HTTP}\r\nCONNECT example.org:443 ${HTTP}\r\n`, 200, undefined],
  ['an absolute target: a gate by any method', `PUT http://localhost${CONTRACTS}/${contract}/gate/orders ${MINE}`, 200, undefined],
  ['an absolute target: of another host', `GET http://evil.example/api/clock ${MINE}`, 421, 'host_refused'],
  ['an absolute target: without a path', `GET http://localhost?a ${MINE}`, 200, undefined],
  ['an asterisk as target', `GET * ${MINE}`, 404, 'route_not_found'],
])('what is no HTTP, or does not come, is refused on its socket; a whole request, in any form, is answered: %s', async (_name, text, status, code) => {
  const { statuses, text: answer } = await new Raw(node.url).send(text).ended();
  expect([statuses, /"code":"(\w+)"/.exec(answer)?.[1]]).toEqual([[status], code]);
});

it.each([
  ['what is no HTTP', ({ socket }: Raw) => socket.write('x\r\n\r\n')],
  ['the end of its client', ({ socket }: Raw) => socket.end()],
])('%s ends a stream that runs, and is not answered within it', async (_what, send) => {
  const asked = `GET /api/chain/gate/stream ${HTTP}Authorization: Bearer ${owner.key}\r\n\r\n`;
  const streaming = await new Raw(node.url).send(asked).answered();
  send(streaming);
  expect((await streaming.ended()).statuses).toEqual([200]);
});

it('neither a body that is no JSON nor a client that sends no more ends a connection before all on it is answered', async () => {
  const head = `POST ${EVENT} ${HTTP}Authorization: Bearer ${owner.key}\r\n${TYPE}Content-Length: `;
  const [bad, good] = [`${head}3\r\n\r\n{x}`, `${head}18\r\n\r\n{"type":"request"}`];
  const raw = new Raw(node.url).send(bad + good.repeat(50) + bad);
  raw.socket.end();
  const expected = ['400', ...Array(50).fill('200'), '400'].flatMap((status) => [status, 'keep-alive']);
  expect((await raw.ended()).text.match(/(?<=HTTP.1.1 )\d+|(?<=^Connection: ).*(?=\r)/gim)).toEqual(expected);
});
