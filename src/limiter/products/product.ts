// What a product is here: its own parameters in its own words, and their translation into a rule.
import type { Static, TSchema } from 'typebox';
import { Type } from '../../schema/json-schema.js';
import { parseTimeMs } from '../../schema/quantity.js';
import type { Announces, Primitive, RuleDefinition } from '../rule/rule-definition.js';

export interface Product {
  /** What it is, with the version that was read or run. */
  readonly product: string;
  readonly params: TSchema;
  readonly example: Readonly<Record<string, unknown>>;
  readonly refused: string;
  /** @throws Failure `invalid_input` for a text that is no rate or time */
  readonly rule: (given: Readonly<Record<string, unknown>>) => RuleDefinition;
}

interface Declared<Params extends TSchema> extends Omit<Product, 'rule'> {
  readonly params: Params;
  readonly example: Static<Params> & Readonly<Record<string, unknown>>;
  readonly rule: (given: Static<Params>) => RuleDefinition;
}

/** A row of a table of products. Its parameters were checked against its schema before `rule` is called. */
export function product<Params extends TSchema>(declared: Declared<Params>): Product {
  return { ...declared, rule: (given) => declared.rule(given as Static<Params>) };
}

export const nothing = 'nothing';
export const counts = 'counts, too';

export const whole = (description: string, minimum = 1) =>
  Type.Integer({ minimum, maximum: 1_000_000_000_000, description });

export const positive = (description: string) =>
  Type.Number({ minimum: 0.000001, maximum: 1_000_000_000_000, description });

export const yesNo = (description: string) => Type.Optional(Type.Boolean({ description }));

/** A time as products write it: a number in the unit of the product, or a text as 1s, 10 minutes, 500ms. */
export const time = (description: string, unit: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1e12 }), Type.String({ minLength: 1, maxLength: 64 })], {
    description: `${description} A number counts ${unit}; or a text as 1s, 500ms, 10 minutes.`,
  });

export function msOf(value: number | string, unitMs: number): number;
export function msOf(value: number | string | undefined, unitMs: number): number | undefined;
export function msOf(value: number | string | undefined, unitMs: number): number | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? parseTimeMs(value, unitMs) : value * unitMs;
}

export const store = (a: string, b: string) =>
  Type.Optional(Type.Enum([a, b], { description: `Where counts are kept. Default: ${a}.` }));

/** A fixed window that begins at the first request and counts refused ones. */
export const windowed = (limit: number, window_ms: number, more: object = {}) => ({
  limit,
  window_ms,
  align: 'first',
  count_refused: true,
  ...more,
});

function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** A definition on a clock of whole ms, unless another step is given; 0 for a continuous clock. */
export function rule(primitive: Primitive, params: object, announces?: Announces, stepMs = 1): RuleDefinition {
  return {
    primitive,
    params: defined(params),
    ...(stepMs === 0 ? {} : { clock_resolution_ms: stepMs }),
    ...(announces === undefined ? {} : { announces }),
  };
}

export const inWholeSeconds: Announces = { wait: 'window_end', round: 'up_to_s' };
export const toWindowEnd: Announces = { wait: 'window_end' };
/** A second of the clock as a whole number, cut off: before the window ends, and so at times in the past. */
export const atClockSecond: Announces = { wait: 'window_end', round: 'clock_second' };
export const untilTokens: Announces = { wait: 'whole_tokens' };
export const unannounced: Announces = { wait: 'none' };
