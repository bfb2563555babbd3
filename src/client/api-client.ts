// A typed client of the node's API: requests and answers have the types of the endpoint's schemas (src/api/).
//
//   const { machine } = await client.call(getMachine, { params: { slug: 'edge-gateway' } });
import type { Static, TSchema } from 'typebox';
import type { Endpoint, Shapes } from '../api/endpoint.js';
import { fitsSchema, schemaErrors } from '../schema/compile-schema.js';
import { Failure } from '../schema/failure.js';
import { faultsOf } from '../schema/schema-faults.js';
import type { Answer, Ask, Connection } from './http.js';
import { refusalFrom } from './refusal.js';

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

/** The request of an endpoint: path parameters, query, body. */
type AskOf<E extends Endpoint> = E extends { readonly shapes: infer S }
  ? [ask: Part<S, 'params', 'params'> & QueryOf<S> & Part<S, 'body', 'body'>]
  : [];

type Answers<E extends Endpoint> = E['answers'][keyof E['answers']];

/** The answer of an endpoint: the union over the statuses that it declares. */
export type AnswerOf<E extends Endpoint> =
  Answers<E> extends infer A ? (A extends { readonly schema: infer S extends TSchema } ? Static<S> : undefined) : never;

interface AnyAsk {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export class ApiClient {
  readonly #connection: Connection;
  readonly #credentials: () => Credentials;

  /** @param credentials asked for before each request; what it throws, the request throws */
  constructor(connection: Connection, credentials: () => Credentials = () => ({})) {
    this.#connection = connection;
    this.#credentials = credentials;
  }

  /**
   * Calls an endpoint and reads its answer. Every status that the endpoint declares is an answer, also 429 of a gate.
   * @returns the body; a later version of the node may send fields that its type does not have
   * @throws Failure `node_unreachable`, `answer_unreadable`, `wrong_usage` for an empty path parameter, or the refusal of the node
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
    const answer = await this.#connection.ask(this.#requestFor(endpoint, ask));
    return { body: this.#read(endpoint, answer) as AnswerOf<E>, headers: answer.headers };
  }

  /**
   * Opens an endpoint whose answer is a stream of bytes.
   * @param type media type to request
   * @param signal closes the stream
   * @throws Failure like `call`; the iteration throws, too, if the connection breaks
   */
  async open<E extends Endpoint>(
    endpoint: E,
    ask: AskOf<E>[0],
    type: string,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    return this.#connection.open(this.#requestFor(endpoint, ask, { accept: type }), type, signal);
  }

  #requestFor({ method, path }: Endpoint, ask: AnyAsk = {}, headers: Credentials = {}): Ask {
    const { params = {}, query = {}, body } = ask;
    return {
      method,
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(String(params[name]))),
      query,
      headers: { ...this.#credentials(), ...headers },
      ...(body === undefined ? {} : { body }),
    };
  }

  #read(endpoint: Endpoint, answer: Answer): unknown {
    const declared = endpoint.answers[answer.status];
    const schema = declared?.schema && withUnknownFields(declared.schema);
    if (declared !== undefined && (schema === undefined || fitsSchema(schema, answer.body))) return answer.body;
    if (schema === undefined || answer.status >= 400) throw refusalFrom(answer, this.#connection.url);
    const [fault] = faultsOf(schema, schemaErrors(schema, answer.body));
    throw new Failure('answer_unreadable', {
      what: `The answer of ${this.#connection.url} cannot be read.`,
      why: `It does not match the API: ${fault?.path} ${fault?.message}.`,
      fix: 'Check that the address is that of a node, and that it has the version of this program.',
    });
  }
}

/** The same schema with unknown fields allowed: a later version of the node may send more. */
function withUnknownFields<S>(schema: S): S {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withUnknownFields) as S;
  const { additionalProperties, ...rest } = schema as Record<string, unknown>;
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    name === 'enum' ? value : withUnknownFields(value),
  ]);
  const kept = additionalProperties === false || additionalProperties === undefined ? {} : { additionalProperties };
  return { ...Object.fromEntries(entries), ...kept } as S;
}

/**
 * One segment of a path. `.` and `..` are refused: they would name another path, even when encoded.
 * @throws Failure `wrong_usage`
 */
function pathPart(name: string): string {
  if (!/^\.{0,2}$/.test(name)) return encodeURIComponent(name);
  throw new Failure('wrong_usage', {
    what: `"${name}" is not a valid name.`,
    fix: 'See `weir --help`, or `weir <command> --help`.',
  });
}
