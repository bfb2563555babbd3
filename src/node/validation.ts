// Owns the check of what comes in against the schemas of its route, by TypeBox's compiled validators, without changing it: the one
// thing that is converted is the text of a query, by the types that its schema names. Leaves the words to schema/schema-faults.ts.
import type { FastifySchemaCompiler } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { Failure } from '../schema/failure.js';
import { compileSchema } from '../schema/json-schema.js';
import { faultsOf } from '../schema/schema-faults.js';

type Outcome = true | { readonly value: unknown } | { readonly error: Failure };

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  switch (httpPart) {
    case 'body':
      return bodyValidator(schema);
    case 'querystring':
      return queryValidator(schema as TObject);
    default:
      // Parameters are names to be looked up: one of the wrong shape is one that is not there.
      return () => true;
  }
};

function bodyValidator(schema: TSchema): (body: unknown) => Outcome {
  const compiled = compileSchema(schema);
  return (body) => {
    // Fastify hands over null where there was no body: the same as one without fields.
    const given = body ?? {};
    if (compiled.fits(given)) return body === null ? { value: given } : true;
    return { error: refusal('body', schema, compiled.errors(given)) };
  };
}

function queryValidator(schema: TObject): (query: unknown) => Outcome {
  const compiled = compileSchema(schema);
  const readers = Object.entries(schema.properties).flatMap(([name, property]) => {
    const read = readerFor((property as { readonly type?: unknown }).type);
    return read === undefined ? [] : [[name, read] as const];
  });
  return (given) => {
    const query = given as Record<string, unknown>;
    for (const [name, read] of readers) {
      const text = query[name];
      if (typeof text === 'string') query[name] = read(text);
    }
    return compiled.fits(query) ? true : { error: refusal('query', schema, compiled.errors(query)) };
  };
}

/** Turns a text into a value of the type; a text that is none stays what it is, and fails the check. */
function readerFor(type: unknown): ((text: string) => unknown) | undefined {
  switch (type) {
    case 'integer':
      return (text) => (/^-?\d{1,16}$/.test(text) ? Number(text) : text);
    case 'boolean':
      return (text) => ({ '': true, '1': true, true: true, '0': false, false: false })[text] ?? text;
    default:
      return undefined;
  }
}

export function refusal(part: 'body' | 'query', schema: TSchema, errors: Parameters<typeof faultsOf>[1]): Failure {
  const faults = faultsOf(schema, errors);
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  return new Failure('invalid_input', {
    what: `The ${part} was refused.`,
    ...(first === undefined ? {} : { why: `${first.path} ${first.message}${more}.` }),
    fix: 'GET /api/openapi.json describes what every route takes.',
    faults,
  });
}
