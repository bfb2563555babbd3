// Parses the text of a time to unix milliseconds, rounded down. Numbers are in unix.ts.
//
//   2015-05-17T10:05:03.123+02:00   2015/5/17 9:05   2015/05/17 - 10:05:03   20150517T100503Z   2015-05-17
//   17/May/2015:10:05:03 +0000      17-May-2015 10:05:03.123      Sun, 17 May 2015 10:05:03 GMT
//   Sun May 17 10:05:03 2015        May 17 10:05:03               the year is inferred
//   1431857103.123                  1431857103123
//
// Without a zone: UTC. Surrounding blanks and brackets are ignored.
import { readUnix, type TimeUnit, timeUnits, unitOfDigits, wholeDigits } from './unix.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const CLOCK = '(\\d{1,2}):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?(?:\\s*([ap]m))?';
/** Hours ahead of UTC. EST and the like are American, as in RFC 2822; IST and others that several zones share are not read. */
const zoneHours = new Map(
  'Z0 UTC0 GMT0 WET0 WEST1 BST1 CET1 CEST2 EET2 EEST3 MSK3 JST9 AEST10 AEDT11 EST-5 EDT-4 CST-6 CDT-5 MST-7 MDT-6 PST-8 PDT-7'
    .split(' ')
    .map((zone) => [zone.replace(/[^A-Z]/g, ''), Number(zone.replace(/[A-Z]/g, ''))]),
);
const ZONE_NAMES = [...zoneHours.keys()].join('|');
/** As logs write it behind a time. */
export const ZONE_TEXT = `(?:${ZONE_NAMES}|[+-]\\d\\d:?\\d\\d)`;
/** Go and Java write it twice, by its hours and by its name: `+0000 UTC m=+0.1`, `+01:00[Europe/Berlin]`, `Z[UTC]`. */
const ZONE = `(?:\\s*(${ZONE_NAMES}|[+-]\\d\\d(?::?\\d\\d)?)(?:(?<=\\d) [A-Z]{3,5}(?: m=[+-][\\d.]+)?|\\[[\\w/+-]+\\]?)?)?`;
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\\s+)?';
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';

/** A month with a leading zero requires a day of two digits: `2015-05-1` was truncated. */
const YEAR_FIRST = new RegExp(
  `^(?!\\d{4}.0\\d.\\d(?!\\d))(\\d{4})([/.-])(\\d{1,2})\\2(\\d{1,2})(?:(?:,?[\\sT]|\\s-)\\s*${CLOCK}${ZONE})?$`,
  'i',
);
const COMPACT = new RegExp(
  `^(\\d{4})(-?)(\\d\\d)\\2(\\d\\d)T(\\d\\d)(\\d\\d)(?:(\\d\\d)(?:[.,](\\d+))?)?()${ZONE}$`,
  'i',
);
const DAY_NAMED = new RegExp(`^${WEEKDAY}(\\d{1,2})[\\s/-]${MONTH}[\\s/-](\\d{4}),?[\\s:]\\s*${CLOCK}${ZONE}$`, 'i');
const MONTH_NAMED = new RegExp(
  `^${WEEKDAY}${MONTH}\\s+(\\d{1,2})(?:(?:,\\s*|\\s+)(\\d{4}))?,?\\s+(?:@\\s+)?${CLOCK}${ZONE}(?:\\s+(\\d{4}))?$`,
  'i',
);

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

interface DateStyle {
  /** The year of a date that has none; `msIn` is its unix ms in a year. */
  year?(msIn: (year: number) => number): number;
}

/** Unix ms of a date, alone or with a clock time; NaN for other text or a date that does not exist. */
export function readDate(text: string, style: DateStyle = {}): number {
  const yearFirst = YEAR_FIRST.exec(text) ?? COMPACT.exec(text);
  if (yearFirst !== null) {
    const [, year, , month, day, ...clock] = yearFirst;
    return msOf(Number(year), Number(month), Number(day), clock);
  }
  const dayNamed = DAY_NAMED.exec(text);
  if (dayNamed !== null) {
    const [, day, month = '', year, ...clock] = dayNamed;
    return msOf(Number(year), monthOf(month), Number(day), clock);
  }
  const monthNamed = MONTH_NAMED.exec(text);
  if (monthNamed === null) return Number.NaN;
  const [, month = '', day, early, ...clock] = monthNamed;
  const year = early ?? clock[6];
  const msIn = (of: number) => msOf(of, monthOf(month), Number(day), clock);
  return msIn(year === undefined ? (style.year?.(msIn) ?? Number.NaN) : Number(year));
}

function monthOf(name: string): number {
  return months.indexOf(name.toLowerCase()) + 1;
}

