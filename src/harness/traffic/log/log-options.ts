// Options for reading a log.
import { Failure } from '../../../core/schema/failure.js';
import type { TimeUnit } from './unix.js';

/** Fields are columns by name, in JSON also by path (`request.start`). */
export interface FieldOptions {
  readonly timeColumn?: string | undefined;
  /** Number of requests of a row; false: each row is one request. */
  readonly countColumn?: string | false | undefined;
  /** A field, or a role in any format, as `client` or `forwarded` (`forwarded:2` second address, `forwarded:-1` last). */
  readonly keyColumn?: string | undefined;
  /** Unit, as tokens or bytes, and the fields to add up; by default those whose names end in it, or the only total. */
  readonly cost?: { readonly unit: string; readonly columns?: readonly string[] | undefined } | undefined;
  /** Further fields passed to the sink before each request, named as `keyColumn`. */
  readonly alsoColumns?: readonly string[] | undefined;
  /** Only requests for which all hold are counted. Fields are named as `keyColumn`. */
  readonly where?: readonly Condition[] | undefined;
  /** The requests of a row are spread over this interval from its time; 0: all at once. */
  readonly spreadMs?: number | undefined;
  /** Unit of plain numbers in the time column; by default inferred from their size and the column's name. */
  readonly timeUnit?: TimeUnit | undefined;
  /** The present, for dates without a year and to warn of dates after tomorrow. */
  readonly nowMs?: number | undefined;
}

export interface LogOptions extends FieldOptions {
  /** Name of a format, or a format line of nginx or Apache. Default: recognised from the first 64 KiB. */
  readonly format?: string | undefined;
  /** Unix ms: requests from `fromMs` on and before `toMs`. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** A sign that the log was probably misread. */
export interface Warning {
  readonly code: string;
  readonly what: string;
}

// Conditions on the fields of a request: `method=POST`, `status>=500`, `path=/api/*`, `user!=-`.

const comparisons = ['=', '!=', '>=', '<=', '>', '<'] as const;

export interface Condition {
  readonly field: string;
  readonly comparison: (typeof comparisons)[number];
  /** With = and !=, `*` matches any text. */
  readonly value: string;
}

const CONDITION = /^\s*([^=!<>]+?)\s*(!=|>=|<=|==?(?!=)|>|<)(?!~)\s*(['"]?)(.*?)\3\s*$/s;

/** @throws Failure `wrong_usage` */
export function parseWhere(text: string): Condition {
  const [, field, comparison, , value = ''] = CONDITION.exec(text) ?? [];
  if (field === undefined || NETWORK.test(text)) {
    throw new Failure('wrong_usage', {
      what: `--where does not take "${text}".`,
      why: field ? `It compares text, and no address reads ${value}.` : 'It takes a field, a comparison and a value.',
      fix: `For example --where method=POST, --where 'status>=500', --where 'path=/api/*' or --where 'client=10.*'.`,
    });
  }
  return { field, comparison: comparisons.find((one) => one === comparison) ?? '=', value };
}

/** A range of addresses, of a field that holds one address. */
const NETWORK = /^\s*(?:client|forwarded|[^=!]*(?:addr|ip))\b[^=!]*!?==?\s*['"]?[\da-f.:]+\/\d+['"]?\s*$/i;

const orders: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};

/** Numbers compare as numbers; < and > never hold for other text. */
export function conditionTest({ comparison, value }: Condition): (text: string) => boolean {
  const order = orders[comparison];
  const number = Number(value);
  if (order !== undefined) return (text) => text !== '' && order(Number(text), number);
  const isEqual = equals(value);
  return comparison === '=' ? isEqual : (text) => !isEqual(text);
}

function equals(value: string): (text: string) => boolean {
  if (!value.includes('*')) return (text) => text === value;
  const parts = value.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`^${parts.join('.*')}$`, 's');
  return (text) => pattern.test(text);
}
