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
  const schema: Schema = {};
  for (const [name, one] of Object.entries(value)) schema[name] = VALUES.has(name) ? one : converted(one);
  restate(schema);
  return schema;
}

/** Says what 3.0 has no words for. Below the properties of another stand schemas that have any name: const, too. */
function restate(schema: Schema): void {
  const { const: constant, patternProperties, anyOf } = schema;
  if (constant !== undefined && typeof constant !== 'object') {
    delete schema['const'];
    schema['type'] ??= typeof constant;
    if (typeof constant === 'string') schema['enum'] = [constant];
  }
  // Any name takes the place of those that a pattern describes.
  const [pattern] = Object.values((patternProperties ?? {}) as Schema);
  if (typeof pattern === 'object') {
    delete schema['patternProperties'];
    schema['additionalProperties'] = pattern;
  }
  if (!Array.isArray(anyOf)) return;
  const others = (anyOf as Schema[]).filter(({ type }) => type !== 'null');
  if (others.length === anyOf.length) return;
  const [only] = others;
  schema['nullable'] = true;
  schema['anyOf'] = others;
  if (others.length > 1 || only?.['$ref'] !== undefined) return;
  delete schema['anyOf'];
  Object.assign(schema, only);
}