/** @param clock hour, minute, second, fraction, am or pm, zone; all undefined for the start of the day */
function msOf(year: number, month: number, day: number, clock: readonly (string | undefined)[]): number {
  const [hour = '0', minute = '0', second = '0', fraction = '', half, zone = ''] = clock;
  if (half && !(Number(hour) >= 1 && Number(hour) <= 12)) return Number.NaN;
  const hours = half ? (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0) : Number(hour);
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  return instantOf(dayStart(year, month, day), hours, Number(minute), Number(second), ms, zoneMinutes(zone));
}

function zoneMinutes(zone: string): number {
  const [, sign, hours = '', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (sign === undefined) return 60 * (zoneHours.get(zone.toUpperCase()) ?? 0);
  const ahead = Number(hours) < 24 && Number(minutes) < 60 ? Number(hours) * 60 + Number(minutes) : Number.NaN;
  return sign === '-' ? -ahead : ahead;
}

let lastDay = Number.NaN;
let lastDayMs = Number.NaN;

/** NaN if the date does not exist. The last one is cached: most lines have the same. */
function dayStart(year: number, month: number, day: number): number {
  const packed = (year * 100 + month) * 100 + day;
  if (packed === lastDay) return lastDayMs;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (year < 0 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return Number.NaN;
  lastDay = packed;
  lastDayMs = date.getTime();
  return lastDayMs;
}

/** NaN if there is no such time. A leap second is the next second, as in POSIX. `zone`: minutes ahead of UTC. */
function instantOf(dayMs: number, hour: number, minute: number, second: number, ms: number, zone: number): number {
  if (!(hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60)) return Number.NaN;
  const minuteMs = dayMs + (hour * 60 + minute - zone) * MINUTE_MS;
  if (second === 60 && (minuteMs + MINUTE_MS) % DAY_MS !== 0) return Number.NaN;
  return minuteMs + second * 1000 + ms;
}

/** The usual ISO form, `2015-05-17T10:05:03.123Z`, without allocating a string; NaN for any other. */
function readIso(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 19 || bytes[from + 4] !== MINUS || bytes[from + 13] !== COLON) return Number.NaN;
  if (bytes[from + 7] !== MINUS || bytes[from + 16] !== COLON) return Number.NaN;
  if (bytes[from + 10] !== LETTER_T && bytes[from + 10] !== SPACE) return Number.NaN;
  let at = from + 19;
  let ms = 0;
  if (at < to && (bytes[at] === DOT || bytes[at] === COMMA)) {
    const point = at++;
    for (; at < to && isDigit(bytes[at]!); at++) if (at - point <= 3) ms = ms * 10 + bytes[at]! - ZERO;
    if (at === point + 1) return Number.NaN;
    for (let place = at - point; place <= 3; place++) ms *= 10;
  }
  let zone = 0;
  if (to - at === 6 && bytes[at + 3] === COLON) zone = zoneAt(bytes, at, at + 4);
  else if (at !== to && !(at + 1 === to && bytes[at] === LETTER_Z)) return Number.NaN;
  const dayMs = dayStart(yearAt(bytes, from), twoDigits(bytes, from + 5), twoDigits(bytes, from + 8));
  return clockAt(bytes, from + 11, dayMs, ms, zone);
}

/** The usual form of access logs, `17/May/2015:10:05:03 +0000`, also with `.123`, without a string; NaN otherwise. */
export function readClf(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from + 2] !== SLASH || bytes[from + 6] !== SLASH || bytes[from + 11] !== COLON) return Number.NaN;
  if (bytes[from + 14] !== COLON || bytes[from + 17] !== COLON || bytes[to - 6] !== SPACE) return Number.NaN;
  let ms = 0;
  if (to - from > 26) {
    const [tens, ones] = [twoDigits(bytes, from + 21), bytes[from + 23]! - ZERO];
    if (bytes[from + 20] !== DOT || tens < 0 || !(ones >= 0 && ones <= 9)) return Number.NaN;
    ms = 10 * tens + ones;
  }
  const dayMs = dayStart(yearAt(bytes, from + 7), monthAt(bytes, from + 3), twoDigits(bytes, from));
  return clockAt(bytes, from + 12, dayMs, ms, zoneAt(bytes, to - 5, to - 2));
}

function yearAt(bytes: Uint8Array, at: number): number {
  const century = twoDigits(bytes, at);
  const year = twoDigits(bytes, at + 2);
  return century < 0 || year < 0 ? -1 : century * 100 + year;
}

