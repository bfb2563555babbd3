// Times and counts written as decimal numbers, and the unit of a time. Dates are in instant.ts.
//
//   1700000000.123   s           1700000000123   ms          1700000000123456   us        1700000000123456789   ns
//   133444736000000000   filetime, 100 ns since 1601         13344473600000000   webkit, us since 1601
//   638355968000000000   ticks, 100 ns since the year 1      45244.925926   serial, days since 1899-12-30

/** The first four count from 1970-01-01 UTC, coarse to fine. */
export const timeUnits = ['s', 'ms', 'us', 'ns', 'filetime', 'webkit', 'ticks', 'serial'] as const;

export type TimeUnit = (typeof timeUnits)[number];

const YEAR_1601_MS = -11_644_473_600_000;

/** Decimal places to move the point right for ms, and the unix ms of 0. A serial is parsed separately. */
const scales: Readonly<Record<TimeUnit, { readonly places: number; readonly epochMs: number }>> = {
  s: { places: 3, epochMs: 0 },
  ms: { places: 0, epochMs: 0 },
  us: { places: -3, epochMs: 0 },
  ns: { places: -6, epochMs: 0 },
  filetime: { places: -4, epochMs: YEAR_1601_MS },
  webkit: { places: -3, epochMs: YEAR_1601_MS },
  ticks: { places: -4, epochMs: -62_135_596_800_000 },
  serial: { places: 0, epochMs: -2_209_161_600_000 },
};

const DAY_MS = 86_400_000;

/** 100 million days either side of 1970, the range of an ECMAScript date. */
const MAX_MS = 8.64e15;
const PLAIN_DIGITS = 15;
const MAX_BYTES = 400;

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Unix ms of a decimal number (`807256800.25`, `-0.5`, `1.4462495e9`), rounded down; NaN for other text and beyond MAX_MS.
 * Exact: `1447000000.0009999999999999` is one ms below `...001`. Only a serial is rounded to the nearest ms.
 */
export function readUnix(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): number {
  const { places, epochMs } = scales[unit];
  if (unit === 'serial') {
    const days = numberOf(String.fromCharCode(...bytes.subarray(from, Math.min(to, from + MAX_BYTES))));
    return days >= 0 && days < MAX_MS / DAY_MS ? Math.round(days * DAY_MS) + epochMs : Number.NaN;
  }
  const plain = readPlain(bytes, from, to, places);
  if (plain >= 0) return plain + epochMs;
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
  return (sign === '-' ? 0 - ms : ms) + epochMs;
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

const NUMERIC_SIGNS = Buffer.from('+-.eE');

export function numberOf(text: string): number {
  return DECIMAL.test(text) && /\d/.test(text) ? Number(text) : Number.NaN;
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

const EARLIEST_MS = Date.UTC(1990, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** Other epochs first: a FILETIME of today is also a number of ns in 1974, ticks are ns in 1990. */
const datedUnits: readonly TimeUnit[] = ['filetime', 'webkit', 'ticks', 's', 'ms', 'us', 'ns'];

/** The unit in which a number lies between 1990 and 2100. Unique, except for serials, which are as small as counts. */
export function unitOfDate(value: number): TimeUnit | undefined {
  return datedUnits.find((unit) => {
    const ms = value * 10 ** scales[unit].places + scales[unit].epochMs;
    return ms >= EARLIEST_MS && ms < LATEST_MS;
  });
}

/** By plausible dates, else by size; for small numbers, as of a clock from 0, also by the column's name (`startNs`). */
export function unitOf(samples: readonly string[], name: string): TimeUnit {
  const numbers = samples.map(numberOf).filter((value) => !Number.isNaN(value));
  const median = numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
  const dated = numbers.map(unitOfDate).filter((unit) => unit !== undefined);
  if (dated.length * 2 > numbers.length) {
    const times = timeUnits.map((unit) => dated.filter((one) => one === unit).length);
    return timeUnits[times.indexOf(Math.max(...times))]!;
  }
  if (areSerials(samples, name)) return 'serial';
  const places = median < 1 ? 0 : Math.trunc(median).toFixed(0).length;
  const bySize = places <= 11 ? 0 : places <= 14 ? 1 : places <= 17 ? 2 : 3;
  return timeUnits[
    Math.max(
      bySize,
      unitNames.findIndex((pattern) => pattern.test(name)),
    )
  ]!;
}

/** Suffixes of column names, in the order of `timeUnits`. */
const unitNames = [
  /(?<![a-z])(s|secs?|seconds?)\)?$/i,
  /((?<![a-z])([Mm][Ss]|m(illi)?secs?|milliseconds?)|[a-z]Ms|[Mm]illis)\)?$/,
  /((?<![a-z])([Uu][Ss]|usecs?|microseconds?)|[a-z]Us|[Mm]icros)\)?$/,
  /((?<![a-z])([Nn][Ss]|nsecs?|nanoseconds?)|[a-z]Ns|[Nn]anos)\)?$/,
];

/** Four decimals of a day are exact to 9 s. */
const SERIAL = /\.\d{4,}$/;
const FEW_DAYS = 400;

/**
 * Spreadsheet dates: most lie between 1990 and 2100, close together, and are fractions of days or in a column named so.
 * A clock that began at 0 is hardly at 33,000 in the first rows.
 */
export function areSerials(samples: readonly string[], name: string): boolean {
  const days = (ms: number) => (ms - scales.serial.epochMs) / DAY_MS;
  const values = samples.map(numberOf).filter((value) => !Number.isNaN(value));
  const inside = values.filter((value) => value >= days(EARLIEST_MS) && value < days(LATEST_MS));
  if (inside.length === 0 || values.length * 2 <= samples.length || inside.length * 10 < values.length * 9)
    return false;
  if (Math.max(...inside) - Math.min(...inside) > FEW_DAYS) return false;
  return samples.filter((text) => SERIAL.test(text)).length * 2 > samples.length || /date|day/i.test(name);
}

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
