// Words for a value that does not fit its schema: every fault with its place, the allowed values, and the nearest name to an unknown one.
// The value is walked together with its schema. So what is too long is not looked into, and a fault in a union is that of the member
// that was meant.
//
//   { scopes: ["admin", "admin", … 15,000 times] }   ─►   /scopes must not have more than 4 items, and nothing else is checked of it
//
//   popularity: { law: zipf }      even | uniform | zipf | weights         "/popularity/exponent is required", not "must be even"
//                                                ^ meant                   or "weights is required"
import type { TSchema } from 'typebox';
import { fitsSchema, type SchemaError, schemaErrors } from './compile-schema.js';
import { nearest } from './did-you-mean.js';
import { type Fault, MOST_FAULTS } from './failure.js';
import { VISIBLE } from './fields.js';
import { pointerTo } from './json-pointer.js';
import type { Schema } from './json-schema.js';

/** The first `MOST_FAULTS` of a value, at JSON pointers that start with `place`; none if the value fits. */
export function valueFaults(schema: TSchema, value: unknown, place = ''): Fault[] {
  const faults: Fault[] = [];
  collect(schema, value, place, faults);
  return faults.slice(0, MOST_FAULTS);
}

function collect(schema: Schema, value: unknown, place: string, faults: Fault[]): void {
  if (faults.length >= MOST_FAULTS) return;
  const excess = excessIn(schema, value);
  if (excess !== undefined) faults.push(faultAt(place, excess));
  else if (fitsSchema(schema, value)) return;
  else if (schema.anyOf !== undefined) faults.push(...unionFaults(schema.anyOf, value, place));
  else {
    const own = schemaErrors(withoutParts(schema), value).flatMap((error) => wordsFor(error, value) ?? [])[0];
    if (own !== undefined) faults.push(faultAt(place, own));
    if (Array.isArray(value)) {
      if (schema.items !== undefined)
        for (const [index, one] of value.entries()) collect(schema.items, one, `${place}/${index}`, faults);
    } else if (isJsonObject(value)) collectFields(schema, value, place, faults);
  }
}

/** What is larger than the schema allows. TypeBox looks at every item and every name without a bound, and compares items with each other. */
function excessIn({ maxItems, maxLength, maxProperties }: Schema, value: unknown): string | undefined {
  // A character takes up to two UTF-16 units.
  if (typeof value === 'string' && maxLength !== undefined && value.length > 2 * maxLength)
    return `must not have more than ${maxLength} characters`;
  if (Array.isArray(value) && maxItems !== undefined && value.length > maxItems)
    return `must not have more than ${maxItems} items`;
  if (isJsonObject(value) && maxProperties !== undefined && hasMoreFields(value, maxProperties))
    return `must not have more than ${maxProperties} fields`;
  return undefined;
}

/** Without looking at all of them. */
function hasMoreFields(value: object, most: number): boolean {
  let left = most;
  for (const _name in value) {
    left -= 1;
    if (left < 0) return true;
  }
  return false;
}

function withoutParts({ items: _items, ...schema }: Schema): Schema {
  if (schema.type !== 'object') return schema;
  const { properties: _, patternProperties: __, additionalProperties: ___, required: ____, ...own } = schema;
  return own;
}

function collectFields(schema: Schema, value: object, place: string, faults: Fault[]): void {
  const { properties = {}, patternProperties = {}, additionalProperties, required = [] } = schema;
  const [pattern] = Object.entries(patternProperties);
  for (const name in value) {
    const given = (value as Record<string, unknown>)[name];
    if (faults.length >= MOST_FAULTS) return;
    // JSON leaves it out.
    if (given === undefined) continue;
    const at = pointerTo(place, name);
    const part = Object.hasOwn(properties, name)
      ? properties[name]
      : pattern !== undefined && new RegExp(pattern[0], 'u').test(name)
        ? pattern[1]
        : additionalProperties;
    if (part === false) faults.push(faultAt(at, unknownName(Object.keys(properties), name)));
    else if (typeof part === 'object') collect(part as Schema, given, at, faults);
  }
  for (const name of required)
    if (!Object.hasOwn(value, name)) faults.push(faultAt(pointerTo(place, name), 'is required'));
}

