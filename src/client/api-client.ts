// A typed client of the node's API: requests and answers have the types of the endpoint's schemas (src/api/).
//
//   const { machine } = await client.call(getMachine, { params: { slug: 'edge-gateway' } });
//
//   ApiClient ── HttpTransport ─┬─ answers checked by their schemas, Failure      command line, live arm, connect(): checked-client.ts
//                               └─ answers taken as they are, WeirError           WeirClient: any runtime, no dependency
import type { Static, TSchema } from 'typebox';
import type { Endpoint, Shapes } from '../api/endpoint.js';
import type { HttpAnswer, HttpRequest, HttpTransport, TransportErrors } from './http-transport.js';

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

/** The answer of an endpoint: the union over the statuses that it declares. */
export type AnswerOf<E extends Endpoint> =
  Answers<E> extends infer A ? (A extends { readonly schema: infer S extends TSchema } ? Static<S> : undefined) : never;

export interface AnyAsk {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export type RouteAddress = Pick<Endpoint, 'method' | 'path'>;

export interface Answering extends TransportErrors {
  /** The body, if the status is one that the endpoint declares. Throws what the answer is otherwise. */
  read(route: RouteAddress, answer: HttpAnswer, url: string): unknown;
  /** The error for an empty path parameter, `.` and `..`. */
  wrongName(name: string): Error;
}

export type CallOptions = Pick<HttpRequest, 'signal' | 'resend' | 'timeoutMs' | 'headers'>;

export class ApiClient {
  readonly #transport: HttpTransport;
  readonly #answering: Answering;
  readonly #credentials: () => CredentialHeaders;

  /** @param credentials asked for before each request; what it throws, the request throws */
  constructor(transport: HttpTransport, answering: Answering, credentials: () => CredentialHeaders = () => ({})) {
    this.#transport = transport;
    this.#answering = answering;
    this.#credentials = credentials;
  }

  /**
   * Calls an endpoint and reads its answer. Every status that the endpoint declares is an answer, also 429 of a gate.
   * @returns the body; a later version of the node may send fields that its type does not have
   * @throws what the transport throws, and what `Answering` makes of the refusal of the node
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

  /**
   * Goes through the pages of a list: `next` of each is `after` of the one behind it. An answer without `next` is the only page.
   * @throws as `call`
   */
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
    const answer = await this.#transport.ask(this.#requestFor(route, ask, options));
    return { body: this.#answering.read(route, answer, this.#transport.url), headers: answer.headers };
  }

  /**
   * Opens an endpoint whose answer is a stream of bytes.
   * @param type media type to request
   * @param signal closes the stream
   * @throws what the transport throws; the iteration throws, too, if the connection breaks
   */
  async open(route: RouteAddress, ask: AnyAsk, type: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#transport.open(this.#requestFor(route, ask, { headers: { accept: type }, signal }), type);
  }

  unreadable(why: string): Error {
    return this.#answering.unreadable(this.#transport.url, why);
  }

  #requestFor(
    { method, path }: RouteAddress,
    { params = {}, query = {}, body }: AnyAsk,
    options: CallOptions,
  ): HttpRequest {
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
