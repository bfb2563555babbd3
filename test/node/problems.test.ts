import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, startRunning } from './running.js';

let node: Running;
let key: string;
let contract: string;

beforeAll(async () => {
  node = await startRunning({
    limits: {
      shortBodyBytes: 1_000,
      headersTimeoutMs: 1_000,
      requestTimeoutMs: 2_000,
      connectionsCheckMs: 50,
      idleTimeoutMs: 6_000,
    },
  });
  key = node.keyOf('owner');
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'gate' } });
  const body = { slug: 'gate', within: 10 };
  const deployed = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body });
  contract = deployed.body.contract.id;
});
afterAll(() => node.close());

const EVENT = '/api/chain/gate/event';
const MACHINES = '/api/chain/state-machines';
const DEPLOY = '/api/contracts/templates/rate-limiter/deploy';
const CONTRACTS = '/api/chain/gate/contracts';
const closed = { name: 'x', version: '1.0', states: { a: { initial: true } }, transitions: [] };

describe('a bad request is told what is wrong with it', () => {
  it.each([
    ['bad JSON', EVENT, '{"type":', 'application/json', 400, 'invalid_json', undefined],
    ['no JSON', EVENT, 'hello', 'application/json', 400, 'invalid_json', undefined],
    ['an array', EVENT, '[]', 'application/json', 400, 'invalid_input', '/ must be an object'],
    ['a number', EVENT, '1', 'application/json', 400, 'invalid_input', '/ must be an object'],
    ['null', EVENT, 'null', 'application/json', 400, 'invalid_input', '/ must be an object'],
    ['nothing', EVENT, '', 'application/json', 400, 'invalid_input', '/type is required'],
    ['text', EVENT, '{"type":"request"}', 'text/plain', 415, 'unsupported_media_type', undefined],
    ['a form', EVENT, 'type=request', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type', undefined],
    ['a type that is none', EVENT, '{"type":"request"}', 'json', 415, 'unsupported_media_type', undefined],
    ['no field', EVENT, '{}', 'application/json', 400, 'invalid_input', '/type is required'],
    [
      'a field misspelt',
      EVENT,
      { type: 'request', cuont: 3 },
      'application/json',
      400,
      'invalid_input',
      '/cuont is not known; did you mean "count"?',
    ],
    [
      '__proto__',
      EVENT,
      '{"type":"request","__proto__":{}}',
      'application/json',
      400,
      'invalid_input',
      '/__proto__ is not known; allowed here: type, count, cycle, contract_id, key',
    ],
    [
      'a text for a number',
      EVENT,
      { type: 'request', count: '3' },
      'application/json',
      400,
      'invalid_input',
      '/count must be an integer',
    ],
    [
      'a fraction',
      EVENT,
      { type: 'request', count: 1.5 },
      'application/json',
      400,
      'invalid_input',
      '/count must be an integer',
    ],
    [
      'zero events',
      EVENT,
      { type: 'request', count: 0 },
      'application/json',
      400,
      'invalid_input',
      '/count must be >= 1',
    ],
    [
      'too many events',
      EVENT,
      { type: 'request', count: 1e9 + 1 },
      'application/json',
      400,
      'invalid_input',
      '/count must be <= 1000000000',
    ],
    [
      'a number beyond all',
      EVENT,
      '{"type":"request","count":1e999}',
      'application/json',
      400,
      'invalid_input',
      '/count must be an integer',
    ],
    ['an unknown kind of event', EVENT, { type: 'reqest' }, 'application/json', 422, 'unknown_event_type', undefined],
    [
      'an event from the future',
      EVENT,
      { type: 'request', cycle: 9e15 },
      'application/json',
      422,
      'event_in_future',
      undefined,
    ],
    [
      'an event from the past',
      EVENT,
      { type: 'request', cycle: 1 },
      'application/json',
      422,
      'event_too_old',
      undefined,
    ],
    [
      'a contract that is not there',
      EVENT,
      { type: 'request', contract_id: 'x' },
      'application/json',
      404,
      'contract_not_found',
      undefined,
    ],
    [
      'a body too large',
      EVENT,
      { type: 'request', x: 'x'.repeat(1_000) },
      'application/json',
      413,
      'body_too_large',
      undefined,
    ],
    [
      'a slug of capitals',
      MACHINES,
      { slug: 'Gate' },
      'application/json',
      400,
      'invalid_input',
      '/slug must match ^[a-z0-9-]{1,64}$',
    ],
    ['a slug taken', MACHINES, { slug: 'gate' }, 'application/json', 409, 'slug_taken', undefined],
    ['a slug of the node', MACHINES, { slug: 'weir-mint' }, 'application/json', 409, 'slug_taken', undefined],
    ['a slug that is a route', MACHINES, { slug: 'active' }, 'application/json', 409, 'slug_taken', undefined],
    [
      'a threshold of zero',
      DEPLOY,
      { slug: 'gate', threshold: 0 },
      'application/json',
      400,
      'invalid_input',
      '/threshold must be >= 1',
    ],
    [
      'a window too long',
      DEPLOY,
      { slug: 'gate', within: 100_001 },
      'application/json',
      400,
      'invalid_input',
      '/within must be <= 100000',
    ],
    ['a machine that is not there', DEPLOY, { slug: 'none' }, 'application/json', 404, 'machine_not_found', undefined],
    [
      'a definition without states',
      CONTRACTS,
      { ...closed, states: {} },
      'application/json',
      400,
      'invalid_definition',
      '/states must not have fewer than 1 properties',
    ],
    [
      'an operator that is not there',
      CONTRACTS,
      { ...closed, transitions: [{ from: 'a', to: 'a', operator: 'KO43' }] },
      'application/json',
      422,
      'operator_not_registered',
      '/transitions/0/operator names the operator "KO43", which is not registered',
    ],
    ['no steps', '/api/core/shift', { steps: 0 }, 'application/json', 400, 'invalid_input', '/steps must be >= 1'],
    [
      'too many steps',
      '/api/core/shift',
      { steps: 33 },
      'application/json',
      400,
      'invalid_input',
      '/steps must be <= 32',
    ],
    [
      'an operator unknown',
      '/api/core/shift',
      { steps: 1, operators: ['KO41'] },
      'application/json',
      422,
      'operator_not_registered',
      '/operators/0 is not registered',
    ],
    [
      'an input unknown',
      '/api/core/shift',
      { steps: 1, inputs: { s: 1 } },
      'application/json',
      400,
      'invalid_input',
      '/inputs/s is not known; allowed here: S',
    ],
  ])('%s', async (_name, path, body, type, status, code, fault) => {
    const before = node.host.machines.get('gate')?.head;
    const told = await node.ask('POST', path, { key, body, type });
    const first = told.body.errors?.[0];
    expect({ status: told.status, code: told.body.code, fault: first && `${first.path} ${first.message}` }).toEqual({
      status,
      code,
      fault,
    });
    expect(told.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(told.body).toMatchObject({ ok: false, status, type: `urn:weir:problem:${code}` });
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
    ['GET', '/api/chain/gate/stream?last_event_id=x', 400, 'invalid_input'],
    ['GET', `/api/chain/gate/event`, 405, 'method_not_allowed'],
    ['PUT', `/api/chain/gate/event`, 405, 'method_not_allowed'],
    // As of a machine of this name, which none can have.
    ['DELETE', MACHINES, 404, 'machine_not_found'],
    ['DELETE', '/api/chain/gate/event', 405, 'method_not_allowed'],
    ['OPTIONS', MACHINES, 405, 'method_not_allowed'],
  ])('%s %s', async (method, path, status, code) => {
    const told = await node.ask(method, path, { key });
    expect([told.status, told.body.code]).toEqual([status, code]);
  });

  it('a wrong method is told the right ones, and a path nearly right the one that is meant', async () => {
    const wrong = await node.ask('PUT', '/api/keys', { key });
    const near = await node.ask('GET', '/api/contracts/template');
    expect([wrong.headers.get('allow'), near.body.detail]).toEqual([
      'GET, HEAD, POST',
      expect.stringContaining('Did you mean /api/contracts/templates?'),
    ]);
  });

  it('what leads nowhere is told so whatever its body is', async () => {
    const body = 'x'.repeat(2_000);
    const { status } = await node.ask('POST', '/nowhere', { body, type: 'application/json' });
    expect(status).toBe(404);
  });

  it('a HEAD answers like a GET without a body, except where a GET does not end', async () => {
    const heads = ['/healthz', MACHINES, `${CONTRACTS}/${contract}/gate`, '/api/chain/gate/stream'];
    const answers = await Promise.all(heads.map((path) => node.ask('HEAD', path, { key })));
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, ''],
      [200, ''],
      [200, ''],
      [405, ''],
    ]);
  });

  it('every method that Node knows is answered, and never by a mistake of ours', async () => {
    const methods = [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
      'PURGE',
      'SEARCH',
    ];
    const statuses = await Promise.all(methods.map((method) => statusOf(method, '/api/clock')));
    expect(Object.fromEntries(methods.map((method, index) => [method, statuses[index]]))).toEqual({
      ...Object.fromEntries(methods.map((method) => [method, 405])),
      GET: 200,
      HEAD: 200,
    });
  });
});

describe('what is no HTTP, or does not come, is refused on its socket', () => {
  it.each([
    ['noise', '\x16\x03\x01\x02\r\n\r\n', 400, 'malformed_request'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400, 'malformed_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      400,
      'malformed_request',
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, undefined],
    [
      'headers too large',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['a path too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431, 'headers_too_large'],
    ['headers that do not end', 'GET / HTTP/1.1\r\nHost: localhost\r\n', 408, 'request_timeout'],
    [
      'a body that does not come',
      'POST /api/demo-key/mint HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
      408,
      'request_timeout',
    ],
  ])('%s', async (_name, text, status, code) => {
    const answer = await raw(text);
    expect([Number(answer.split(' ')[1]), /"code":"(\w+)"/.exec(answer)?.[1]]).toEqual([status, code]);
  });
});

it('the clock met no error', () => expect(node.errors).toEqual([]));

function statusOf(method: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${node.url}${path}`, { method, headers: { 'content-length': 0 } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Sends bytes as they are, and gives what comes until the other side hangs up. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(node.url).port), '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.on('data', (data) => (answer += String(data)));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
