// Times written as a decimal number, and which unit such a number is in. Calendar times are in instant.ts.
//
//   1700000000.123   s           1700000000123   ms          1700000000123456   us        1700000000123456789   ns
//   133444736000000000   filetime, 100 ns since 1601         13344473600000000   webkit, us since 1601
//   638355968000000000   ticks, 100 ns since the year 1      45244.925926   serial, days since 1899-12-30

/** The units of a number, coarse to fine for those that count from 1970-01-01 UTC. */
export const timeUnits = ['s', 'ms', 'us', 'ns', 'filetime', 'webkit', 'ticks', 'serial'] as const;

export type TimeUnit = (typeof timeUnits)[number];

/** By how many decimal places a number in this unit is moved to become milliseconds. A serial is read on its own. */
const placesToMs: Readonly<Record<TimeUnit, number>> = {
  s: 3,
  ms: 0,
  us: -3,
  ns: -6,
  filetime: -4,
  webkit: -3,
  ticks: -4,
  serial: 0,
};

const YEAR_1601_MS = -11_644_473_600_000;

/** Where the count of a unit begins, in unix ms. */
const epochMs: Readonly<Record<TimeUnit, number>> = {
  s: 0,
  ms: 0,
  us: 0,
  ns: 0,
  filetime: YEAR_1601_MS,
  webkit: YEAR_1601_MS,
  ticks: -62_135_596_800_000,
  serial: -2_209_161_600_000,
};

const DAY_MS = 86_400_000;

/** The last instant that is read, in ms from 1970 either way: 100 million days, the range of an ECMAScript date. */
const MAX_MS = 8.64e15;

const DIGITS = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Unix milliseconds, rounded down, of a decimal number; NaN when it is none or lies beyond 100 million days from 1970.
 * The point is moved within the text, so no digit is lost: `1447000000.0009999999999999` is one ms below `...001`.
 * A serial is a fraction of a day that a spreadsheet has rounded already: it is rounded to the nearest ms.
 * @param bytes text as `1446249504427`, `807256800.25`, `-0.5`, `1.4462495e9` from `from` up to `to`
 */
export function readUnix(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): number {
  if (unit === 'serial') return readSerial(bytes, from, to);
  const plain = readPlain(bytes, from, to, placesToMs[unit]);
  if (plain >= 0) return plain + epochMs[unit];
  const decimal = decimalIn(bytes, from, to);
  if (decimal === undefined) return Number.NaN;
  const wholePlaces = decimal.wholePlaces + placesToMs[unit];
  const kept = decimal.digits.slice(0, Math.max(0, wholePlaces)).padEnd(wholePlaces, '0');
  const ms = Number(kept);
  if (ms > MAX_MS) return Number.NaN;
  const floored = decimal.negative && /[1-9]/.test(decimal.digits.slice(Math.max(0, wholePlaces))) ? ms + 1 : ms;
  return (decimal.negative ? 0 - floored : ms) + epochMs[unit];
}

function readSerial(bytes: Uint8Array, from: number, to: number): number {
  const days = numberIn(bytes, from, to);
  return days >= 0 && days < MAX_MS / DAY_MS ? Math.round(days * DAY_MS) + epochMs.serial : Number.NaN;
}

/** The usual case without making a string: digits, perhaps with a point among them; -1 for everything else. */
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

/** As many digits as surely make a number of ms within MAX_MS. */
const PLAIN_DIGITS = 15;

/** How many digits a number has before its point; 0 when it does not begin with a digit. */
export function wholeDigits(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9) at++;
  return at - from;
}

/**
 * The unit of a number that counts from 1970 and lies between 2001 and 2286, by its digits before the point: 10 are s, 13 ms,
 * 16 us, 19 ns. Undefined for another number of digits, which says nothing.
 */
export function unitOfDigits(digits: number): TimeUnit | undefined {
  return digits >= 10 && digits <= 19 && digits % 3 === 1 ? timeUnits[(digits - 10) / 3] : undefined;
}

