// Checks the body and the query of a request against the schemas of its route.
import type { FastifySchemaCompiler } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { compileSchema } from '../core/schema/compile-schema.js';
import type { Failure } from '../core/schema/failure.js';
import { valueFaults } from '../core/schema/value-faults.js';
import { refusal } from './problem.js';

type Outcome = true | { readonly value: unknown } | { readonly error: Failure };

/** Path parameters are not checked: a malformed name is simply not found. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema) : queryValidator(schema as TObject);

function bodyValidator(schema: TSchema): (body: unknown) => Outcome {
  const fits = compileSchema(schema);
  return (body) => {
    // Fastify passes null for an absent body; it counts as one without fields.
    const given = body ?? {};
    if (fits(given)) return body === null ? { value: given } : true;
    return { error: refusal('body', valueFaults(schema, given)) };
  };
}

function queryValidator(schema: TObject): (query: unknown) => Outcome {
  const fits = compileSchema(schema);
  const readers = Object.entries(schema.properties).flatMap(([name, property]) => {
    const read = readerFor((property as { readonly type?: unknown }).type);
    return read === undefined ? [] : [[name, read] as const];
  });
  const fitsEmpty = fits({});
  return (given) => {
    const query = given as Record<string, unknown>;
    if (fitsEmpty && isEmpty(query)) return true;
    for (const [name, read] of readers) {
      const text = query[name];
      if (typeof text === 'string') query[name] = read(text);
    }
    return fits(query) ? true : { error: refusal('query', valueFaults(schema, query)) };
  };
}

function isEmpty(query: object): boolean {
  for (const _name in query) return false;
  return true;
}

const booleans = new Map([
  ...['', '1', 'true'].map((text) => [text, true] as const),
  ...['0', 'false'].map((text) => [text, false] as const),
]);

function readerFor(type: unknown): ((text: string) => unknown) | undefined {
  switch (type) {
    case 'integer':
      return (text) => (/^-?\d{1,300}$/.test(text) ? Number(text) : text);
    case 'boolean':
      return (text) => booleans.get(text) ?? text;
    default:
      return undefined;
  }
}
