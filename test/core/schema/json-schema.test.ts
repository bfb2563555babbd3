import * as TypeBox from 'typebox';
import { expect, it } from 'vitest';
import { compileSchema, fitsSchema } from '../../../src/core/schema/compile-schema.js';
import { Type } from '../../../src/core/schema/json-schema.js';
import { valueFaults } from '../../../src/core/schema/value-faults.js';

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

it.each(Object.entries(kinds))('the builders make of %s what TypeBox makes', (_, made) => {
  expect(JSON.stringify(made(Type))).toBe(JSON.stringify(made(TypeBox)));
});

const schema = Type.Object({ n: Type.Integer({ minimum: 1 }) }, { additionalProperties: false });
const fits = compileSchema(schema);

it.each([
  [{ n: 1 }, true, []],
  [{ n: 0 }, false, ['/n must be >= 1']],
  [{}, false, ['/n is required']],
  [{ n: 1, m: 2 }, false, ['/m is not known; allowed here: n']],
])('a compiled schema says of %j whether it fits, and why not', (value, ok, words) => {
  const faults = valueFaults(schema, value).map(({ path, message }) => `${path} ${message}`);
  expect([fits(value), fitsSchema(schema, value), faults]).toEqual([ok, ok, words]);
});
