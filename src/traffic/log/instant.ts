// Reads a time from bytes, in integers: ISO 8601, CLF, or a number. The calendar is in civil.ts, numbers in unix.ts.
import { daysFromCivil, unixMsOf } from './civil.js';
import { readUnix, type TimeUnit } from './unix.js';

/**
 * Unix milliseconds, rounded down, of a time in any way a log writes it; NaN when it is none.
 *
 *   2015-05-17T10:05:03.1234567+02:00   2015/05/17 10:05:03,123   20150517T100503Z   2015-05-17
 *   17/May/2015:10:05:03 +0000          [17/May/2015:10:05:03 +0000]
 *   1431857103   1431857103.123   1431857103123
 *
 * Without a zone it is UTC. Blanks and brackets around it do not matter.
 * @param unit what a plain number counts
 */
export function readInstant(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): number {
  let start = from;
  let end = to;
  while (start < end && (bytes[start]! <= SPACE || bytes[start] === OPEN_BRACKET)) start++;
  while (start < end && (bytes[end - 1]! <= SPACE || bytes[end - 1] === CLOSE_BRACKET)) end--;
  return hasDate(bytes, start, end) ? readDateTime(bytes, start, end) : readUnix(bytes, start, end, unit);
}

/** Whether the text has the outline of a date, not of a number: it may still be none, as 31 February. */
export function hasDate(bytes: Uint8Array, from: number, to: number): boolean {
  return isoWidth(bytes, from, to) > 0 || isClf(bytes, from, to);
}

/** Unix milliseconds of a date, alone or with a clock time, ISO or CLF; NaN when it is none or does not exist. */
export function readDateTime(bytes: Uint8Array, from: number, to: number): number {
  return isClf(bytes, from, to) ? readClf(bytes, from, to) : readIso(bytes, from, to);
}

function isClf(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from >= 16 && (bytes[from + 2] === SLASH || bytes[from + 1] === SLASH);
}

/** `17/May/2015:10:05:03 +0000`, the day with one digit or two. */
function readClf(bytes: Uint8Array, from: number, to: number): number {
  const width = bytes[from + 1] === SLASH ? 1 : 2;
  const at = from + width;
  if (to - at < 14 || bytes[at + 4] !== SLASH || bytes[at + 9] !== COLON) return Number.NaN;
  const day = width === 1 ? digit(bytes, from) : two(bytes, from);
  return readClock(bytes, at + 10, to, daysFromCivil(four(bytes, at + 5), monthNamed(bytes, at + 1), day));
}

/** How many bytes the date at `from` takes: `2015-05-17` or `2015/05/17` 10, `20150517T...` 8, anything else 0. */
function isoWidth(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 10) return 0;
  const separator = bytes[from + 4];
  if (separator === MINUS || separator === SLASH) return bytes[from + 7] === separator ? 10 : 0;
  return bytes[from + 8] === LETTER_T ? 8 : 0;
}

function readIso(bytes: Uint8Array, from: number, to: number): number {
  const width = isoWidth(bytes, from, to);
  if (width === 0) return Number.NaN;
  const gap = width === 10 ? 1 : 0;
  const month = two(bytes, from + 4 + gap);
  const days = daysFromCivil(four(bytes, from), month, two(bytes, from + 6 + 2 * gap));
  const at = from + width;
  if (at === to) return unixMsOf(days, 0, 0, 0, 0, 0);
  const between = bytes[at]!;
  return between === SPACE || (between | LOWER) === (LETTER_T | LOWER)
    ? readClock(bytes, at + 1, to, days)
    : Number.NaN;
}

/** `10:05`, `10:05:03`, `10:05:03.1234567` (or with a comma, or all without colons), then a zone, up to `to` exactly. */
function readClock(bytes: Uint8Array, from: number, to: number, days: number): number {
  const gap = bytes[from + 2] === COLON ? 1 : 0;
  if (to - from < 4 + gap) return Number.NaN;
  let at = from + 4 + gap;
  let second = 0;
  let ms = 0;
  if (to - at >= 2 + gap && (gap === 1 ? bytes[at] === COLON : isDigit(bytes[at]!))) {
    second = two(bytes, at + gap);
    at += 2 + gap;
    if (at < to && (bytes[at] === DOT || bytes[at] === COMMA)) {
      const point = at++;
      for (; at < to && isDigit(bytes[at]!); at++) if (at - point <= 3) ms = ms * 10 + bytes[at]! - ZERO;
      if (at === point + 1) return Number.NaN;
      for (let place = at - point; place <= 3; place++) ms *= 10;
    }
  }
  return unixMsOf(days, two(bytes, from), two(bytes, from + 2 + gap), second, ms, readZone(bytes, at, to));
}

/** Minutes ahead of UTC: `Z`, `UTC`, `GMT`, `+hh`, `+hhmm`, `+hh:mm`, also after a blank; nothing is UTC. */
function readZone(bytes: Uint8Array, from: number, to: number): number {
  const at = from < to && bytes[from] === SPACE ? from + 1 : from;
  if (at === to) return at === from ? 0 : Number.NaN;
  const sign = bytes[at];
  if (sign !== PLUS && sign !== MINUS) return /^(z|utc|gmt)$/i.test(letters(bytes, at, to)) ? 0 : Number.NaN;
  const gap = bytes[at + 3] === COLON ? 1 : 0;
  const length = to - at;
  if (length !== 5 + gap && length !== 3) return Number.NaN;
  const hour = two(bytes, at + 1);
  const minute = length === 3 ? 0 : two(bytes, at + 3 + gap);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
  return sign === MINUS ? -(hour * 60 + minute) : hour * 60 + minute;
}

/** 1 to 12 for three letters of an English month in any case, 0 for anything else. */
function monthNamed(bytes: Uint8Array, at: number): number {
  const packed = ((bytes[at]! | LOWER) << 16) | ((bytes[at + 1]! | LOWER) << 8) | bytes[at + 2]! | LOWER;
  return months.indexOf(packed) + 1;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map(
  (name) => (name.charCodeAt(0) << 16) | (name.charCodeAt(1) << 8) | name.charCodeAt(2),
);

function letters(bytes: Uint8Array, from: number, to: number): string {
  return to - from > 3 ? '' : String.fromCharCode(...bytes.subarray(from, to));
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

/** The number at `at` with as many digits as the name says; negative when one of them is no digit. */
function digit(bytes: Uint8Array, at: number): number {
  return isDigit(bytes[at]!) ? bytes[at]! - ZERO : -1;
}

function two(bytes: Uint8Array, at: number): number {
  return isDigit(bytes[at]!) && isDigit(bytes[at + 1]!) ? (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO : -1;
}

function four(bytes: Uint8Array, at: number): number {
  const high = two(bytes, at);
  const low = two(bytes, at + 2);
  return high < 0 || low < 0 ? -1 : high * 100 + low;
}

const SPACE = 0x20;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const ZERO = 0x30;
const COLON = 0x3a;
const LETTER_T = 0x54;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** Or-ed to a letter's byte, it makes the letter lower case. */
const LOWER = 0x20;
