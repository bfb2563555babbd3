// A value that a schema takes, for examples in help and refusals.
import type { Schema } from './json-schema.js';

export const ANY_NAME = 'busy';

/** The first example of the schema, otherwise the smallest valid value: required fields only. */
export function exampleOf(schema: Schema): unknown {
  const { examples, anyOf, items, properties, patternProperties, required = [], type } = schema;
  if (examples !== undefined) return examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (anyOf !== undefined) return exampleOf(anyOf[0]!);
  if (items !== undefined) return [exampleOf(items)];
  if (patternProperties !== undefined) return { [ANY_NAME]: exampleOf(Object.values(patternProperties)[0]!) };
  if (properties !== undefined) {
    return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name]!)]));
  }
  if (type === 'boolean') return true;
  return type === 'string' ? 'text' : (schema.minimum ?? 0);
}
