// Schemas of common fields: a number in a range, a boolean; and objects without other fields.
import type { TObject, TOptional, TSchema } from 'typebox';
import { Type } from './json-schema.js';

export const strict = { additionalProperties: false } as const;

type Properties = Readonly<Record<string, TSchema>>;

/** A field whose name ends in ? may be absent, as in TypeScript. */
type Named<Fields extends Properties> = {
  [Name in keyof Fields as Name extends `${infer Own}?` ? Own : Name]: Name extends `${string}?`
    ? TOptional<Fields[Name]>
    : Fields[Name];
};

function named<Fields extends Properties>(fields: Fields): Named<Fields> {
  const entries = Object.entries(fields).map(([name, field]) =>
    name.endsWith('?') ? [name.slice(0, -1), Type.Optional(field)] : [name, field],
  );
  return Object.fromEntries(entries) as Named<Fields>;
}

type About = string | { readonly description: string; readonly [keyword: string]: unknown };

/** An object without other fields. @param about its description, or further keywords too */
export function exact<Fields extends Properties>(fields: Fields): TObject<Named<Fields>>;
export function exact<Fields extends Properties>(about: About, fields: Fields): TObject<Named<Fields>>;
export function exact(...[one, fields]: [Properties] | [About, Properties]) {
  if (fields === undefined) return Type.Object(named(one as Properties), strict);
  return Type.Object(named(fields), { ...strict, ...(typeof one === 'string' ? { description: one } : one) });
}

/** An object that may have other fields. */
export function shape<Fields extends Properties>(fields: Fields): TObject<Named<Fields>>;
export function shape<Fields extends Properties>(description: string, fields: Fields): TObject<Named<Fields>>;
export function shape(...[one, fields]: [Properties] | [string, Properties]) {
  return typeof one === 'string' ? Type.Object(named(fields!), { description: one }) : Type.Object(named(one));
}

/** An object without other fields, of which the whole of an answer or a file is made. */
export const titled = <Fields extends Properties>(title: string, fields: Fields) =>
  Type.Object(named(fields), { ...strict, title });

export const whole = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });

export const real = (minimum: number, maximum: number, description: string) =>
  Type.Number({ minimum, maximum, description });

export const text = (minLength: number, maxLength: number, description: string) =>
  Type.String({ minLength, maxLength, description });

/**
 * Text in one line that shows all of itself: no control characters, none that turn its direction, none that are invisible. By code point:
 * letters beyond U+FFFF are written as they are, since other languages have other escapes for them.
 */
export const VISIBLE =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]*$';

export const flag = (description: string) => Type.Boolean({ description });
