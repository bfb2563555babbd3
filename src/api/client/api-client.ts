// A typed client of the node's API on `fetch`, for Node, Deno, Bun, workers and browsers. The types come from the schemas in src/api/.
//
//   const { machine } = await client.call(getMachine, { params: { slug: 'edge-gateway' } });
//
//   ApiClient ─┬─ answers checked by their schemas, Failure      command line, live arm: checked-client.ts
//              └─ answers taken as they are, WeirError           WeirClient: any runtime, no dependency
//
//   attempt ─► no answer, or 408, 429, 502, 503, 504 ─► wait ─► attempt ─► …          if the request may be sent again
//   wait     = min(longestWaitMs, Retry-After + random · min(longestWaitMs, FIRST_WAIT_MS · 2^attempt))
//
// The random part is full jitter: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. No retry if Retry-After >
// `longestWaitMs`.
import type { Static, TSchema } from 'typebox';
import { pause } from '../../core/time/wall.js';
import type { Endpoint, RouteAddress, Shapes } from '../endpoint.js';
import {
  type FetchOptions,
  type HttpAnswer,
  jitter,
  piecesOf,
  readable,
  SILENCE_MS,
  within,
} from './http-transport.js';
import { retryAfterMsIn } from './limit-fields.js';

export type CredentialHeaders = Readonly<Record<string, string>>;

type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];

type Loose<T> = { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: T[K] } & {
  readonly [K in OptionalKeys<T>]?: T[K] | undefined;
};

type Part<S, Key extends keyof Shapes, Name extends string> = S extends { readonly [K in Key]: infer T extends TSchema }
  ? { readonly [N in Name]: Loose<Static<T>> }
  : unknown;

type QueryOf<S> = S extends { readonly querystring: infer T extends TSchema }
  ? { readonly query?: Loose<Static<T>> }
  : unknown;

type Asked<S> = Part<S, 'params', 'params'> & QueryOf<S> & Part<S, 'body', 'body'>;

type AskOf<E extends Endpoint> = E extends { readonly shapes: infer S }
  ? Record<never, never> extends Asked<S>
    ? [ask?: Asked<S>]
    : [ask: Asked<S>]
  : [];

export type CallOf<E extends Endpoint, Options = CallOptions> =
  AskOf<E> extends [] ? [ask?: undefined, options?: Options] : [...AskOf<E>, options?: Options];

type Answers<E extends Endpoint> = E['answers'][keyof E['answers']];

export type AnswerOf<E extends Endpoint> =
  Answers<E> extends infer A ? (A extends { readonly schema: infer S extends TSchema } ? Static<S> : undefined) : never;

export interface AnyAsk {
  readonly params?: Readonly<Record<string, unknown>>;
  /** Undefined fields are not sent. */
  readonly query?: Readonly<Record<string, unknown>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface Answering {
  /** Returns the body if the endpoint declares the status, otherwise throws. */
  read(route: RouteAddress, answer: HttpAnswer, url: string): unknown;
  /** The error for an empty path parameter, `.` and `..`. */
  wrongName(name: string): Error;
  unreachable(url: string, why: string, cause: unknown): Error;
  unreadable(url: string, why: string): Error;
  /** The error for a stream request with a status other than 200. */
  refused(url: string, answer: HttpAnswer): Error;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** `refused`: resend if overloaded. `unanswered`: also after no answer or a transient error. Default: `refused`. */
  readonly resend?: 'never' | 'refused' | 'unanswered' | undefined;
  /** Time limit for the whole answer, in ms. Default: the client's. */
  readonly timeoutMs?: number | undefined;
}

interface ClientOptions extends FetchOptions {
  /** Called before each request; the request rejects with what it throws. */
  readonly credentials?: () => CredentialHeaders;
}

const FIRST_WAIT_MS = 200;
const LONGEST_ANSWER = 64 << 20;

const transientStatuses = new Set([408, 429, 502, 503, 504]);

type RawAnswer = Omit<HttpAnswer, 'body'> & { readonly text: string };

export class ApiClient {
  readonly #answering: Answering;
  readonly #options: Required<{ [Name in keyof ClientOptions]: NonNullable<ClientOptions[Name]> }>;

  constructor(
    readonly url: string,
    answering: Answering,
    {
      credentials = () => ({}),
      fetch: send = (input, init) => fetch(input, init),
      timeoutMs = 10_000,
      retries = 3,
      longestWaitMs = 10_000,
    }: ClientOptions = {},
  ) {
    this.#answering = answering;
    this.#options = { credentials, fetch: send, timeoutMs, retries, longestWaitMs };
  }

  /**
   * Every status that the endpoint declares is an answer, also 429 of a gate. A newer node may send fields that the type lacks.
   * @throws what `Answering` makes of a refusal or of no answer; the signal's reason if aborted
   */
  async call<E extends Endpoint>(endpoint: E, ...ask: CallOf<E>): Promise<AnswerOf<E>> {
    return (await this.exchange(endpoint, ...ask)).body;
  }

  async exchange<E extends Endpoint>(
    endpoint: E,
    ...[ask, options]: CallOf<E>
  ): Promise<{ readonly body: AnswerOf<E>; readonly headers: HttpAnswer['headers'] }> {
    const { body, headers } = await this.send(endpoint, ask as AnyAsk | undefined, options);
    return { body: body as AnswerOf<E>, headers };
  }

