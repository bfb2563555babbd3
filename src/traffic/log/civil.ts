// The calendar: days from a date, milliseconds from a date with a clock time. instant.ts reads their text.

const DAY_MINUTES = 24 * 60;

/**
 * Days from 1970-01-01 to a date of the proleptic Gregorian calendar; NaN for a date that does not exist.
 *
 * Years are counted from March, so that the leap day is a year's last and the months before it have a fixed pattern:
 *
 *   month   Mar Apr May Jun Jul Aug Sep Oct Nov Dec Jan Feb      days before month m of such a year
 *   m       0   1   2   3   4   5   6   7   8   9   10  11       = floor((153 m + 2) / 5)
 *
 * @param year 0 to 9999
 * @param month 1 to 12
 * @param day 1 to 31
 */
export function daysFromCivil(year: number, month: number, day: number): number {
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return Number.NaN;
  const y = month > 2 ? year : year - 1;
  const m = (month + 9) % 12;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return 365 * y + leapDays + Math.floor((153 * m + 2) / 5) + day - 1 - DAYS_TO_1970;
}

/** Days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_1970 = 719_468;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Unix milliseconds of a clock time; NaN when it does not exist. A leap second (23:59:60 UTC) is the second that follows,
 * as in POSIX; there is no 24:00.
 * @param days days from 1970-01-01 to the date as it is written, or NaN
 * @param zone minutes by which the clock is ahead of UTC, or NaN
 * @param ms 0 to 999
 */
export function unixMsOf(days: number, hour: number, minute: number, second: number, ms: number, zone: number): number {
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return Number.NaN;
  const minutes = days * DAY_MINUTES + hour * 60 + minute - zone;
  if (second === 60 && (minutes + 1) % DAY_MINUTES !== 0) return Number.NaN;
  return (minutes * 60 + second) * 1000 + ms;
}
