// Walks a value together with its schema, so that a fault is reported by the rules of the part that contains it: in a union, by the
// member that was meant.
//
//   popularity: { law: zipf }      even | uniform | zipf | weights         "/popularity/exponent is required", not "must be even"
//                                                ^ meant                   or "weights is required"
import type { TSchema } from 'typebox';
import { fitsSchema, schemaErrors } from './compile-schema.js';
import { nearest } from './did-you-mean.js';
import { type Fault, placed } from './failure.js';
import { pointerTo } from './json-pointer.js';
import { type Schema, Type } from './json-schema.js';
import { faultsOf } from './schema-faults.js';

/** Every fault of a value, with JSON pointers that start with `place`; empty if the value fits. */
export function valueFaults(schema: TSchema, value: unknown, place = ''): Fault[] {
  const { anyOf, items, properties, patternProperties } = schema as Schema;
  if (anyOf !== undefined) return unionFaults(anyOf, value, place);
  if (items !== undefined && Array.isArray(value)) {
    return [
      ...leafFaults({ ...schema, items: Type.Unknown() }, value, place),
      ...value.flatMap((one, index) => valueFaults(items, one, `${place}/${index}`)),
    ];
  }
  if (!isObject(value)) return leafFaults(schema, value, place);
  const partOf = (name: string) =>
    properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : byPattern(patternProperties, name);
  const parts = Object.entries(value).flatMap(([name, one]) => {
    const part = partOf(name);
    return part === undefined ? [] : valueFaults(part, one, pointerTo(place, name));
  });
  return [...leafFaults(shallow(schema), value, place), ...parts];
}

/** Faults by the member that was meant: the one with the value's tag, or the first of its type. */
function unionFaults(members: readonly TSchema[], value: unknown, place: string): Fault[] {
  if (members.some((member) => fitsSchema(member, value))) return [];
  const kin = members.filter((member) => typeIn(member).includes(typeOf(value)));
  if (kin.length === 0) {
    const types = [...new Set(members.flatMap(typeIn))].map((type) =>
      /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`,
    );
    return [{ path: place, message: `must be ${types.join(' or ')}` }];
  }
  const tag = isObject(value) ? tagOf(kin) : undefined;
  if (tag === undefined) return valueFaults(kin[0]!, value, place);
  const given = (value as Record<string, unknown>)[tag];
  const meant = kin.find((member) => literalAt(member, tag) === given);
  if (meant !== undefined) return valueFaults(meant, value, place);
  return [
    {
      path: `${place}/${tag}`,
      message: tagMessage(
        kin.map((member) => String(literalAt(member, tag))),
        given,
      ),
    },
  ];
}

/** The property that has a different constant in each member of a union. */
function tagOf(members: readonly TSchema[]): string | undefined {
  if (members.length < 2) return undefined;
  const names = Object.keys((members[0] as Schema).properties ?? {});
  return names.find((name) => members.every((member) => literalAt(member, name) !== undefined));
}

function literalAt(member: TSchema, name: string): unknown {
  return ((member as Schema).properties?.[name] as Schema | undefined)?.const;
}

function tagMessage(allowed: readonly string[], given: unknown): string {
  const among = `one of ${allowed.join(', ')}`;
  if (given === undefined) return `is required: ${among}`;
  const guess = typeof given === 'string' ? nearest(given, allowed) : undefined;
  return guess === undefined ? `must be ${among}` : `must be ${among}; did you mean "${guess}"?`;
}

function leafFaults(schema: TSchema, value: unknown, place: string): Fault[] {
  return faultsOf(schema, schemaErrors(schema, value)).map((fault) => placed(fault, place));
}

function shallow(schema: TSchema): TSchema {
  const { properties, patternProperties } = schema as Schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: anyIn(properties) }),
    ...(patternProperties === undefined ? {} : { patternProperties: anyIn(patternProperties) }),
  };
}

function anyIn(schemas: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.keys(schemas).map((name) => [name, Type.Unknown()]));
}

function byPattern(patterns: Schema['patternProperties'] = {}, name: string): TSchema | undefined {
  const found = Object.keys(patterns).find((pattern) => new RegExp(pattern, 'u').test(name));
  return found === undefined ? undefined : patterns[found];
}

function typeIn(schema: TSchema): string[] {
  const { type, anyOf } = schema as Schema;
  if (anyOf !== undefined) return anyOf.flatMap(typeIn);
  return type === undefined ? [] : [type === 'integer' ? 'number' : type];
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function isObject(value: unknown): value is object {
  return typeOf(value) === 'object';
}
