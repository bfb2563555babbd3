// Times and counts written as decimal numbers, and the unit of a time. Dates are in instant.ts.
//
//   1700000000.123   s           1700000000123   ms          1700000000123456   us        1700000000123456789   ns
//   0.25   a clock from 0
//
// Numbers that count from another year or in another unit have no unit here: FILETIME, WebKit, .NET ticks, days of a spreadsheet.

/** Since 1970-01-01 UTC, coarse to fine. */
export const timeUnits = ['s', 'ms', 'us', 'ns'] as const;

export type TimeUnit = (typeof timeUnits)[number];

/** Decimal places to move the point right for ms. */
const placesOf: Readonly<Record<TimeUnit, number>> = { s: 3, ms: 0, us: -3, ns: -6 };

/** 100 million days either side of 1970, the range of an ECMAScript date. */
const MAX_MS = 8.64e15;
const PLAIN_DIGITS = 15;
const MAX_BYTES = 400;

const DECIMAL = /^([+-]?)(\d*)(?:(?:\.|(?<=\d{10}),)(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Unix ms of a decimal number (`807256800.25`, `-0.5`, `1.4462495e9`), rounded down; NaN for other text and beyond MAX_MS.
 * Exact: `1447000000.0009999999999999` is one ms below `...001`.
 */
export function readUnix(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): number {
  const places = placesOf[unit];
  const plain = readPlain(bytes, from, to, places);
  if (plain >= 0) return plain;
  if (to - from > MAX_BYTES || !isNumeric(bytes, from, to)) return Number.NaN;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    DECIMAL.exec(String.fromCharCode(...bytes.subarray(from, to))) ?? [];
  if (whole + fraction === '') return Number.NaN;
  const moved = places + Number(exponent) - fraction.length;
  const divisor = 10n ** BigInt(Math.max(0, -moved));
  const digits = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, moved));
  if (digits > BigInt(MAX_MS) * divisor) return Number.NaN;
  const roundsUp = sign === '-' && digits % divisor !== 0n;
  const ms = Number(digits / divisor) + (roundsUp ? 1 : 0);
  return sign === '-' ? 0 - ms : ms;
}

function readPlain(bytes: Uint8Array, from: number, to: number, places: number): number {
  let point = to;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) continue;
    if (bytes[at] !== DOT || point < to) return -1;
    point = at;
  }
  const kept = point - from + places;
  if (point === from || kept > PLAIN_DIGITS) return -1;
  let ms = 0;
  let at = from;
  for (let place = 0; place < kept; place++, at++) {
    if (at === point) at++;
    ms = ms * 10 + (at < to ? bytes[at]! - ZERO : 0);
  }
  return ms;
}

/** Rejects most dates without allocating a string. */
function isNumeric(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if ((byte < ZERO || byte > ZERO + 9) && !NUMERIC_SIGNS.includes(byte)) return false;
  }
  return true;
}

const NUMERIC_SIGNS = Buffer.from('+-.,eE');

export function numberOf(text: string): number {
  return DECIMAL.test(text) && /\d/.test(text) ? Number(text.replace(',', '.')) : Number.NaN;
}

export function wholeDigits(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9) at++;
  return at - from;
}

/** By the digits before the point, for times between 2001 and 2286: 10 are s, 13 ms, 16 us, 19 ns; else undefined. */
export function unitOfDigits(digits: number): TimeUnit | undefined {
  return digits >= 10 && digits <= 19 && digits % 3 === 1 ? timeUnits[(digits - 10) / 3] : undefined;
}

/** Ticks of .NET are as large as ns in 1990. */
const EARLIEST_MS = Date.UTC(1991, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** The unit in which a number lies between 1991 and 2100. */
export function unitOfDate(value: number): TimeUnit | undefined {
  return timeUnits.find((unit) => {
    const ms = value * 10 ** placesOf[unit];
    return ms >= EARLIEST_MS && ms < LATEST_MS;
  });
}

/**
 * By plausible dates, else for a clock from 0 by size and by the column's name (`startNs`). Undefined if the numbers cannot be times:
 * a clock above a year counts from elsewhere, and 33,000 to 73,000 may be days of a spreadsheet.
 */
export function unitOf(samples: readonly string[], name: string): TimeUnit | undefined {
  const numbers = samples.map(numberOf).filter((value) => !Number.isNaN(value));
  const median = numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
  const dated = numbers.map(unitOfDate).filter((unit) => unit !== undefined);
  if (dated.length * 2 > numbers.length) {
    const times = timeUnits.map((unit) => dated.filter((one) => one === unit).length);
    return timeUnits[times.indexOf(Math.max(...times))]!;
  }
  const places = median < 1 ? 0 : Math.trunc(median).toFixed(0).length;
  const bySize = places <= 11 ? 0 : places <= 14 ? 1 : places <= 17 ? 2 : 3;
  const byName = unitNames.findIndex((pattern) => pattern.test(name));
  const unit = timeUnits[Math.max(bySize, byName)]!;
  const [least = 0] = numbers;
  const mayBeDays = unit === 's' && least >= FIRST_DAY && least < LAST_DAY;
  return mayBeDays || (numbers.at(-1) ?? 0) * 10 ** placesOf[unit] > LONGEST_CLOCK_MS ? undefined : unit;
}

const LONGEST_CLOCK_MS = 366 * 86_400_000;

/** Days since 1899-12-30: the beginnings of 1990 and of 2100. */
const FIRST_DAY = 32_874;
const LAST_DAY = 73_051;

/** Suffixes of column names, in the order of `timeUnits`. */
const unitNames = [
  /(?<![a-z])(s|secs?|seconds?)\)?$/i,
  /((?<![a-z])([Mm][Ss]|m(illi)?secs?|milliseconds?)|[a-z]Ms|[Mm]illis)\)?$/,
  /((?<![a-z])([Uu][Ss]|usecs?|microseconds?)|[a-z]Us|[Mm]icros)\)?$/,
  /((?<![a-z])([Nn][Ss]|nsecs?|nanoseconds?)|[a-z]Ns|[Nn]anos)\)?$/,
];

/** Larger counts are refused: sums over a log stay exact. */
const MAX_COUNT = 1e12;

const WHOLE = /^\s*\+?(\d{1,15})(?:\.0*)?\s*$/;

/** A whole number from 0 to 10^12, as `61` or `61.0`; NaN otherwise. */
export function readCount(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  let at = from;
  for (; at < to && at - from < 12; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) break;
    count = count * 10 + digit;
  }
  if (at === to && to > from) return count;
  return to - from > 64 ? Number.NaN : countOf(String.fromCharCode(...bytes.subarray(from, to)));
}

export function countOf(text: string): number {
  const whole = Number(WHOLE.exec(text)?.[1] ?? Number.NaN);
  return whole <= MAX_COUNT ? whole : Number.NaN;
}

/** Mostly whole numbers, and not those of rows. */
export function areCounts(values: readonly string[]): boolean {
  const counts = values.map(countOf).filter((count) => !Number.isNaN(count));
  const isNumbered = counts.length > 1 && counts.every((count, i) => i === 0 || count === counts[i - 1]! + 1);
  return counts.length > 0 && counts.length * 2 > values.length && !isNumbered;
}

const DOT = 0x2e;
const ZERO = 0x30;
