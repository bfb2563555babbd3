// What the owner of one free key, and a stranger, can do to keep a node busy: each was measured to stall it, for up to seconds, before its
// work was cut into turns.
import { Agent, request } from 'undici';
import { defaultLimits } from '../../src/node/limits.js';

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

  async send(method: 'GET' | 'POST', path: string, body?: object | string, more: Record<string, string> = {}) {
    const headers: Record<string, string> = { ...more };
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

  async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: object | string,
    more?: Record<string, string>,
  ): Promise<string> {
    return (await this.send(method, path, body, more)).text();
  }

  /** Asks on a connection that is closed after the answer. */
  async askOnNewConnection(path: string): Promise<void> {
    const { statusCode, body } = await request(`${this.url}${path}`, { dispatcher: this.#agent, reset: true });
    this.statuses.set(statusCode, (this.statuses.get(statusCode) ?? 0) + 1);
    await body.dump();
  }

  /** As `ask`, where nothing may go wrong; asks again where a node on a busy machine refuses. */
  async must(
    method: 'GET' | 'POST',
    path: string,
    body?: object | string,
    more?: Record<string, string>,
  ): Promise<any> {
    for (;;) {
      const answer = JSON.parse(await this.ask(method, path, body, more));
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
  /** A status that must be among the answers: the attack does what it is meant to do. */
  readonly answer: number;
  /** Requests at a time. */
  readonly lanes?: number;
  once(owner: Asker, stranger: Asker, n: number): Promise<unknown>;
}

/** What the attacks need to be there. */
export async function prepare(owner: Asker): Promise<void> {
  await owner.machine('flips');
  for (let n = 0; n < 10; n += 1) await owner.must('POST', '/api/chain/flips/contracts', flips(64));
  await owner.machine('rules');
  for (let n = 0; n < 60; n += 1) await owner.deploy('rules', {}, 'sliding-log');
  await owner.machine('many', true);
  let left = 1_500;
  const lane = async () => {
    for (; left > 0; left -= 1) await owner.deploy('many');
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  await owner.machine('names');
  const definition = { keyed: { max_keys: 100_000, idle_cycles: 1, overflow: 'share', store_keys: 'plain' } };
  keyed = await owner.deploy('names', { threshold: 5, within: 60, ...definition });
  // Windows that are full and as long as they may be, of contracts that limit: a forecast looks through all of it.
  await owner.machine('long');
  for (let n = 0; n < 18; n += 1) gate ??= await owner.deploy('long', { within: 100_000, threshold: 100 });
  const { cycle } = await owner.must('GET', '/api/clock');
  const lines = Array.from({ length: 400 }, (_, n) => `{"type":"request","cycle":${cycle - n}}`);
  await owner.must('POST', '/api/chain/long/events', lines.join('\n'), { 'content-type': 'application/x-ndjson' });
}

let gate: string | undefined;
let keyed: string | undefined;

export const attacks: readonly Attack[] = [
  {
    name: 'an event that flips ten contracts 64 times each',
    answer: 200,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/flips/event', { type: 'request', count: 1_000 }),
  },
  {
    name: 'an event of 1,500 contracts',
    answer: 200,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/many/event', { type: 'request' }),
  },
  {
    name: 'an array of 2,000 events of 1,500 contracts',
    answer: 200,
    lanes: 1,
    once: (owner) => owner.ask('POST', '/api/chain/many/events', arrayOf(2_000)),
  },
  {
    name: 'an array of 2,000 events of 60 contracts with a rule',
    answer: 200,
    lanes: 1,
    once: (owner) => owner.ask('POST', '/api/chain/rules/events', arrayOf(2_000)),
  },
  {
    name: 'the longest array that is read, and it is not JSON at its end',
    answer: 400,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/flips/events', notJson),
  },
  {
    name: '1,000 events of 60 contracts with a rule',
    answer: 200,
    lanes: 2,
    once: (owner) => owner.ask('POST', '/api/chain/rules/event', { type: 'request', count: 1_000 }),
  },
  {
    name: 'an event of 18 contracts that limit over long windows',
    answer: 200,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/long/event', { type: 'request' }),
  },
  {
    name: 'events of 18 contracts that limit over long windows',
    answer: 200,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/long/events', arrayOf(10)),
  },
  {
    name: 'a gate that limits over a long window',
    answer: 429,
    once: (owner) => owner.ask('GET', `/api/chain/long/contracts/${gate}/gate`),
  },
  {
    name: 'definitions that take long to check',
    answer: 422,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/flips/contracts', unsound),
  },
  {
    name: 'an operator that lacks its inputs',
    answer: 422,
    once: (owner) => owner.ask('POST', '/api/chain/flips/contracts', lacksInputs),
  },
  ...[
    ['a key with 1,600 scopes', '/api/keys', JSON.stringify({ scopes: Array.from({ length: 1_600 }, () => 'admin') })],
    ['a key with 1,300 fields that are not known', '/api/keys', fieldsOf(1_300)],
    ['a session with 80 fields', '/api/session', fieldsOf(80)],
  ].map(([name = '', path = '', body]) => ({
    name,
    answer: 400,
    once: (owner: Asker) => owner.ask('POST', path, body),
  })),
  {
    name: 'a key with more scopes than are read',
    answer: 413,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/keys', { scopes: Array.from({ length: 15_000 }, () => 'admin') }),
  },
  {
    name: 'definitions with 8,000 fields that are not known',
    answer: 400,
    lanes: 4,
    once: (owner) => owner.ask('POST', '/api/chain/flips/contracts', fieldsOf(8_000)),
  },
  {
    name: 'free keys with fields',
    answer: 400,
    once: (_owner, stranger) => stranger.ask('POST', '/api/demo-key/mint', fieldsOf(80)),
  },
  {
    name: 'machines',
    answer: 201,
    once: (owner, _stranger, n) => owner.ask('POST', '/api/chain/state-machines', { slug: `m-${n}` }),
  },
  { name: 'sessions', answer: 429, once: (owner) => owner.ask('POST', '/api/session') },
  { name: 'keys', answer: 429, once: (_owner, stranger) => stranger.ask('POST', '/api/demo-key/mint') },
  {
    name: 'streams from the first row on',
    answer: 200,
    once: (_owner, stranger) => stranger.follow('/api/chain/many/stream?last_event_id=0', 50),
  },
  ...[
    ['lists of contracts', '/api/chain/many/contracts?limit=250'],
    ['lists of machines', '/api/chain/state-machines?limit=250'],
    ['a machine', '/api/chain/state-machines/many'],
    ['pages of a record', '/api/chain/many/state?limit=250'],
    ['the OpenAPI document', '/api/openapi.json'],
  ].map(([name = '', path = '']) => ({
    name,
    answer: 200,
    once: (_owner: Asker, stranger: Asker) => stranger.ask('GET', path),
  })),
  {
    name: 'whole records',
    answer: 200,
    lanes: 4,
    once: (_owner, stranger) => stranger.ask('GET', '/api/chain/many/state?format=ndjson'),
  },
  {
    name: 'records verified',
    answer: 200,
    lanes: 4,
    once: (_owner, stranger) => stranger.ask('GET', '/api/chain/many/state/verify'),
  },
  {
    name: 'gates of 100 keys with long names that are new each time',
    answer: 200,
    once: (owner, _stranger, n) =>
      owner.ask('POST', '/api/chain/names/gates', {
        requests: Array.from({ length: 100 }, (_, k) => ({ contract_id: keyed, key: `${n}-${k}-`.padEnd(256, 'k') })),
      }),
  },
  {
    name: 'credentials that are long and new each time',
    answer: 401,
    once: (_owner, stranger, n) =>
      stranger.ask('GET', '/api/limits', undefined, {
        authorization: `Bearer ${' '.repeat(1_000)}${n}${'x'.repeat(6_000)}`,
      }),
  },
  {
    name: 'connections that ask once',
    answer: 200,
    once: (_owner, stranger) => stranger.askOnNewConnection('/api/clock'),
  },
  {
    name: 'operators',
    answer: 200,
    once: (owner) => owner.ask('POST', '/api/core/shift', { steps: 32, operators: ['KO42'], inputs: { S: 100 } }),
  },
];

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

/** As long as may be, and a bracket too many. */
const notJson = `${arrayOf(Math.floor(defaultLimits.longBodyBytes / 20) - 1)}]`;

/** Without an initial state. */
const unsound = JSON.stringify(flips(2_000)).replace('"a":{"initial":true}', '"a":{}');

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