/** Faults by the member that was meant: the one with the value's tag, the one without a tag whose field it has, or the first of its type. */
function unionFaults(members: readonly Schema[], value: unknown, place: string): Fault[] {
  const kin = members.filter((member) => typesIn(member).includes(typeOf(value)));
  if (kin.length === 0) {
    const tags = members.every((member) => typesIn(member).includes('object')) ? tagsOf(members) : [];
    if (tags.length > 0) return [faultAt(place, `must be an object with a field ${tags.join(' or ')}`)];
    // Null comes last.
    const types = [...new Set(members.flatMap(typesIn))].sort((a, b) => Number(a === 'null') - Number(b === 'null'));
    return [faultAt(place, `must be ${types.map(article).join(' or ')}`)];
  }
  const [tag, ...others] = isJsonObject(value) ? tagsOf(kin) : [];
  if (tag === undefined) return valueFaults(kin[0]!, value, place);
  const given = value as Record<string, unknown>;
  const other = others.find((name) => Object.hasOwn(given, name));
  const literals: readonly unknown[] = kin.map((member) => literalAt(member, tag));
  const meant = kin[literals.indexOf(other === undefined ? given[tag] : undefined)];
  if (meant !== undefined && (other !== undefined || given[tag] !== undefined)) return valueFaults(meant, value, place);
  const allowed = literals.filter((literal) => literal !== undefined);
  return [
    faultAt(
      `${place}/${tag}`,
      `${given[tag] === undefined ? 'is required:' : 'must be'} ${oneOf(allowed, given[tag])}`,
    ),
  ];
}

/** The property that has a constant of its own in members of a union; then the first that a member without it requires. */
function tagsOf(members: readonly Schema[]): string[] {
  const names = Object.keys(members[0]!.properties ?? {});
  const tag = names.find((name) => members.filter((member) => literalAt(member, name) !== undefined).length > 1);
  if (tag === undefined) return [];
  const untagged = members.filter((member) => literalAt(member, tag) === undefined);
  if (untagged.length > 1) return [];
  return [tag, ...untagged.flatMap(({ required }) => required?.[0] ?? [])];
}

function literalAt(member: Schema, name: string) {
  return member.properties?.[name]?.const;
}

export function oneOf(allowed: readonly unknown[], given: unknown): string {
  const guess = typeof given === 'string' ? nearest(given, allowed.map(String)) : undefined;
  const words = `one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}`;
  return guess === undefined ? words : `${words}; did you mean "${guess}"?`;
}

function unknownName(known: readonly string[], name: string): string {
  const guess = nearest(name, known);
  if (guess !== undefined) return `is not known; did you mean "${guess}"?`;
  return known.length > 0 ? `is not known; allowed here: ${known.join(', ')}` : 'is not a name that is allowed here';
}

/** Undefined for an error that only summarises others. */
function wordsFor({ keyword, message, params: given }: SchemaError, value: unknown): string | undefined {
  const params = given as Readonly<Record<string, unknown>>;
  switch (keyword) {
    case 'not':
      return undefined;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'enum':
      return `must be ${oneOf(params['allowedValues'] as unknown[], value)}`;
    case 'pattern':
      return params['pattern'] === VISIBLE
        ? 'has a character that controls, turns the direction of the text, or is invisible'
        : `must match ${String(params['pattern'])}`;
    case 'type':
      return `must be ${article(String(params['type']))}`;
    case 'minItems':
    case 'minLength':
    case 'minProperties':
      return params['limit'] === 1 ? 'must not be empty' : message;
    default:
      return message ?? `breaks the rule "${keyword}"`;
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : type === 'null' ? 'null' : `a ${type}`;
}

/** Longest text in a fault: a name can be arbitrarily long. */
const MOST_LETTERS = 500;

function faultAt(place: string, message: string): Fault {
  return { path: place === '' ? '/' : cut(place), message: cut(message) };
}

function cut(text: string): string {
  return text.length <= MOST_LETTERS ? text : `${text.slice(0, MOST_LETTERS)}…`;
}

function typesIn({ type, anyOf, enum: values = [] }: Schema): string[] {
  if (anyOf !== undefined) return anyOf.flatMap(typesIn);
  if (type === undefined) return values.map(typeOf);
  return [type === 'integer' ? 'number' : type];
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeOf(value) === 'object';
}
