// Checks the answers of a node against the schemas of its API. What does not fit is a Failure.
import type { Endpoint } from '../api/endpoint.js';
import { fitsSchema, schemaErrors } from '../schema/compile-schema.js';
import { Failure } from '../schema/failure.js';
import { faultsOf } from '../schema/schema-faults.js';
import { type Answering, ApiClient, type Credentials } from './api-client.js';
import { refusalFrom, unreadableAnswer } from './refusal.js';
import type { Transport } from './transport.js';

/**
 * A client whose calls throw Failure: `node_unreachable`, `answer_unreadable`, `wrong_usage` for an empty path parameter, or the refusal of
 * the node.
 * @param credentials asked for before each request; what it throws, the request throws
 */
export function checkedClient(transport: Transport, credentials?: () => Credentials): ApiClient {
  return new ApiClient(transport, checked, credentials);
}

const checked: Answering = {
  read(route, answer, url) {
    const declared = (route as Endpoint).answers[answer.status];
    const schema = declared?.schema && withUnknownFields(declared.schema);
    if (declared !== undefined && (schema === undefined || fitsSchema(schema, answer.body))) return answer.body;
    if (schema === undefined || answer.status >= 400) throw refusalFrom(answer, url);
    const [fault] = faultsOf(schema, schemaErrors(schema, answer.body));
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
  unreadable: (why, url) => unreadableAnswer(url, why),
};

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