/** From 1990 to 2100: a number that falls there is hardly anything but a date. */
const EARLIEST_MS = Date.UTC(1990, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

const fromSerial = (ms: number) => (ms - epochMs.serial) / DAY_MS;

/**
 * What a number is that lies between 1990 and 2100 in one of the units: no number lies there in two of them, but for serials,
 * which are as small as counts.
 */
export function unitOfDate(value: number): TimeUnit | undefined {
  for (const unit of datedUnits) {
    const ms = value * 10 ** placesToMs[unit] + epochMs[unit];
    if (ms >= EARLIEST_MS && ms < LATEST_MS) return unit;
  }
  return undefined;
}

/** Those counting from elsewhere first: FILETIME of today is also a number of ns in 1974, ticks are ns in 1990. */
const datedUnits: readonly TimeUnit[] = ['filetime', 'webkit', 'ticks', 's', 'ms', 'us', 'ns'];

/**
 * The unit that most of `samples` (texts of numbers) are written in: by the date they would give where that is plausible,
 * else by how big they are (as `unitOfDigits`, with all smaller numbers in s). Small numbers say little, since a clock may
 * have begun at 0. So for them a unit in the `name` of the column (`t_ms`, `startNs`) counts, unless they are too big for it.
 */
export function unitOf(samples: readonly Uint8Array[], name: string): TimeUnit {
  const numbers = samples
    .map((bytes) => numberIn(bytes, 0, bytes.length))
    .filter((value) => !Number.isNaN(value))
    .sort((a, b) => a - b);
  const median = numbers[Math.floor(numbers.length / 2)] ?? 0;
  const dated = numbers.map(unitOfDate).filter((unit) => unit !== undefined);
  if (dated.length * 2 > numbers.length) return mostFrequent(dated);
  if (areSerials(samples, name)) return 'serial';
  const places = median < 1 ? 0 : Math.trunc(median).toFixed(0).length;
  const bySize = places <= 11 ? 0 : places <= 14 ? 1 : places <= 17 ? 2 : 3;
  const byName = unitNames.findIndex((pattern) => pattern.test(name));
  return timeUnits[Math.max(bySize, byName)]!;
}

/** Of those alike, the coarsest. */
function mostFrequent(units: readonly TimeUnit[]): TimeUnit {
  const times = timeUnits.map((unit) => units.filter((one) => one === unit).length);
  return timeUnits[times.indexOf(Math.max(...times))]!;
}

/** How many decimals a serial has at least: one of four is exact to 9 s. */
const SERIAL_DECIMALS = 4;
const FEW_DAYS = 400;

/**
 * Whether the numbers are dates of a spreadsheet. They lie between 1990 and 2100, and close together; and they are fractions
 * of days, or days in a column that is called so. (A clock that began at 0 is hardly at 33,000 in the first rows.)
 */
export function areSerials(samples: readonly Uint8Array[], name: string): boolean {
  const values = samples.map((bytes) => numberIn(bytes, 0, bytes.length)).filter((value) => !Number.isNaN(value));
  if (values.length * 2 <= samples.length) return false;
  const inside = values.filter((value) => value >= fromSerial(EARLIEST_MS) && value < fromSerial(LATEST_MS));
  if (inside.length * 10 < values.length * 9 || inside.length === 0) return false;
  const sorted = [...inside].sort((a, b) => a - b);
  if (sorted.at(-1)! - sorted[0]! > FEW_DAYS) return false;
  const fractional = samples.filter((bytes) => decimalsIn(bytes) >= SERIAL_DECIMALS).length;
  return fractional * 2 > samples.length || /date|day/i.test(name);
}

function decimalsIn(bytes: Uint8Array): number {
  const point = bytes.indexOf(DOT);
  return point < 0 ? 0 : bytes.length - point - 1;
}

/** How a column's name ends when it names a unit, in the order of `timeUnits`. */
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
  if (to - from > 400 || !isNumeric(bytes, from, to)) return undefined;
  const parts = DIGITS.exec(String.fromCharCode(...bytes.subarray(from, to)));
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  const all = whole + fraction;
  if (all === '') return undefined;
  const digits = all.replace(/^0+/, '');
  const wholePlaces = digits === '' ? 0 : whole.length - (all.length - digits.length) + Number(exponent);
  return { negative: sign === '-', digits, wholePlaces };
}

/** Whether every byte can be of a number: most dates are refused without making a string of them. */
function isNumeric(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if ((byte < ZERO || byte > ZERO + 9) && !NUMERIC_SIGNS.includes(byte)) return false;
  }
  return true;
}

const NUMERIC_SIGNS = Buffer.from('+-.eE');

/** The nearest double of a decimal number, NaN when it is none. */
function numberIn(bytes: Uint8Array, from: number, to: number): number {
  return decimalIn(bytes, from, to) === undefined
    ? Number.NaN
    : Number(String.fromCharCode(...bytes.subarray(from, to)));
}

/** More requests than this in one row are refused: sums over a log stay exact. */
const MAX_COUNT = 1e12;

const WHOLE = /^\s*\+?(\d{1,15})(?:\.0*)?\s*$/;

/** A number of requests: a whole number from 0 to 10^12, as `61` or `61.0`; NaN for anything else. */
export function readCount(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  let at = from;
  for (; at < to && at - from < 12; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) break;
    count = count * 10 + digit;
  }
  if (at === to && to > from) return count;
  if (to - from > 64) return Number.NaN;
  const digits = WHOLE.exec(String.fromCharCode(...bytes.subarray(from, to)))?.[1];
  const whole = digits === undefined ? Number.NaN : Number(digits);
  return whole <= MAX_COUNT ? whole : Number.NaN;
}

const DOT = 0x2e;
const ZERO = 0x30;
