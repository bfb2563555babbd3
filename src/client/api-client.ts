// A typed client of the node's API: requests and answers have the types of the endpoint's schemas (src/api/).
//
//   const { machine } = await client.call(getMachine, { params: { slug: 'edge-gateway' } });
//
//   ApiClient ─┬─ Connection (undici), answers checked by their schemas, Failure      command line, live arm, connect()
//              └─ FetchTransport, answers taken as they are, WeirError                WeirClient: any runtime, no dependency
import type { Static, TSchema } from 'typebox';
import type { Endpoint, Shapes } from '../api/endpoint.js';
import type { Answer, Ask, Transport } from './transport.js';

/** Headers that authenticate the caller; empty without credentials. */
export type Credentials = Readonly<Record<string, string>>;

type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];

/** The same fields, where optional ones may also be undefined. */
type Loose<T> = { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: T[K] } & {
  readonly [K in OptionalKeys<T>]?: T[K] | undefined;
};

type Part<S, Key extends keyof Shapes, Name extends string> = S extends { readonly [K in Key]: infer T extends TSchema }
  ? { readonly [N in Name]: Loose<Static<T>> }
  : unknown;

/** A query is optional: none of its fields is required. */
type QueryOf<S> = S extends { readonly querystring: infer T extends TSchema }
  ? { readonly query?: Loose<Static<T>> }
  : unknown;

type Asked<S> = Part<S, 'params', 'params'> & QueryOf<S> & Part<S, 'body', 'body'>;

/** The request of an endpoint: path parameters, query, body. It may be left out where none of them is required. */
export type AskOf<E extends Endpoint> = E extends { readonly shapes: infer S }
  ? Record<never, never> extends Asked<S>
    ? [ask?: Asked<S>]
    : [ask: Asked<S>]
  : [];

type Answers<E extends Endpoint> = E['answers'][keyof E['answers']];

/** The answer of an endpoint: the union over the statuses that it declares. */
export type AnswerOf<E extends Endpoint> =
  Answers<E> extends infer A ? (A extends { readonly schema: infer S extends TSchema } ? Static<S> : undefined) : never;

export interface AnyAsk {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** The same request for the page behind another one. */
export function behind(ask: AnyAsk | undefined, after: unknown): AnyAsk | undefined {
  return after === undefined ? ask : { ...ask, query: { ...ask?.query, after } };
}

/** Asks for page after page. */
export async function* pagesOf<Page>(
  ask: (after: unknown) => Promise<{ readonly body: Page }>,
): AsyncGenerator<Page, void> {
  for (let after: unknown; ; ) {
    const { body } = await ask(after);
    yield body;
    after = (body as { readonly next?: unknown }).next;
    if (after === undefined) return;
  }
}

/** Method and path of an endpoint: all that a request needs of it. */
export type Route = Pick<Endpoint, 'method' | 'path'>;

/** What becomes of an answer, and of a name that is none. */
export interface Answering {
  /** The body, if the status is one that the endpoint declares. Throws what the answer is otherwise. */
  read(route: Route, answer: Answer, url: string): unknown;
  /** The error for an empty path parameter, `.` and `..`. */
  wrongName(name: string): Error;
  /** The error for an answer that is not one of a node. */
  unreadable(why: string, url: string): Error;
}

/** What a single call may set. */
export type CallOptions = Pick<Ask, 'signal' | 'isSafe' | 'timeoutMs' | 'headers'>;

export class ApiClient {
  readonly #transport: Transport;
  readonly #answering: Answering;
  readonly #credentials: () => Credentials;

  /** @param credentials asked for before each request; what it throws, the request throws */
  constructor(transport: Transport, answering: Answering, credentials: () => Credentials = () => ({})) {
    this.#transport = transport;
    this.#answering = answering;
    this.#credentials = credentials;
  }

  /**
   * Calls an endpoint and reads its answer. Every status that the endpoint declares is an answer, also 429 of a gate.
   * @returns the body; a later version of the node may send fields that its type does not have
   * @throws what the transport throws, and what `Answering` makes of the refusal of the node
   */
  async call<E extends Endpoint>(endpoint: E, ...ask: AskOf<E>): Promise<AnswerOf<E>> {
    return (await this.exchange(endpoint, ...ask)).body;
  }

  /** Like `call`, but returns the headers of the answer, too. */
  async exchange<E extends Endpoint>(
    endpoint: E,
    ...given: AskOf<E>
  ): Promise<{ readonly body: AnswerOf<E>; readonly headers: Answer['headers'] }> {
    const [ask] = given as readonly AnyAsk[];
    return this.send(endpoint, ask) as Promise<{ body: AnswerOf<E>; headers: Answer['headers'] }>;
  }

  /**
   * Goes through the pages of a list: `next` of each is `after` of the one behind it. An answer without `next` is the only page.
   * @throws as `call`
   */
  async *pages<E extends Endpoint>(endpoint: E, ...given: AskOf<E>): AsyncGenerator<AnswerOf<E>, void> {
    const [ask] = given as readonly AnyAsk[];
    yield* pagesOf((after) => this.send(endpoint, behind(ask, after)) as Promise<{ body: AnswerOf<E> }>);
  }

  /** Like `exchange`, for a route whose types the caller knows. */
  async send(route: Route, ask: AnyAsk = {}, options: CallOptions = {}) {
    const answer = await this.#transport.ask(this.#requestFor(route, ask, options));
    return { body: this.#answering.read(route, answer, this.#transport.url), headers: answer.headers };
  }

  /**
   * Opens an endpoint whose answer is a stream of bytes.
   * @param type media type to request
   * @param signal closes the stream
   * @throws what the transport throws; the iteration throws, too, if the connection breaks
   */
  async open(route: Route, ask: AnyAsk, type: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#transport.open(this.#requestFor(route, ask, { headers: { accept: type }, signal }), type);
  }

  unreadable(why: string): Error {
    return this.#answering.unreadable(why, this.#transport.url);
  }

  #requestFor({ method, path }: Route, { params = {}, query = {}, body }: AnyAsk, options: CallOptions): Ask {
    return {
      ...options,
      method,
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => this.#pathPart(String(params[name]))),
      query,
      headers: { ...this.#credentials(), ...options.headers },
      ...(body === undefined ? {} : { body }),
    };
  }

  /** One segment of a path. `.` and `..` are refused: they would name another path, even when encoded. */
  #pathPart(name: string): string {
    if (/^\.{0,2}$/.test(name)) throw this.#answering.wrongName(name);
    return encodeURIComponent(name);
  }
}
