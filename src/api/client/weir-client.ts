// `@weir/cli/client`: a client of a node on `fetch` alone, for any runtime, typed by the node's routes.
//
//   const weir = new WeirClient({ url: 'http://127.0.0.1:7770', key });
//   const { isAdmitted, retryAfterMs } = await weir.gate('edge-gateway', contractId);
import type { Static } from 'typebox';

import type { gate } from '../events.js';
import { type Answering, type AnswerOf, type AnyAsk, ApiClient, type CallOf, type CallOptions } from './api-client.js';
import { isReadable } from './base-url.js';
import { type BatchOptions, EventBatch, type WeirEvent } from './event-batch.js';
import { type CountsOption, follow, type StreamMessage } from './event-stream.js';
import { type FetchOptions, jitter, newIdempotencyKey } from './http-transport.js';
import { policyIn, rateLimitMsIn, retryAfterMsIn } from './limit-fields.js';
import { type Endpoints, routeOf } from './route-table.js';
import { answerUnreadable, errorFrom, nodeUnreachable, WeirError, wrongUsage } from './weir-error.js';

export type { BatchFigures, BatchOptions, EventBatch, WeirEvent } from './event-batch.js';
export type { StreamMessage } from './event-stream.js';
export { WeirError, type WeirProblem } from './weir-error.js';

export interface WeirClientOptions extends FetchOptions {
  /** Base address of the node, for example `https://example.org/weir`. */
  readonly url: string;
  /** API key. Default: the session of the page, or public routes only. */
  readonly key?: string | undefined;
  /** Whether the key may be sent by plain http to another machine. Default: false. */
  readonly insecure?: boolean | undefined;
}

type GateQuery = Static<typeof gate.shapes.querystring>;

export interface RequestOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of each attempt, in ms. Default: the client's. */
  readonly timeoutMs?: number | undefined;
}

export type GateOptions = RequestOptions & { readonly [Name in keyof GateQuery]?: GateQuery[Name] | undefined };

export type GateDecision = AnswerOf<typeof gate> & {
  readonly isAdmitted: boolean;
  /** Ms until a request is admitted if no other arrives; 0 for now, undefined for never. */
  readonly retryAfterMs: number | undefined;
  /** Undefined for a contract without a window. */
  readonly windowMs: number | undefined;
};

export interface EventOptions extends RequestOptions {
  /**
   * 1 to 128 printable ASCII characters without quotes. Calls with one key count once within the contract's window.
   * Default: random, for this call only.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface WeirFollowOptions {
  /** The last known row of the record. Default: 0, everything. */
  readonly afterSeq?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Contracts whose counts are streamed cycle by cycle, as messages `counts`. Default: none. */
  readonly counts?: CountsOption | undefined;
  readonly onPause?: ((waitMs: number) => void) | undefined;
}

/** Methods throw `WeirError`. Unanswered GETs and events are resent; gate requests are not, because each one counts. */
export class WeirClient {
  readonly #api: ApiClient;
  readonly events: WeirEvents;