  /** Pages of a list: `next` of one is `after` of the following; without `next` it is the last. @throws as `call` */
  async *pages<Page>(route: RouteAddress, ask: AnyAsk = {}, options?: CallOptions): AsyncGenerator<Page, void> {
    for (let { query } = ask; ; ) {
      const { body } = await this.send(route, { ...ask, ...(query === undefined ? {} : { query }) }, options);
      yield body as Page;
      const { next: after } = body as { readonly next?: unknown };
      if (after === undefined) return;
      query = { ...query, after };
    }
  }

  async send(route: RouteAddress, ask: AnyAsk = {}, options: CallOptions = {}) {
    const { signal, resend = 'refused', timeoutMs = this.#options.timeoutMs } = options;
    const { retries, longestWaitMs } = this.#options;
    const request = this.#request(route, ask, options);
    for (let attempt = 0; ; attempt += 1) {
      const isLast = resend === 'never' || attempt >= retries;
      const reading = request(AbortSignal.timeout(timeoutMs)).then((response) => this.#read(response));
      const answer = await this.#settled(reading, signal).catch((error: unknown) => {
        if (isLast || resend !== 'unanswered' || signal?.aborted) throw error;
      });
      let retryAfterMs = 0;
      if (answer !== undefined) {
        retryAfterMs = retryAfterMsIn(answer.headers) ?? (resend === 'unanswered' ? 0 : Number.POSITIVE_INFINITY);
        if (isLast || retryAfterMs > longestWaitMs || !isTransient(answer, resend))
          return { body: this.#answering.read(route, this.#parsed(answer), this.url), headers: answer.headers };
      }
      const backoffMs = Math.min(longestWaitMs, FIRST_WAIT_MS * 2 ** attempt);
      await pause(Math.min(longestWaitMs, retryAfterMs + jitter() * backoffMs), signal);
      signal?.throwIfAborted();
    }
  }

  /** A stream of bytes; iterating throws if the connection breaks. @param type required media type @throws as `call` */
  async open(route: RouteAddress, ask: AnyAsk, type: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const late = new AbortController();
    const request = this.#request(route, ask, { headers: { accept: type }, signal });
    const response = await this.#settled(within(this.#options.timeoutMs, request(late.signal), late), signal);
    if (response.status !== 200) {
      const answer = this.#parsed(await this.#settled(this.#read(response), signal));
      throw this.#answering.refused(this.url, answer);
    }
    const given = response.headers.get('content-type');
    if (given?.startsWith(type) && response.body !== null) return this.#pieces(response.body, late, signal);
    late.abort();
    throw this.unreadable(`It is ${given ?? 'of no type'} and not ${type}.`);
  }

  unreadable(why: string): Error {
    return this.#answering.unreadable(this.url, why);
  }

  #request(
    { method, path }: RouteAddress,
    { params = {}, query = {}, body }: AnyAsk,
    { headers, signal }: CallOptions,
  ): (late: AbortSignal) => Promise<Response> {
    const url = new URL(
      this.url + path.replace(/\{(\w+)\}/g, (_, name: string) => this.#pathPart(String(params[name]))),
    );
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const sent = {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.#options.credentials(),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      // A node never redirects, and the key must not reach another address.
      redirect: 'manual',
    } as const;
    return (late) =>
      this.#options.fetch(url.href, { ...sent, signal: signal === undefined ? late : AbortSignal.any([signal, late]) });
  }

  /** One path segment. `.` and `..` are refused: they name another path even when encoded. */
  #pathPart(name: string): string {
    if (/^\.{0,2}$/.test(name)) throw this.#answering.wrongName(name);
    return encodeURIComponent(name);
  }

  async #read({ status, headers, body }: Response): Promise<RawAnswer> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of body === null ? [] : piecesOf(body)) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > LONGEST_ANSWER) throw this.unreadable(`It has more than ${LONGEST_ANSWER} characters.`);
    }
    return { status, headers: Object.fromEntries(headers), text };
  }

  #parsed({ status, headers, text }: RawAnswer): HttpAnswer {
    // A browser shows a redirect with status 0.
    if (status === 0 || (status >= 300 && status < 400))
      throw this.unreadable(`It redirects to ${readable(headers['location'] ?? 'another address')}.`);
    if (text === '') return { status, headers, body: undefined };
    try {
      return { status, headers, body: JSON.parse(text) };
    } catch {
      throw this.unreadable(
        `It has status ${status} and is not JSON: it begins with "${readable(text.slice(0, 80))}".`,
      );
    }
  }

  async *#pieces(
    body: ReadableStream<Uint8Array>,
    late: AbortController,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* piecesOf(body, (next) => within(SILENCE_MS, next, late));
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  #settled<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return promise.catch((error: unknown) => {
      throw this.#failure(error, signal);
    });
  }

  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if ((error as { code?: unknown }).code === 'answer_unreadable') return error;
    const { name, message } = error as Error;
    const why = name === 'TimeoutError' ? 'No answer arrived in time.' : `${message}.`;
    return this.#answering.unreachable(this.url, why, error);
  }
}

function isTransient({ status, text }: RawAnswer, resend: CallOptions['resend']): boolean {
  return resend === 'unanswered' ? transientStatuses.has(status) : status === 503 && text.includes('"node_overloaded"');
}