function clockAt(bytes: Uint8Array, at: number, dayMs: number, ms: number, zone: number): number {
  return instantOf(dayMs, twoDigits(bytes, at), twoDigits(bytes, at + 3), twoDigits(bytes, at + 6), ms, zone);
}

/** Minutes ahead of UTC; NaN if there is no zone. */
function zoneAt(bytes: Uint8Array, at: number, minutesAt: number): number {
  const sign = bytes[at];
  const hours = twoDigits(bytes, at + 1);
  const minutes = twoDigits(bytes, minutesAt);
  if ((sign !== PLUS && sign !== MINUS) || !(hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60))
    return Number.NaN;
  return sign === MINUS ? -(hours * 60 + minutes) : hours * 60 + minutes;
}

let lastMonthBytes = 0;
let lastMonth = 0;

function monthAt(bytes: Uint8Array, at: number): number {
  const packed = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  if (packed !== lastMonthBytes) {
    lastMonthBytes = packed;
    lastMonth = monthOf(String.fromCharCode(...bytes.subarray(at, at + 3)));
  }
  return lastMonth;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - ZERO;
  const ones = bytes[at + 1]! - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

const MAX_DATE_BYTES = 64;

/** Unix ms of a time in any form above, NaN for other text. `unit` applies to plain numbers. */
export function readInstant(bytes: Uint8Array, from: number, to: number, unit: TimeUnit, style?: DateStyle): number {
  let start = from;
  let end = to;
  while (start < end && (bytes[start]! <= SPACE || bytes[start] === OPEN_BRACKET)) start++;
  while (start < end && (bytes[end - 1]! <= SPACE || bytes[end - 1] === CLOSE_BRACKET)) end--;
  const iso = readIso(bytes, start, end);
  if (!Number.isNaN(iso)) return iso;
  const number = readUnix(bytes, start, end, unit);
  if (!Number.isNaN(number) || end - start > MAX_DATE_BYTES || start === end) return number;
  return readDate(String.fromCharCode(...bytes.subarray(start, end)), style);
}

export interface TimeStyle {
  readonly unit: TimeUnit;
  /** Whether the numbers are present-day dates: then a value of another magnitude has another unit. */
  readonly mayMix: boolean;
  /** The present: a date without a year is the latest that is not after it. Undefined: such dates are in 2000. */
  readonly nowMs: number | undefined;
}

/** If a 29th of February has no year, all dates are near the latest one. */
export function presentOf(dates: readonly string[], nowMs: number | undefined): number | undefined {
  const leapDay = dates.find((date) => /^Feb 29 [\d:.]+$/.test(date));
  return leapDay === undefined ? nowMs : readDate(leapDay, new TimeReader({ unit: 's', mayMix: false, nowMs }));
}

const HALF_YEAR_MS = 182 * DAY_MS;
const NO_CLOCK_YEAR = 2000;

export class TimeReader implements DateStyle {
  otherUnits = 0;
  withoutYear = 0;
  readonly #style: TimeStyle;
  readonly #digits: number;
  #year: number | undefined;
  #lastMs = Number.NaN;

  constructor(style: TimeStyle) {
    this.#style = style;
    this.#digits = style.mayMix ? 10 + 3 * timeUnits.indexOf(style.unit) : 0;
  }

  read(bytes: Uint8Array, from: number, to: number): number {
    let { unit } = this.#style;
    if (this.#digits > 0) {
      const digits = wholeDigits(bytes, from, to);
      const isNumber = from + digits === to || bytes[from + digits] === DOT;
      const own = digits === this.#digits || !isNumber ? undefined : unitOfDigits(digits);
      if (own !== undefined) {
        this.otherUnits++;
        unit = own;
      }
    }
    return readInstant(bytes, from, to, unit, this);
  }

  /** The latest year at most a day after the present. December to January advances it; a later December is a late line. */
  year(msIn: (year: number) => number): number {
    this.withoutYear++;
    const { nowMs } = this.#style;
    if (this.#year === undefined) {
      const now = nowMs === undefined ? NO_CLOCK_YEAR : new Date(nowMs).getUTCFullYear();
      // The 29th of February exists in a leap year only.
      const years = nowMs === undefined ? [now] : [now, now - 1, now - 2, now - 3, now - 4];
      this.#year = years.find((year) => msIn(year) <= (nowMs ?? Number.POSITIVE_INFINITY) + DAY_MS) ?? now;
    } else {
      const ms = msIn(this.#year);
      if (ms > this.#lastMs + HALF_YEAR_MS) return this.#year - 1;
      if (ms < this.#lastMs - HALF_YEAR_MS) this.#year++;
    }
    this.#lastMs = msIn(this.#year);
    return this.#year;
  }
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
const LETTER_Z = 0x5a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
