// Owns times written as a decimal number since 1970, and which unit such a number is in. Leaves calendar times to instant.ts.

/** The units in which a log may count from 1970-01-01 UTC, coarse to fine. */
export const timeUnits = ['s', 'ms', 'us', 'ns'] as const;

export type TimeUnit = (typeof timeUnits)[number];

/** By how many decimal places a number in this unit is moved to become milliseconds. */
const placesToMs: Readonly<Record<TimeUnit, number>> = { s: 3, ms: 0, us: -3, ns: -6 };

/** The last instant that is read, in ms from 1970 either way: 100 million days, the range of an ECMAScript date. */
const MAX_MS = 8.64e15;

const DIGITS = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Unix milliseconds, rounded down, of a decimal number; NaN when it is none or lies beyond 100 million days from 1970.
 * The point is moved within the text, so no digit is lost: `1447000000.0009999999999999` is one ms below `...001`.
 * @param bytes text as `1446249504427`, `807256800.25`, `-0.5`, `1.4462495e9` from `from` up to `to`
 */
export function readUnix(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): number {
  const plain = readPlain(bytes, from, to, unit);
  if (plain >= 0) return plain;
  const decimal = decimalIn(bytes, from, to);
  if (decimal === undefined) return Number.NaN;
  const wholePlaces = decimal.wholePlaces + placesToMs[unit];
  const kept = decimal.digits.slice(0, Math.max(0, wholePlaces)).padEnd(wholePlaces, '0');
  const ms = Number(kept);
  if (ms > MAX_MS) return Number.NaN;
  const floored = decimal.negative && /[1-9]/.test(decimal.digits.slice(Math.max(0, wholePlaces))) ? ms + 1 : ms;
  return decimal.negative ? 0 - floored : ms;
}

/** The usual case without making a string: digits, perhaps with a point among them; -1 for everything else. */
function readPlain(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): number {
  let point = to;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) continue;
    if (bytes[at] !== DOT || point < to) return -1;
    point = at;
  }
  const kept = point - from + placesToMs[unit];
  if (point === from || kept > PLAIN_DIGITS) return -1;
  let ms = 0;
  let at = from;
  for (let place = 0; place < kept; place++, at++) {
    if (at === point) at++;
    ms = ms * 10 + (at < to ? bytes[at]! - ZERO : 0);
  }
  return ms;
}

/** As many digits as surely make a number of ms within MAX_MS. */
const PLAIN_DIGITS = 15;

/**
 * The unit that most of `samples` (texts of numbers) are written in, told from how big they are:
 *
 *   digits before the point    1 .. 11      12 .. 14     15 .. 17     18 ..
 *   unit                       s            ms           us           ns          today: 10, 13, 16, 19 digits
 *
 * Small numbers say little, since a clock may have begun at 0. So a unit in the `name` of the column (`t_ms`, `startNs`)
 * stands, unless the numbers are too big for it.
 */
export function unitOf(samples: readonly Uint8Array[], name: string): TimeUnit {
  const sizes = samples
    .map((bytes) => decimalIn(bytes, 0, bytes.length))
    .filter((decimal) => decimal !== undefined)
    .map((decimal) => decimal.wholePlaces)
    .sort((a, b) => a - b);
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const bySize = median <= 11 ? 0 : median <= 14 ? 1 : median <= 17 ? 2 : 3;
  const byName = unitNames.findIndex((pattern) => pattern.test(name));
  return timeUnits[Math.max(bySize, byName)]!;
}

/** How a column's name ends when it tells a unit, in the order of `timeUnits`. */
const unitNames = [
  /(?<![a-z])(s|secs?|seconds?)\)?$/i,
  /((?<![a-z])([Mm][Ss]|m(illi)?secs?|milliseconds?)|[a-z]Ms|[Mm]illis)\)?$/,
  /((?<![a-z])([Uu][Ss]|usecs?|microseconds?)|[a-z]Us|[Mm]icros)\)?$/,
  /((?<![a-z])([Nn][Ss]|nsecs?|nanoseconds?)|[a-z]Ns|[Nn]anos)\)?$/,
];

/** A number as its digits without leading zeros, of which `wholePlaces` (may be negative) stand before the point. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly wholePlaces: number;
}

function decimalIn(bytes: Uint8Array, from: number, to: number): Decimal | undefined {
  if (to - from > 400) return undefined;
  const parts = DIGITS.exec(String.fromCharCode(...bytes.subarray(from, to)));
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  const all = whole + fraction;
  if (all === '') return undefined;
  const digits = all.replace(/^0+/, '');
  const wholePlaces = digits === '' ? 0 : whole.length - (all.length - digits.length) + Number(exponent);
  return { negative: sign === '-', digits, wholePlaces };
}

const DOT = 0x2e;
const ZERO = 0x30;
