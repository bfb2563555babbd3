// What a limit counts by: parts of a request, or a text made of them.
import * as ask from './request-condition.js';

export interface LimitKey {
  readonly text: string;
  /** Empty: all requests share a key. Undefined: access logs do not contain the key. */
  readonly parts: readonly ask.RequestField[] | undefined;
  /** The key if it is more than its parts: a request without one, an empty text, is not counted. */
  readonly value?: ask.RequestText | undefined;
  /** What access logs do not contain: `a cookie`. */
  readonly lacks?: string | undefined;
}

export const everyone: LimitKey = { text: 'all requests together', parts: [] };
export const perClient: LimitKey = { text: 'client address', parts: ['client'] };

export const unknownKey = (text: string): LimitKey => ({ text, parts: undefined });

/** Several values together; unknown if one of them is. */
export const keyOfAll = (
  text: string,
  parts: readonly (ask.RequestField | readonly ask.RequestField[] | undefined)[],
): LimitKey => ({
  text,
  parts: parts.includes(undefined) ? undefined : [...new Set(parts.flat() as ask.RequestField[])],
});

/** A request whose key is an empty text is not counted. */
export function keyOfText(text: string, value: ask.RequestText): LimitKey {
  const parts = plainParts(value);
  if (parts !== undefined) return isEmpty(value) ? { text, parts, value } : { text, parts };
  const [lacks] = ask.needsOf([value]).missing;
  if (lacks !== undefined) return { text, parts: undefined, lacks };
  return { text, parts: [...ask.needsOf(valuesOf(value)).fields], value };
}

/** Several values, each of them a part of the key. */
export const keyOfTexts = (text: string, values: readonly ask.RequestText[]): LimitKey =>
  keyOfText(text, ask.joinedText(values.flatMap((one) => [one, ask.literalText('\n')])));

const isEmpty = (value: ask.RequestText): boolean =>
  value.kind === 'joined'
    ? value.of.length > 0 && value.of.every(isEmpty)
    : value.kind === 'literal' && value.text === '';

/** Undefined if it is more than fields one after another. */
function plainParts(value: ask.RequestText): ask.RequestField[] | undefined {
  const all = (value.kind === 'joined' ? value.of : [value]).flatMap((one) =>
    one.kind === 'literal' ? [] : one.kind === 'field' ? [one.field] : [undefined],
  );
  return all.includes(undefined) ? undefined : [...new Set(all as ask.RequestField[])];
}

/** What a choice may yield, without its conditions. */
function valuesOf(value: ask.RequestText): ask.RequestText[] {
  if (value.kind === 'joined') return value.of.flatMap(valuesOf);
  if (value.kind !== 'choice') return [value];
  return [...value.rows.map(({ text }) => text), value.otherwise].flatMap(valuesOf);
}

/** Headers that access logs show. */
const LOGGED: Readonly<Record<string, ask.RequestField>> = {
  'user-agent': 'agent',
  referer: 'referer',
  host: 'host',
  ':authority': 'host',
  ':method': 'method',
  ':path': 'url',
};

export function headerText(name: string): ask.RequestText {
  const field = LOGGED[name.toLowerCase()];
  if (field !== undefined) return ask.fieldText(field);
  return ask.missing(name.toLowerCase() === 'cookie' ? 'a cookie' : `the header ${name.toLowerCase()}`);
}
