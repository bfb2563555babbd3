// Owns the routes of a node as the commands call them: one method a route, with what goes in and the shape of what comes out.
// Leaves HTTP to http.ts, shapes to answers.ts, words to the commands.
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import { usageFailure } from '../cli/ending.js';
import { reader } from '../record/shape.js';
import { Failure } from '../schema/failure.js';
import * as shapes from './answers.js';
import type { Answer, Ask, Connection, Query } from './http.js';
import { refusalFrom } from './refusal.js';

/** What is sent to say who asks; nothing for anyone. */
export type Credentials = Readonly<Record<string, string>>;

export interface EventsOf {
  readonly type: string;
  readonly count?: number;
  readonly cycle?: number;
  readonly contract_id?: string;
}

export interface Shift {
  readonly steps: number;
  readonly base_cycle?: number;
  readonly operators?: readonly string[];
  readonly inputs?: Readonly<Record<string, number>>;
}

/**
 * Every method throws a Failure: `node_unreachable`, `answer_unreadable`, or what the node refuses with. Answers are whole, with
 * fields that are not in their type.
 */
export class Api {
  readonly #connection: Connection;
  readonly #credentials: Credentials;

  constructor(connection: Connection, credentials: Credentials = {}) {
    this.#connection = connection;
    this.#credentials = credentials;
  }

  publicKey = () => this.#get('/api/updates/pubkey', shapes.PublicKey);
  clock = () => this.#get('/api/clock', shapes.Clock);
  endpoints = () => this.#get('/api/endpoints', shapes.Endpoints);
  active = (query: Query) => this.#get('/api/chain/active', shapes.Active, query);
  operators = () => this.#get('/api/operators', shapes.Operators);
  operator = (id: string) => this.#get(`/api/operators/${part(id)}`, shapes.OneOperator);
  template = (id: string) => this.#get(`/api/contracts/templates/${part(id)}`, shapes.Template);
  machines = (query: Query) => this.#get('/api/chain/state-machines', shapes.Machines, query);
  machine = (slug: string) => this.#get(`/api/chain/state-machines/${part(slug)}`, shapes.OneMachine);
  contracts = (slug: string) => this.#get(`/api/chain/${part(slug)}/contracts`, shapes.Contracts);
  contract = (slug: string, id: string) => this.#get(contractPath(slug, id), shapes.OneContract);

  mint = () => this.#post('/api/demo-key/mint', shapes.Minted);
  createMachine = (body: object) => this.#post('/api/chain/state-machines', shapes.OneMachine, body);
  deploy = (body: object) => this.#post('/api/contracts/templates/rate-limiter/deploy', shapes.Deployed, body);
  createContract = (slug: string, definition: object) =>
    this.#post(`/api/chain/${part(slug)}/contracts`, shapes.Deployed, definition);
  transition = (slug: string, id: string, body: object) =>
    this.#post(`${contractPath(slug, id)}/transition`, shapes.Moved, body);
  event = (slug: string, body: EventsOf) => this.#post(`/api/chain/${part(slug)}/event`, shapes.Counted, body);
  shift = (body: Shift) => this.#post('/api/core/shift', shapes.Shifted, body);

  /** 429 is an answer like 200: the gate has decided. */
  async gate(slug: string, id: string, isPeek: boolean) {
    const path = `${contractPath(slug, id)}/gate`;
    const answer = await this.#ask({ method: 'POST', path, query: isPeek ? { peek: 1 } : {} });
    const isLimited = answer.status === 429 && typeof answer.body === 'object' && 'decision' in (answer.body ?? {});
    return this.#read(isLimited ? { ...answer, status: 200 } : answer, shapes.Gated);
  }

  /** @returns the answer, and the cookie as it is to be sent */
  async openSession() {
    const answer = await this.#ask({ method: 'POST', path: '/api/session' });
    const session = this.#read(answer, shapes.Session);
    const [cookie] = [answer.headers['set-cookie'] ?? ''].flat();
    return { session, cookie: cookie?.split(';', 1)[0] ?? '' };
  }

  async endSession(): Promise<void> {
    const answer = await this.#ask({ method: 'DELETE', path: '/api/session' });
    if (answer.status !== 204) throw refusalFrom(answer, this.#connection.url);
  }

  /** The whole record as NDJSON, closed by a signed checkpoint. */
  async record(slug: string, signal?: AbortSignal): Promise<Readable> {
    const type = 'application/x-ndjson';
    const ask = { method: 'GET', path: `/api/chain/${part(slug)}/state`, query: { format: 'ndjson' } } as const;
    const { body } = await this.#connection.open(
      { ...ask, headers: { ...this.#credentials, accept: type } },
      type,
      signal,
    );
    return body;
  }

  /** Server-sent events behind a row of the record. */
  async stream(slug: string, afterSeq: number, signal: AbortSignal): Promise<Readable> {
    const type = 'text/event-stream';
    const headers = { ...this.#credentials, accept: type, 'last-event-id': String(afterSeq) };
    const ask = { method: 'GET', path: `/api/chain/${part(slug)}/stream`, headers } as const;
    const { body } = await this.#connection.open(ask, type, signal);
    return body;
  }

  /** A failure for what broke off while an open answer was read. */
  broken = (error: unknown): Failure => this.#connection.broken(error);

  async #get<S extends TSchema>(path: string, shape: S, query: Query = {}): Promise<Static<S>> {
    return this.#read(await this.#ask({ method: 'GET', path, query }), shape);
  }

  async #post<S extends TSchema>(path: string, shape: S, body?: object): Promise<Static<S>> {
    return this.#read(await this.#ask({ method: 'POST', path, ...(body === undefined ? {} : { body }) }), shape);
  }

  #ask(ask: Ask): Promise<Answer> {
    return this.#connection.ask({ ...ask, headers: { ...this.#credentials, ...ask.headers } });
  }

  #read<S extends TSchema>(answer: Answer, shape: S): Static<S> {
    if (answer.status < 200 || answer.status > 299) throw refusalFrom(answer, this.#connection.url);
    const read = reader(shape)(answer.body);
    if ('value' in read) return read.value;
    throw new Failure('answer_unreadable', {
      what: `The answer of ${this.#connection.url} cannot be read.`,
      why: `It does not look like one of this API: ${read.fault}.`,
      fix: 'Check that the address is that of a node, and that it has the version of this program.',
    });
  }
}

function contractPath(slug: string, id: string): string {
  return `/api/chain/${part(slug)}/contracts/${part(id)}`;
}

/**
 * One part of a path. Dots alone would walk up in it, however they are written.
 * @throws Failure `wrong_usage`
 */
function part(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw usageFailure(`"${name}" names nothing.`);
  return encodeURIComponent(name);
}
