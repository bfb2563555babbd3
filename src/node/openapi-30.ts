// The OpenAPI document for those that read 3.0 and nothing newer: many generators and gateways. It says the same as the one in 3.1, but for
// constants that are no text, which 3.0 cannot state without breaking generated clients: of them the type is left.
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Schema = { [name: string]: Json };

/** Below these stand values, not schemas. */
const VALUES = new Set(['example', 'default', 'enum']);

/** The same document as OpenAPI 3.0.3. @param document in OpenAPI 3.1, as the node makes it */
export function asOpenApi30(document: object): object {
  const { info, ...rest } = converted(document as Schema) as Schema;
  const { license, ...about } = info as Schema;
  // In 3.0 a licence has no identifier, only a place.
  const { name } = license as { name: string };
  return { ...rest, openapi: '3.0.3', info: { ...about, license: { name } } };
}

function converted(value: Json): Json {
  if (Array.isArray(value)) return value.map(converted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, VALUES.has(name) ? one : converted(one)]);
  return withoutPatterns(withoutNull(withoutConst(Object.fromEntries(entries))));
}

function withoutConst(schema: Schema): Schema {
  const { const: constant, ...rest } = schema;
  // A schema called const, among the properties of another, stays.
  if (constant === undefined || typeof constant === 'object') return schema;
  if (typeof constant === 'string') return { type: 'string', ...rest, enum: [constant] };
  return { type: typeof constant, ...rest };
}

/** Any name takes the place of those that a pattern describes. */
function withoutPatterns(schema: Schema): Schema {
  const { patternProperties, ...rest } = schema;
  const [pattern] = Object.values((patternProperties ?? {}) as Schema);
  return typeof pattern === 'object' ? { ...rest, additionalProperties: pattern } : schema;
}

function withoutNull(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const others = (anyOf as Schema[]).filter(({ type }) => type !== 'null');
  if (others.length === anyOf.length) return schema;
  const [only] = others;
  return others.length === 1 && only?.['$ref'] === undefined
    ? { ...rest, ...only, nullable: true }
    : { ...rest, anyOf: others, nullable: true };
}
