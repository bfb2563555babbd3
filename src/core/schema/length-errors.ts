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
  collect(schema, value, { schemaPath: '#', instancePath: '' }, errors);
  return errors;
}

type Place = Pick<SchemaError, 'schemaPath' | 'instancePath'>;

function inside({ schemaPath, instancePath }: Place, step: string, name: string): Place {
  return { schemaPath: `${schemaPath}/${step}`, instancePath: pointerTo(instancePath, name) };
}

function collect(schema: TSchema, value: unknown, place: Place, errors: SchemaError[]): void {
  if (errors.length >= MOST_FAULTS || schema === null || typeof schema !== 'object') return;
  const { anyOf, items, maxItems, maxLength } = schema as Schema;
  const { schemaPath, instancePath } = place;
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
    const fields = value as Readonly<Record<string, unknown>>;
    if (hasMoreFields(fields, (schema as Schema).maxProperties)) {
      const limit = (schema as Schema).maxProperties!;
      add('maxProperties', { limit }, `must not have more than ${limit} fields`);
    } else collectInObject(schema as Schema, fields, place, errors);
    return;
  }
  if (maxItems !== undefined && value.length > maxItems)
    add('maxItems', { limit: maxItems }, `must not have more than ${maxItems} items`);
  else if (items !== undefined)
    for (let index = 0; index < value.length && errors.length < MOST_FAULTS; index += 1)
      collect(
        items,
        value[index],
        { schemaPath: `${schemaPath}/items`, instancePath: `${instancePath}/${index}` },
        errors,
      );
}

/** Without looking at all of them. */
function hasMoreFields(value: Readonly<Record<string, unknown>>, most: number | undefined): boolean {
  let left = most ?? Number.POSITIVE_INFINITY;
  for (const name in value) {
    if (Object.hasOwn(value, name)) left -= 1;
    if (left < 0) return true;
  }
  return false;
}

function collectInObject(
  { properties = {}, patternProperties, additionalProperties }: Schema,
  value: Readonly<Record<string, unknown>>,
  place: Place,
  errors: SchemaError[],
): void {
  const isClosed = additionalProperties === false && patternProperties === undefined;
  const [pattern] = Object.values(patternProperties ?? {});
  const unknown: string[] = [];
  for (const name in value) {
    if (Object.hasOwn(properties, name)) {
      collect(properties[name]!, value[name], inside(place, `properties/${name}`, name), errors);
    } else if (isClosed) {
      unknown.push(name);
      // A few unknown names are reported with the other faults.
      if (unknown.length > MOST_FAULTS) break;
    } else if (pattern !== undefined) {
      collect(pattern, value[name], inside(place, 'patternProperties', name), errors);
    }
    if (errors.length >= MOST_FAULTS) return;
  }
  if (unknown.length <= MOST_FAULTS) return;
  for (const name of unknown.slice(0, MOST_FAULTS - errors.length))
    errors.push({ keyword: 'boolean', ...inside(place, 'additionalProperties', name), params: {} });
}

function under(error: SchemaError, instancePath: string): SchemaError {
  return { ...error, instancePath: `${instancePath}${error.instancePath}` };
}
