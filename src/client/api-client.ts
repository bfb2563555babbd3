// The endpoints of a node, called. What goes in and what comes out has the types of the endpoint's own schemas (src/api/).
//
//   const { machine } = await client.call(getMachine, { params: { slug: 'edge-gateway' } });
import type { Static, TSchema } from 'typebox';
import type { Endpoint, Shapes } from '../api/endpoint.js';
import { Failure } from '../schema/failure.js';
import { fitsSchema, schemaErrors } from '../schema/json-schema.js';
import { faultsOf } from '../schema/schema-faults.js';
import type { Answer, Ask, Connection } from './http.js';
import { refusalFrom } from './refusal.js';

/** The headers that say who asks; none for anyone. */
export type Credentials = Readonly<Record<string, string>>;

type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];

/** The same fields; those that may be missing may be undefined, too. */
type Loose<T> = { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: T[K] } & {
  readonly [K in OptionalKeys<T>]?: T[K] | undefined;
};

type Part<S, Key extends keyof Shapes, Name extends string> = S extends { readonly [K in Key]: infer T extends TSchema }
  ? { readonly [N in Name]: Loose<Static<T>> }
  : unknown;

/** A query may be left out: none of its fields is required. */
type QueryOf<S> = S extends { readonly querystring: infer T extends TSchema }
  ? { readonly query?: Loose<Static<T>> }
  : unknown;

/** What an endpoint is asked with: its path parameters, its query, its body. */
type AskOf<E extends Endpoint> = E extends { readonly shapes: infer S }
  ? [ask: Part<S, 'params', 'params'> & QueryOf<S> & Part<S, 'body', 'body'>]
  : [];

type Answers<E extends Endpoint> = E['answers'][keyof E['answers']];

/** What an endpoint answers: the union over the statuses that it declares. */
export type AnswerOf<E extends Endpoint> =
  Answers<E> extends infer A ? (A extends { readonly schema: infer S extends TSchema } ? Static<S> : undefined) : never;

interface AnyAsk {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export class ApiClient {
  readonly #connection: Connection;
  readonly #credentials: Credentials;

  constructor(connection: Connection, credentials: Credentials = {}) {
    this.#connection = connection;
    this.#credentials = credentials;
  }

  /**
   * Calls an endpoint and reads its answer. Every status that the endpoint declares is an answer: 429 of a gate is one.
   * @returns the body, with fields that its type does not know if a later version of the node sends some
   * @throws Failure `node_unreachable`, `answer_unreadable`, `wrong_usage` for an empty path parameter, or what the node refuses with
   */
  async call<E extends Endpoint>(endpoint: E, ...ask: AskOf<E>): Promise<AnswerOf<E>> {
    return (await this.exchange(endpoint, ...ask)).body;
  }

  /** As `call`, with the headers of the answer. */
  async exchange<E extends Endpoint>(
    endpoint: E,
    ...given: AskOf<E>
  ): Promise<{ readonly body: AnswerOf<E>; readonly headers: Answer['headers'] }> {
    const [ask] = given as readonly AnyAsk[];
    const answer = await this.#connection.ask(this.#asked(endpoint, ask));
    return { body: this.#read(endpoint, answer) as AnswerOf<E>, headers: answer.headers };
  }

  /**
   * Opens an endpoint whose answer is read piece by piece.
   * @param type media type that is asked for
   * @param signal ends the answer
   * @throws Failure as `call`; so does the iteration when the answer breaks off
   */
  open<E extends Endpoint>(
    endpoint: E,
    ask: AskOf<E>[0],
    type: string,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    return this.#connection.open(this.#asked(endpoint, ask, { accept: type }), type, signal);
  }

  #asked({ method, path }: Endpoint, ask: AnyAsk = {}, headers: Credentials = {}): Ask {
    const { params = {}, query = {}, body } = ask;
    return {
      method,
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(String(params[name]))),
      query,
      headers: { ...this.#credentials, ...headers },
      ...(body === undefined ? {} : { body }),
    };
  }

  #read(endpoint: Endpoint, answer: Answer): unknown {
    const declared = endpoint.answers[answer.status];
    const schema = declared?.schema && opened(declared.schema);
    if (declared !== undefined && (schema === undefined || fitsSchema(schema, answer.body))) return answer.body;
    if (schema === undefined || answer.status >= 400) throw refusalFrom(answer, this.#connection.url);
    const [fault] = faultsOf(schema, schemaErrors(schema, answer.body));
    throw new Failure('answer_unreadable', {
      what: `The answer of ${this.#connection.url} cannot be read.`,
      why: `It does not look like one of this API: ${fault?.path} ${fault?.message}.`,
      fix: 'Check that the address is that of a node, and that it has the version of this program.',
    });
  }
}

/** The same schema with unknown fields allowed: a later version of the node may send more. */
function opened<S>(schema: S): S {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(opened) as S;
  const { additionalProperties, ...rest } = schema as Record<string, unknown>;
  const entries = Object.entries(rest).map(([name, value]) => [name, name === 'enum' ? value : opened(value)]);
  const kept = additionalProperties === false || additionalProperties === undefined ? {} : { additionalProperties };
  return { ...Object.fromEntries(entries), ...kept } as S;
}

/**
 * One part of a path. Dots alone would climb it, however they are encoded.
 * @throws Failure `wrong_usage`
 */
function pathPart(name: string): string {
  if (!/^\.{0,2}$/.test(name)) return encodeURIComponent(name);
  throw new Failure('wrong_usage', {
    what: `"${name}" is no name.`,
    fix: 'See `weir --help`, or `weir <command> --help`.',
  });
}