  /** @throws WeirError `wrong_usage` for an invalid address or key */
  constructor({ url, key, insecure = false, ...options }: WeirClientOptions) {
    if (!URL.canParse(url) || !/^https?:\/\//.test(url)) throw wrongUsage(`"${url}" is not the address of a node.`);
    if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) throw wrongUsage('A key is one word of printable ASCII.');
    const base = url.replace(/\/+$/, '');
    const credentials = () => {
      if (key === undefined) return {};
      if (isReadable(base) && !insecure) throw insecureConnection(base);
      return { authorization: `Bearer ${key}` };
    };
    this.#api = new ApiClient(base, answering, { ...options, credentials });
    this.events = new WeirEvents(this, this.#api);
  }

  /**
   * Counts one request at a gate and decides it; `peek` counts nothing. A limited request is an answer, not an error.
   * @param machine its slug @param contract its id @throws WeirError
   */
  async gate(machine: string, contract: string, options: GateOptions = {}): Promise<GateDecision> {
    const { signal, timeoutMs, ...query } = options;
    const ask = { params: { slug: machine, contract_id: contract }, query };
    const isPeek = query.peek === true;
    const sent = { signal, timeoutMs, resend: isPeek ? 'unanswered' : 'never' } as const;
    const { body, headers } = await this.#api.send(routeOf(isPeek ? 'gate' : 'gateByPost'), ask, sent);
    const decision = body as AnswerOf<typeof gate>;
    const { retry_after_ms: ms, retry_after_cycles: cycles } = decision;
    const retryAfterMs = cycles === 0 ? 0 : (ms ?? rateLimitMsIn(headers) ?? retryAfterMsIn(headers));
    const { windowMs } = policyIn(headers);
    return { ...decision, isAdmitted: decision.decision === 'admitted', retryAfterMs, windowMs };
  }

  /** Counts an event in one contract or in all that listen to its type. @throws WeirError, e.g. `unknown_event_type` */
  async event(machine: string, event: WeirEvent, options: EventOptions = {}): Promise<AnswerOf<Endpoints['countOne']>> {
    const ask = { params: { slug: machine }, body: event };
    return (await this.#api.send(routeOf('countOne'), ask, onceOnly(options))).body as AnswerOf<Endpoints['countOne']>;
  }

  /** Every message once; reconnects with growing waits. @throws WeirError for the first connection, or a refusal */
  follow(
    machine: string,
    { afterSeq = 0, signal, counts, onPause = () => {} }: WeirFollowOptions = {},
  ): AsyncGenerator<StreamMessage> {
    const ended = signal ?? new AbortController().signal;
    return follow(this.#api, machine, {
      afterSeq,
      signal: ended,
      onPause,
      counts,
      jitter,
    });
  }

  /** Calls any route by its name: `weir.call('getContract', { params: { slug, contract_id } })`. @throws WeirError */
  async call<Name extends keyof Endpoints>(
    name: Name,
    ...[ask, options]: CallOf<Endpoints[Name], RequestOptions>
  ): Promise<AnswerOf<Endpoints[Name]>> {
    const route = routeOf(name);
    const resend =
      name === 'gate' || name === 'gateByPost' ? 'never' : route.method === 'GET' ? 'unanswered' : 'refused';
    const sent = await this.#api.send(route, ask as AnyAsk | undefined, { ...options, resend });
    return sent.body as AnswerOf<Endpoints[Name]>;
  }

  /**
   * Yields the pages of a list, one request each, from the page after `query.after`. @throws WeirError
   * `for await (const { contracts } of weir.pages('listContracts', { params: { slug } })) …`
   */
  pages<Name extends PagedName>(
    name: Name,
    ...[ask, options]: CallOf<Endpoints[Name], RequestOptions>
  ): AsyncGenerator<AnswerOf<Endpoints[Name]>, void> {
    return this.#api.pages(routeOf(name), ask as AnyAsk | undefined, { ...options, resend: 'unanswered' });
  }
}

type PagedName = {
  [Name in keyof Endpoints]: 'next' extends keyof AnswerOf<Endpoints[Name]> ? Name : never;
}[keyof Endpoints];

class WeirEvents {
  readonly #client: WeirClient;
  readonly #api: ApiClient;

  constructor(client: WeirClient, api: ApiClient) {
    this.#client = client;
    this.#api = api;
  }

  /** Counts up to 1,000 events in one request; `outcomes` says which were refused. @throws WeirError */
  async send(
    machine: string,
    events: readonly WeirEvent[],
    options: EventOptions = {},
  ): Promise<AnswerOf<Endpoints['countMany']>> {
    const ask = { params: { slug: machine }, body: events };
    return (await this.#api.send(routeOf('countMany'), ask, onceOnly(options))).body as AnswerOf<
      Endpoints['countMany']
    >;
  }

  /** A bounded buffer of events that sends while the contracts admit, and waits while they limit. */
  batch(machine: string, options: BatchOptions = {}): EventBatch {
    const client = this.#client;
    const source = {
      send: (events: readonly WeirEvent[], given: EventOptions) => this.send(machine, events, given),
      cycleMs: async () => (await client.call('readClock')).cycle_ms,
      follow: async function* (signal: AbortSignal) {
        const { head } = (await client.call('getMachine', { params: { slug: machine } }, { signal })).machine;
        yield* client.follow(machine, { afterSeq: head.seq, signal });
      },
    };
    return new EventBatch(source, options);
  }
}

const answering: Answering = {
  read(_route, answer, url) {
    const { status, body } = answer;
    if (status >= 200 && status < 300) return body;
    // A limited request is an answer of the gate.
    if (status === 429 && (body as { decision?: unknown } | undefined)?.decision === 'limited') return body;
    throw errorFrom(url, answer);
  },
  wrongName: (name) => wrongUsage(`"${name}" is not a valid name.`),
  refused: errorFrom,
  unreadable: answerUnreadable,
  unreachable: nodeUnreachable,
};

function onceOnly({ idempotencyKey = newIdempotencyKey(), ...options }: EventOptions): CallOptions {
  if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(idempotencyKey))
    throw wrongUsage('An idempotency key is 1 to 128 printable ASCII characters without quotes.');
  return { ...options, resend: 'unanswered', headers: { 'idempotency-key': `"${idempotencyKey}"` } };
}

function insecureConnection(url: string): WeirError {
  const detail = `No key was sent to ${url}: it is another machine, and plain http. Use https, or \`insecure: true\`.`;
  return new WeirError({ code: 'insecure_connection', status: 0, title: 'The connection is not encrypted', detail });
}
