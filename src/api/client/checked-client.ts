// The client of the command line and of Node programs: it checks answers against the API schemas and throws Failure.
import type { TSchema } from 'typebox';
import { Agent, fetch as undiciFetch } from 'undici';
import { reader } from '../../core/record/shape.js';
import { fitsSchema } from '../../core/schema/compile-schema.js';
import { catalogue, Failure, type FailureCode } from '../../core/schema/failure.js';
import { shape } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { valueFaults } from '../../core/schema/value-faults.js';
import { VERSION } from '../../core/version.js';
import type { Endpoint } from '../endpoint.js';
import { type Answering, ApiClient, type CredentialHeaders } from './api-client.js';
import { type HttpAnswer, readable, SILENCE_MS } from './http-transport.js';

const CONNECT_MS = 5_000;

export class NodeConnection {
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });

  constructor(readonly url: string) {}

  /** Calls throw Failure `node_unreachable`, `answer_unreadable`, `wrong_usage` (empty path name), or the refusal. */
  client(credentials: () => CredentialHeaders = () => ({})): ApiClient {
    return new ApiClient(this.url, checked, {
      fetch: (input, init) => undiciFetch(input, { ...init, dispatcher: this.#agent }),
      timeoutMs: SILENCE_MS,
      credentials: () => ({ 'user-agent': `weir/${VERSION}`, ...credentials() }),
    });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

const checked: Answering = {
  read(route, answer, url) {
    const declared = (route as Endpoint).answers[answer.status];
    const schema = declared?.schema && openOf(declared.schema);
    if (declared !== undefined && (schema === undefined || fitsSchema(schema, answer.body))) return answer.body;
    if (schema === undefined || answer.status >= 400) throw refusalFrom(url, answer);
    const [fault] = valueFaults(schema, answer.body);
    throw new Failure('answer_unreadable', {
      what: `The answer of ${url} cannot be read.`,
      why: `It does not match the API: ${fault?.path} ${fault?.message}.`,
      fix: 'Check that the address is that of a node, and that it has the version of this program.',
    });
  },
  wrongName: (name) =>
    new Failure('wrong_usage', {
      what: `"${name}" is not a valid name.`,
      fix: 'See `weir --help`, or `weir <command> --help`.',
    }),
  refused: refusalFrom,
  unreadable,
  unreachable(url, why, error) {
    // Node's `fetch` gives the reason in the cause.
    const { cause = error } = error as Error;
    const { name, code, message } = cause as NodeJS.ErrnoException;
    if (name === 'HTTPParserError') return unreadable(url, 'It is not HTTP.');
    return new Failure('node_unreachable', {
      what: `The node at ${url} could not be reached.`,
      why: cause === error ? why : reasonOf(code, message),
      fix: 'Start it with `weir serve`, or give its address with --url or WEIR_URL.',
      cause,
    });
  },
};

function reasonOf(code: string | undefined, message: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'No program listens on that address (ECONNREFUSED).';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name is not known (${code}).`;
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `No connection was made within ${CONNECT_MS / 1000} s.`;
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return `Nothing was received for ${SILENCE_MS / 1000} s.`;
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
    case 'UND_ERR_ABORTED':
      return 'The connection broke off.';
    default:
      return `${readable(message).replace(/\.$/, '')}${code === undefined ? '' : ` (${code})`}.`;
  }
}

const open = new WeakMap<TSchema, TSchema>();

/** The schema with unknown fields allowed: a newer node may send more. */
function openOf(schema: TSchema): TSchema {
  const known = open.get(schema) ?? withUnknownFields(schema);
  open.set(schema, known);
  return known;
}

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

const NODE_FAILED = 5;

const readProblem = reader(
  shape({
    title: Type.String(),
    detail: Type.String(),
    code: Type.String(),
    'errors?': Type.Array(shape({ path: Type.String(), message: Type.String() })),
  }),
);

/** A refusal by the node. Its exit code separates errors of the caller (4xx) from errors of the node (5xx). */
class Refusal extends Failure {
  constructor(
    code: FailureCode,
    parts: ConstructorParameters<typeof Failure>[1],
    readonly answeredStatus: number,
  ) {
    super(code, parts);
  }

  override get exit(): number {
    return this.answeredStatus >= 500 ? NODE_FAILED : super.exit;
  }
}

function refusalFrom(url: string, { status, body }: HttpAnswer): Failure {
  const read = readProblem(body);
  if ('fault' in read) return unreadable(url, `It has status ${status} and is not a problem document: ${read.fault}.`);
  const { code, title, detail, errors = [] } = read.value;
  const faults = errors.map(({ path, message }) => ({ path: readable(path), message: readable(message) }));
  if (Object.hasOwn(catalogue, code)) {
    return new Refusal(code as FailureCode, { ...partsOf(readable(detail)), faults }, status);
  }
  return new Failure('answer_unreadable', {
    what: `The node refused with the code ${readable(code)}, which this version does not know: ${readable(title)}.`,
    why: readable(detail),
    fix: 'Use the same version of this program as the node.',
    faults,
  });
}

function unreadable(url: string, why: string): Failure {
  return new Failure('answer_unreadable', {
    what: `The answer of ${url} cannot be read.`,
    why,
    fix: 'Check that the address is that of a node; a proxy may have answered in its place.',
  });
}

/** Splits a detail of three or more sentences into what, why and fix. The roles in shorter ones are unknown. */
function partsOf(detail: string): { readonly what: string; readonly why?: string; readonly fix?: string } {
  const sentences = detail.split(/(?<=[.?!]) (?=[A-Z`"])/);
  if (sentences.length < 3) return { what: detail };
  return { what: sentences[0]!, why: sentences.slice(1, -1).join(' '), fix: sentences.at(-1)! };
}
