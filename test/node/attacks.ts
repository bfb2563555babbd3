// What the owner of one free key, and a stranger, can do to keep a node busy: each was measured to stall it, for up to seconds, before its
// work was cut into turns.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { defaultLimits } from '../../src/node/limits.js';
import { Raw } from './raw.js';

type Method = 'GET' | 'POST';
type Body = object | string;
type Fields = Record<string, string>;

/** A node, as one owner asks it; `key` undefined: as a stranger. */
export class Asker {
  readonly #agent = new Agent({ connections: 1_000, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  readonly url: string;
  readonly key: string | undefined;
  /** How often each status was the answer. */
  readonly statuses = new Map<number, number>();

  constructor(url: string, key?: string) {
    this.url = url;
    this.key = key;
  }

  async send(method: Method, path: string, body?: Body, more: Fields = {}) {
    const headers: Fields = { ...more };
    if (this.key !== undefined) headers['authorization'] = `Bearer ${this.key}`;
    if (body !== undefined) headers['content-type'] ??= 'application/json';
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const { statusCode, body: answer } = await request(`${this.url}${path}`, {
      dispatcher: this.#agent,
      method,
      headers,
      body: text ?? null,
    });
    this.statuses.set(statusCode, (this.statuses.get(statusCode) ?? 0) + 1);
    return answer;
  }

  async ask(method: Method, path: string, body?: Body, more?: Fields): Promise<string> {
    return (await this.send(method, path, body, more)).text();
  }

  /** Asks on a connection that is closed after the answer. */
  async askOnNewConnection(path: string): Promise<void> {
    const { statusCode, body } = await request(`${this.url}${path}`, { dispatcher: this.#agent, reset: true });
    this.statuses.set(statusCode, (this.statuses.get(statusCode) ?? 0) + 1);
    await body.dump();
  }

  /** Opens connections, and resets all of them at once. */
  async reset(connections: number): Promise<void> {
    const { hostname, port } = new URL(this.url);
    const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname).on('error', () => {}));
    await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
    for (const socket of sockets) socket.resetAndDestroy();
  }

