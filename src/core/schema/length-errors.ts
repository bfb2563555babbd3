// Finds what is longer than its schema allows, before any other check: TypeBox reports the faults of every item and every name without
// a bound, and compares items with each other.
//
//   { scopes: ["admin", "admin", … 15,000 times] }   ─►   /scopes must not have more than 4 items, and nothing else is checked
import type { TSchema } from 'typebox';
import { MOST_FAULTS } from './failure.js';
import { pointerTo } from './json-pointer.js';
import type { Schema } from './json-schema.js';
import type { SchemaError } from './schema-faults.js';

/** Up to MOST_FAULTS errors. The work is bounded by the longest value that the schema allows. */
export function lengthErrors(schema: TSchema, value: unknown): readonly SchemaError[] {
  const errors: SchemaError[] = [];
  collect(schema, value, '#', '', errors);
  return errors;
}

function collect(
  schema: TSchema,
  value: unknown,
  schemaPath: string,
  instancePath: string,
  errors: SchemaError[],
): void {
  if (errors.length >= MOST_FAULTS || schema === null || typeof schema !== 'object') return;
  const { anyOf, items, maxItems, maxLength } = schema as Schema;
  const add = (keyword: string, params: object, message: string) =>
    errors.push({ keyword, schemaPath, instancePath, params, message });
  if (typeof value === 'string') {
    // A character takes up to two UTF-16 units.
    if (maxLength !== undefined && value.length > 2 * maxLength)
      add('maxLength', { limit: maxLength }, `must not have more than ${maxLength} characters`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (anyOf !== undefined) {
    // Too long for a union means too long for every member.
    const all = anyOf.map((member) => lengthErrors(member, value));
    if (all.every((some) => some.length > 0)) errors.push(...all[0]!.map((error) => under(error, instancePath)));
    return;
  }
  if (!Array.isArray(value)) {
    collectInObject(
      schema as Schema,
      value as Readonly<Record<string, unknown>>,
      schemaPath,
      instancePath,
      errors,
      add,
    );
    return;
  }
  if (maxItems !== undefined && value.length > maxItems)
    add('maxItems', { limit: maxItems }, `must not have more than ${maxItems} items`);
  else if (items !== undefined)
    for (let index = 0; index < value.length && errors.length < MOST_FAULTS; index += 1)
      collect(items, value[index], `${schemaPath}/items`, `${instancePath}/${index}`, errors);
}

function collectInObject(
  { properties = {}, patternProperties, additionalProperties, maxProperties }: Schema,
  value: Readonly<Record<string, unknown>>,
  schemaPath: string,
  instancePath: string,
  errors: SchemaError[],
  add: (keyword: string, params: object, message: string) => void,
): void {
  if (maxProperties !== undefined) {
    let left = maxProperties;
    for (const name in value) {
      if (Object.hasOwn(value, name)) left -= 1;
      if (left >= 0) continue;
      add('maxProperties', { limit: maxProperties }, `must not have more than ${maxProperties} fields`);
      return;
    }
  }
  const isClosed = additionalProperties === false && patternProperties === undefined;
  const [pattern] = Object.values(patternProperties ?? {});
  const unknown: string[] = [];
  for (const name in value) {
    if (Object.hasOwn(properties, name)) {
      collect(
        properties[name]!,
        value[name],
        `${schemaPath}/properties/${name}`,
        pointerTo(instancePath, name),
        errors,
      );
    } else if (isClosed) {
      unknown.push(name);
      // A few unknown names are reported with the other faults.
      if (unknown.length > MOST_FAULTS) break;
    } else if (pattern !== undefined) {
      collect(pattern, value[name], `${schemaPath}/patternProperties`, pointerTo(instancePath, name), errors);
    }
    if (errors.length >= MOST_FAULTS) return;
  }
  if (unknown.length <= MOST_FAULTS) return;
  for (const name of unknown.slice(0, MOST_FAULTS - errors.length))
    errors.push({
      keyword: 'boolean',
      schemaPath: `${schemaPath}/additionalProperties`,
      instancePath: pointerTo(instancePath, name),
      params: {},
    });
}

function under(error: SchemaError, instancePath: string): SchemaError {
  return { ...error, instancePath: `${instancePath}${error.instancePath}` };
}
