// The model of a product: its own parameters in its own words, with units and defaults, and their translation into a rule.
import type { TSchema } from 'typebox';
import { flag, real, strict } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { parseMs } from '../../schema/quantity.js';
import type { Announces, Primitive, RuleDefinition } from '../rule/rule-definition.js';

export interface Product {
  readonly product: string;
  readonly params: TSchema;
  readonly example: Readonly<Record<string, unknown>>;
  readonly refused: string;
  readonly paced?: Paced;
  readonly rule: (given: Readonly<Record<string, unknown>>) => RuleDefinition;
}

/** The schema of a parameter, and its value for the rule: times in ms, defaults filled in. */
interface Param<Value> {
  readonly schema: (remark: string) => TSchema;
  readonly read: (given: unknown) => Value;
  /** Whether 0 admits nothing. */
  readonly isNoneAt0?: boolean | undefined;
}

/** The parameters for n requests in a time, such as `10 min`; one is undefined where the product has no such time. */
export type Paced = (n: number, time: string) => Readonly<Record<string, unknown>>;

type Params = Readonly<Record<string, Param<unknown>>>;
type Values<Of extends Params> = {
  readonly [Name in keyof Of]: Of[Name] extends Param<infer Value> ? Value : never;
};

interface Declared<Of extends Params> {
  readonly product: string;
  readonly params: Of;
  readonly example: Readonly<Record<string, unknown>>;
  readonly refused?: string;
  /** Whether at least one parameter is needed, but none in particular. */
  readonly needsOne?: true;
  readonly paced?: Paced;
  readonly rule: (given: Values<Of>) => RuleDefinition;
}

export function product<Of extends Params>(declared: Declared<Of>): Product {
  const { params, refused = 'nothing', needsOne = false, rule, ...words } = declared;
  const fields = Object.entries(params);
  return {
    ...words,
    refused,
    params: Type.Object(Object.fromEntries(fields.map(([name, { schema }]) => [name, schema('')])), {
      ...strict,
      ...(needsOne && { minProperties: 1 }),
    }),
    rule(given) {
      const values = Object.fromEntries(fields.map(([name, { read }]) => [name, read(given[name])]));
      const isNone = fields.some(([name, { isNoneAt0 }]) => isNoneAt0 && values[name] === 0);
      return isNone ? never() : rule(values as Values<Of>);
    },
  };
}

/** Admits nothing: a bucket that never holds a whole token. */
export const never = () => rule('token_bucket', { rate: 0.000001, per_ms: 1000, capacity: 0.5 }, unannounced);

/** @param unitMs of a length that is a number; without it, the length is a text */
export const paced =
  (count: string, length: string, unitMs?: number): Paced =>
  (n, time) => ({ [count]: n, [length]: unitMs === undefined ? time : parseMs(time, 1) / unitMs });

export const perSecond =
  (rate: string): Paced =>
  (n, time) => ({ [rate]: (n * 1000) / parseMs(time, 1) });

export const namedMs = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
  year: 31_536_000_000,
} as const;
export type Named = keyof typeof namedMs;

export function nameOfTime(time: string): Named | undefined {
  const ms = parseMs(time, 1);
  return (Object.keys(namedMs) as Named[]).find((name) => namedMs[name] === ms);
}

export const inUnit =
  (count: string, unit: string): Paced =>
  (n, time) => ({ [count]: n, [unit]: nameOfTime(time) });

export const counts = 'counts, too';

const asGiven = (given: unknown) => given as never;

export const whole = (description: string, minimum = 1): Param<number> => ({
  schema: (remark) => Type.Integer({ minimum, maximum: 1_000_000_000_000, description: description + remark }),
  read: asGiven,
});

/** What is admitted, or 0 to admit nothing. */
export const orNone = (description: string): Param<number> => ({ ...whole(description, 0), isNoneAt0: true });

export const positive = (description: string): Param<number> => ({
  schema: (remark) => real(0.000001, 1_000_000_000_000, description + remark),
  read: asGiven,
});

export const seconds = (description: string): Param<number> => ({
  ...positive(description),
  read: (given) => 1000 * (given as number),
});

export const oneOf = <Value extends string | number>(values: Value[], description = ''): Param<Value> => ({
  schema: (remark) => Type.Enum(values, { description: (description + remark).trim() }),
  read: asGiven,
});

export const text = (description: string, options: object): Param<string> => ({
  schema: (remark) => Type.String({ ...options, description: description + remark }),
  read: asGiven,
});

export const yesNo = (description: string, standard = false): Param<boolean | undefined> => ({
  schema: () => Type.Optional(flag(`${description} Default: ${standard}.`)),
  read: asGiven,
});

const unitsMs = { ms: 1, s: 1000 } as const;

/** A number in the unit of the product, or a text such as 1s, 10 minutes, 500ms. The rule gets ms. */
export const time = (description: string, unit: keyof typeof unitsMs): Param<number> => ({
  schema: (remark) =>
    Type.Union([Type.Number({ minimum: 0, maximum: 1e12 }), Type.String({ minLength: 1, maxLength: 64 })], {
      description: `${description}${remark} A number counts ${unit}; or a text as 1s, 500ms, 10 minutes.`.trim(),
    }),
  read: (given) => (typeof given === 'string' ? parseMs(given, unitsMs[unit]) : (given as number) * unitsMs[unit]),
});

export function optional<Value>(of: Param<Value>): Param<Value | undefined>;
export function optional<Value>(of: Param<Value>, standard: string | number): Param<Value>;
export function optional<Value>(of: Param<Value>, standard?: string | number): Param<Value | undefined> {
  const remark = standard === undefined ? '' : ` Default: ${standard}.`;
  return {
    schema: () => Type.Optional(of.schema(remark)),
    isNoneAt0: of.isNoneAt0,
    read: (given = standard) => (given === undefined ? undefined : of.read(given)),
  };
}

export const store = (a: string, b: string) => optional(oneOf([a, b], 'Where counts are kept.'), a);

export const windowed = (limit: number, window_ms: number, more: object = {}) => ({
  limit,
  window_ms,
  align: 'first',
  count_refused: true,
  ...more,
});

export function rule(primitive: Primitive, params: object, announces?: Announces, stepMs = 1): RuleDefinition {
  return {
    primitive,
    params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)),
    ...(stepMs === 0 ? {} : { clock_resolution_ms: stepMs }),
    ...(announces === undefined ? {} : { announces }),
  };
}

export const inWholeSeconds: Announces = { wait: 'window_end', round: 'up_to_s' };
export const toWindowEnd: Announces = { wait: 'window_end' };
/** A clock second, truncated: before the window ends, and therefore sometimes in the past. */
export const atClockSecond: Announces = { wait: 'window_end', round: 'clock_second' };
export const untilTokens: Announces = { wait: 'whole_tokens' };
export const unannounced: Announces = { wait: 'none' };