  /** Sends requests at once on a connection of their own, until all are answered or it is closed. */
  async pipeline(path: string, requests: number): Promise<void> {
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${this.key}\r\n\r\n`;
    const { statuses, socket } = await new Raw(this.url).send(request.repeat(requests)).answered(requests);
    socket.destroy();
    for (const status of statuses) this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** Sends a body that may be refused before its end. */
  async refused(path: string, body: Buffer, isChunked = false): Promise<void> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const sent = isChunked ? Readable.from(inPieces(body)) : body;
    const options = { dispatcher: this.#agent, method: 'POST', reset: true, headers, body: sent } as const;
    // The connection may be reset while the client is sending: then with or without an answer.
    await request(`${this.url}${path}`, options)
      .then(({ statusCode, body: answer }) => {
        this.statuses.set(statusCode, (this.statuses.get(statusCode) ?? 0) + 1);
        return answer.dump();
      })
      .catch(() => this.statuses.set(413, (this.statuses.get(413) ?? 0) + 1));
  }

  /** As `ask`, where nothing may go wrong; asks again where a node on a busy machine refuses. */
  async must(method: Method, path: string, body?: Body, more?: Fields): Promise<any> {
    for (;;) {
      // A node that refuses may close the connection that the next request is being sent on.
      const answer = JSON.parse(await this.ask(method, path, body, more).catch(() => '{"code":"node_overloaded"}'));
      if (answer.ok === true) return answer;
      if (answer.code !== 'node_overloaded') throw new Error(`${method} ${path}: ${answer.detail}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Reads a stream for a while. */
  async follow(path: string, ms: number): Promise<void> {
    const body = await this.send('GET', path);
    body.on('error', () => {});
    setTimeout(() => body.destroy(), ms);
    await new Promise((resolve) => body.on('close', resolve).resume());
  }

  machine(slug: string, isPublic = false): Promise<unknown> {
    return this.must('POST', '/api/chain/state-machines', { slug, is_public: isPublic });
  }

  /** @returns the id of the contract */
  async deploy(slug: string, params: object = {}, template = 'rate-limiter'): Promise<string> {
    const path = `/api/contracts/templates/${template}/deploy`;
    return (await this.must('POST', path, { slug, ...params })).contract.id;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

export interface Attack {
  readonly name: string;
  /** The statuses of most answers: the attack does what it is meant to do. */
  readonly answers: readonly number[];
  /** Requests at a time. */
  readonly lanes?: number;
  once(owner: Asker, stranger: Asker, n: number): Promise<unknown>;
}

/** What the attacks need to be there. */
export async function prepare(owner: Asker): Promise<void> {
  for (let n = 0; n < 4; n += 1) {
    const other = new Asker(owner.url, (await owner.must('POST', '/api/demo-key/mint')).key);
    others.push(other);
    if (n > 1) continue;
    await other.machine(`once-${n}`);
    for (let k = 0; k < 300; k += 1) await other.deploy(`once-${n}`, { within: 4 });
    await other.machine(`long-${n}`);
    for (let k = 0; k < 17; k += 1) await other.deploy(`long-${n}`, { within: 100_000, threshold: 100 });
    await other.must('POST', `/api/chain/long-${n}/events`, await lateEvents(other));
  }
  await owner.machine('flips', true);
  for (let n = 0; n < 10; n += 1) await owner.must('POST', '/api/chain/flips/contracts', flips(64));
  await owner.machine('rules');
  for (let n = 0; n < 60; n += 1) await owner.deploy('rules', {}, 'sliding-log');
  await owner.machine('many', true);
  let left = 1_200;
  const lane = async () => {
    for (; left > 0; left -= 1) await owner.deploy('many');
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  await owner.machine('names');
  const definition = { keyed: { max_keys: 100_000, idle_cycles: 1, overflow: 'share', store_keys: 'plain' } };
  keyed = await owner.deploy('names', { threshold: 5, within: 60, ...definition });
  await owner.machine('piped');
  piped = `/api/chain/piped/contracts/${await owner.deploy('piped')}/gate`;
  // Windows that are full and as long as they may be, of contracts that limit: a forecast looks through all of it.
  await owner.machine('long');
  for (let n = 0; n < 10; n += 1) {
    const id = await owner.deploy('long', { within: 100_000, threshold: 100 });
    gate ??= id;
  }
  await owner.must('POST', '/api/chain/long/events', await lateEvents(owner));
  const { contracts } = await owner.must('GET', '/api/chain/many/contracts?limit=24');
  watched = contracts.map(({ id }: { id: string }) => id).join();
}

/** So that each of the contracts limits. */
async function lateEvents(owner: Asker): Promise<object[]> {
  const { cycle } = await owner.must('GET', '/api/clock');
  return Array.from({ length: 6 }, (_, n) => ({ ...event, count: 20, cycle: cycle - 8 * n }));
}

let gate: string | undefined;
let keyed: string | undefined;
let piped = '';
let watched = '';
/** Each with a free key of its own. */
const others: Asker[] = [];

const asking =
  (by: 'owner' | 'stranger', method: Method, path: string, body?: () => Body): Attack['once'] =>
  (owner, stranger) =>
    (by === 'owner' ? owner : stranger).ask(method, path, body?.());
const post = (path: string, body: () => Body) => asking('owner', 'POST', path, body);
const get = (path: string) => asking('stranger', 'GET', path);
const event = { type: 'request' };
const scopes = (count: number) => ({ scopes: Array.from({ length: count }, () => 'admin') });
const manyNames = (n: number) =>
  Array.from({ length: 100 }, (_, k) => ({ ...event, contract_id: keyed, key: `${n}-${k}-`.padEnd(256, 'k') }));
const longCredential = (n: number) => ({ authorization: `Bearer ${' '.repeat(1_000)}${n}${'x'.repeat(6_000)}` });

// biome-ignore format: one attack a line
const all: readonly (readonly [name: string, answer: number | readonly number[], lanes: number | undefined, once: Attack['once']])[] = [
  ['an event that flips ten contracts 64 times each', 200, 4, post('/api/chain/flips/event', () => ({ ...event, count: 1_000 }))],
  ['an event of 1,200 contracts', 200, 4, post('/api/chain/many/event', () => event)],
  ['an array of 2 events of 1,200 contracts', 200, 4, post('/api/chain/many/events', () => arrayOf(2))],
  ['an array of 41 events of 60 contracts with a rule', 200, 4, post('/api/chain/rules/events', () => arrayOf(41))],
  ['an array of 1,000 events that are refused', 200, 4, post('/api/chain/names/events', () => arrayOf(1_000).replaceAll('type', 'name'))],
  ['the longest array that is read, and it is not JSON at its end', 400, 4, post('/api/chain/flips/events', () => notJson)],
  ['1,000 events of 60 contracts with a rule', 200, 2, post('/api/chain/rules/event', () => ({ ...event, count: 1_000 }))],
  ['an event of 10 contracts that limit over long windows', 200, 4, post('/api/chain/long/event', () => event)],
  ['events of 10 contracts that limit over long windows', 200, 4, post('/api/chain/long/events', () => arrayOf(10))],
  ['a gate that limits over a long window', 429, undefined, (owner) => owner.ask('GET', `/api/chain/long/contracts/${gate}/gate`)],
  ['definitions that take long to check', 422, 4, post('/api/chain/flips/contracts', () => unsound)],
  ['an operator that lacks its inputs', 422, undefined, post('/api/chain/flips/contracts', () => lacksInputs)],
  ['a key with 1,600 scopes', 400, undefined, post('/api/keys', () => scopes(1_600))],
  ['a key with 1,300 fields that are not known', 400, undefined, post('/api/keys', () => fieldsOf(1_300))],
  ['a session with 80 fields', 400, undefined, post('/api/session', () => fieldsOf(80))],
  ['a key with more scopes than are read', 413, 4, post('/api/keys', () => scopes(15_000))],
  ['definitions with 2,600 fields that are not known', 400, 4, post('/api/chain/flips/contracts', () => fieldsOf(2_600))],
  ['free keys with fields', 400, undefined, asking('stranger', 'POST', '/api/demo-key/mint', () => fieldsOf(80))],
  ['machines', 201, undefined, (owner, _stranger, n) => owner.ask('POST', '/api/chain/state-machines', { slug: `m-${n}` })],
  ['sessions', 429, undefined, asking('owner', 'POST', '/api/session')],
  ['keys', 429, undefined, asking('stranger', 'POST', '/api/demo-key/mint')],
  ['streams from the first row on', 200, undefined, (_owner, stranger) => stranger.follow('/api/chain/many/stream?last_event_id=0', 50)],
  ['lists of contracts', 200, undefined, get('/api/chain/many/contracts?limit=250')],
  ['lists of machines', 200, undefined, get('/api/chain/state-machines?limit=250')],
  ['a machine', 200, undefined, get('/api/chain/state-machines/many')],
  ['pages of a record', 200, undefined, get('/api/chain/many/state?limit=250')],
  ['the OpenAPI document', 200, undefined, get('/api/openapi.json')],
  ['whole records', 200, 4, get('/api/chain/many/state?format=ndjson')],
  ['records verified', 200, 4, get('/api/chain/many/state/verify')],
  ['events of 100 keys with long names that are new each time', 200, undefined,
    (owner, _stranger, n) => owner.ask('POST', '/api/chain/names/events', manyNames(n))],
  ['credentials that are long and new each time', 401, undefined,
    (_owner, stranger, n) => stranger.ask('GET', '/api/limits', undefined, longCredential(n))],
  ['events of 300 contracts of two owners, each with an idempotency key that is new', 200, undefined,
    (_owner, _stranger, n) => others[n % 2]!.ask('POST', `/api/chain/once-${n % 2}/event`, event, { 'idempotency-key': `k-${n}` })],
  ['arrays of 1.1 MB, which are refused', 413, undefined, (owner) => owner.refused('/api/chain/flips/events', tooLong)],
  ['arrays of 1.1 MB of a length that is not said', 413, undefined, (owner) => owner.refused('/api/chain/flips/events', tooLong, true)],
  ['events of 44 contracts of three owners over windows of 100,000 cycles', 200, undefined,
    (owner, _stranger, n) => (n % 3 === 2 ? owner.ask('POST', '/api/chain/long/event', event) : others[n % 3]!.ask('POST', `/api/chain/long-${n % 3}/event`, event))],
  ['streams with the counts of 24 contracts', 200, 900,
    (_owner, _stranger, n) => others[n % 4]!.follow(`/api/chain/many/stream?counts=${watched}`, 2_000)],
  ['rows of ten contracts for 900 streams', 200, 900, (owner, _stranger, n) =>
    n % 300 === 0 ? owner.ask('POST', '/api/chain/flips/event', { ...event, count: 8 }) : others[n % 4]!.follow('/api/chain/flips/stream', 2_000)],
  ['definitions', 201, 4, (owner, _stranger, n) => owner.ask('POST', '/api/chain/flips/contracts', { ...flips(64), name: `flips-${n}` })],
  ['a flood', [200, 503], 500, get('/api/clock')],
  ['a flood with a false key', [401, 503], 500, (_owner, stranger) => stranger.ask('GET', '/api/keys', undefined, { authorization: 'Bearer weir_false' })],
  ['connections that ask once', 200, undefined, (_owner, stranger) => stranger.askOnNewConnection('/api/clock')],
  ['9,200 connections that are reset at once', 200, 4, (_owner, stranger) => stranger.reset(2_300)],
  ['a connection that pipelines 200 gates', [200, 429], 1, (owner) => owner.pipeline(piped, 200)],
  ['operators', 200, undefined, post('/api/core/shift', () => ({ steps: 32, operators: ['KO42'], inputs: { S: 100 } }))],
];

export const attacks: readonly Attack[] = all.map(([name, answer, lanes, once]) => ({
  ...{ name, answers: [answer].flat(), once },
  ...(lanes !== undefined && { lanes }),
}));

function arrayOf(events: number): string {
  return `[${Array.from({ length: events }, () => '{"type":"request"}').join()}]`;
}

/** A definition of two states that changes its state at every count up to `bands`. */
function flips(bands: number): object {
  const step = (from: string, to: string, first: number) =>
    Array.from({ length: Math.ceil(bands / 40) }, (_, part) => ({
      from,
      to,
      operator: 'KO42',
      trigger: {
        kind: 'on_aggregate',
        event: 'request',
        aggregate: 'count',
        within: 1,
        condition: Array.from(
          { length: Math.min(20, bands / 2 - 20 * part) },
          (_, k) => `count == ${first + 2 * (20 * part + k)}`,
        ).join(' || '),
      },
    }));
  return {
    name: 'flips',
    version: '1.0',
    states: { a: { initial: true }, b: {} },
    transitions: [...step('a', 'b', 1), ...step('b', 'a', 2)],
  };
}

function fieldsOf(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n])));
}

const tooLong = Buffer.from(arrayOf(55_000));

function* inPieces(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 16_384) yield bytes.subarray(from, from + 16_384);
}

/** As long as may be, and a bracket too many. */
const notJson = `${arrayOf(Math.floor(defaultLimits.longBodyBytes / 20) - 1)}]`;

/** Without an initial state. */
const unsound = JSON.stringify(flips(1_300)).replace('"a":{"initial":true}', '"a":{}');

const lacksInputs = {
  name: 'lacks-inputs',
  version: '1.0',
  states: { a: { initial: true }, b: {} },
  transitions: [
    {
      from: 'a',
      to: 'b',
      operator: 'NEWTON2',
      trigger: { kind: 'on_aggregate', event: 'request', aggregate: 'count', within: 60, condition: 'count > 0' },
    },
  ],
};
