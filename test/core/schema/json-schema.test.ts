import * as TypeBox from 'typebox';
import { describe, expect, it } from 'vitest';
import { compileSchema, fitsSchema, schemaErrors } from '../../../src/core/schema/compile-schema.js';
import { Type } from '../../../src/core/schema/json-schema.js';

type Builders = Pick<typeof TypeBox, keyof typeof Type>;

/** Each kind as it is used, made by whichever builders are handed in. */
const kinds: Readonly<Record<keyof typeof Type, (make: Builders) => readonly object[]>> = {
  Array: (make) => [make.Array(make.String()), make.Array(make.Null(), { minItems: 1, description: 'one' })],
  Boolean: (make) => [make.Boolean(), make.Boolean({ default: true })],
  Enum: (make) => [make.Enum(['a', 'b']), make.Enum([1, 2], { description: 'a digit' })],
  Integer: (make) => [make.Integer(), make.Integer({ minimum: 0 })],
  Literal: (make) => [make.Literal('a'), make.Literal(1), make.Literal(true, { description: 'yes' })],
  Null: (make) => [make.Null(), make.Null({ description: 'none' })],
  Number: (make) => [make.Number(), make.Number({ exclusiveMinimum: 0 })],
  Object: (make) => [
    make.Object({}),
    make.Object({ a: make.String(), b: make.Optional(make.Integer()) }, { additionalProperties: false }),
    make.Object({ a: make.Optional(make.Null()) }),
  ],
  Optional: (make) => [make.Optional(make.Integer({ minimum: 1 })), make.Optional(make.Optional(make.Null()))],
  Record: (make) => [
    make.Record(make.String(), make.Number()),
    make.Record(make.String({ minLength: 1, maxLength: 64 }), make.Number(), { maxProperties: 3 }),
    make.Record(make.String({ pattern: '^[a-z]{1,3}$' }), make.Null(), { additionalProperties: false }),
  ],
  String: (make) => [make.String(), make.String({ pattern: '^a$' })],
  Union: (make) => [make.Union([make.String(), make.Null()]), make.Union([make.Null()], { description: 'none' })],
  Unknown: (make) => [make.Unknown(), make.Unknown({ description: 'anything' })],
};

describe('the builders', () => {
  it.each(Object.entries(kinds))('make of %s what TypeBox makes', (_, made) => {
    expect(JSON.stringify(made(Type))).toBe(JSON.stringify(made(TypeBox)));
  });
});

describe('a compiled schema', () => {
  const schema = Type.Object({ n: Type.Integer({ minimum: 1 }) }, { additionalProperties: false });
  const { fits, errors } = compileSchema(schema);

  it.each([
    [{ n: 1 }, true, []],
    [{ n: 0 }, false, ['minimum']],
    [{}, false, ['required']],
    [{ n: 1, m: 2 }, false, ['additionalProperties']],
  ])('says of %j whether it fits, and why not', (value, ok, keywords) => {
    const told = [errors(value), schemaErrors(schema, value)].map((all) => all.map(({ keyword }) => keyword));
    const told1 = told.map((words) => words.filter((word) => word !== 'boolean'));
    expect([fits(value), fitsSchema(schema, value), ...told1]).toEqual([ok, ok, keywords, keywords]);
  });
});
