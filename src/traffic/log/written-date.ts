// Dates as people and older programs write them: with the name of a month, without a year, day or month first.
//
//   May 17 10:05:03                  Sun May 17 10:05:03 2015          Sun, 17 May 2015 10:05:03 GMT
//   17-May-2015 10:05:03.123         05/17/2015 10:05:03 AM            17.05.2015 10:05:03         2015-5-7 9:05
//
// Two things such a date does not say by itself: whether 05/06 is May or June, and the year. `DateStyle` says them.
import { daysFromCivil, unixMsOf } from './civil.js';

export interface DateStyle {
  /** Whether 05/06/2015 is the 5th of June. */
  readonly dayFirst: boolean;
  /** The year of a date that has none, by its unix ms in the year asked for. */
  year(msIn: (year: number) => number): number;
}

const CLOCK = '(\\d{1,2}):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d{1,9}))?)?(?:\\s*([ap]m))?';
const ZONE = '(?:\\s*(z|utc|gmt|[+-]\\d\\d:?\\d\\d))?';
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\\s+)?';
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';

/** Month first: `May 17 10:05:03`, with the year before or after the clock time. */
const NAMED = new RegExp(
  `^${WEEKDAY}${MONTH}\\s+(\\d{1,2})(?:(?:,\\s*|\\s+)(\\d{4}))?,?\\s+${CLOCK}${ZONE}(?:\\s+(?:[a-z]{3,4}\\s+)?(\\d{4}))?$`,
  'i',
);
/** Day first: `17 May 2015 10:05:03`. */
const DAY_NAMED = new RegExp(`^${WEEKDAY}(\\d{1,2})[\\s-]${MONTH}[\\s-](\\d{4}),?[\\s:]\\s*${CLOCK}${ZONE}$`, 'i');
const NUMBERED = new RegExp(`^(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4})(?:,?[\\sT]\\s*${CLOCK}${ZONE})?$`, 'i');
const YEAR_FIRST = new RegExp(`^(\\d{4})([/.-])(\\d{1,2})\\2(\\d{1,2})(?:,?[\\sT]\\s*${CLOCK}${ZONE})?$`, 'i');

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Unix milliseconds, rounded down; NaN for a text that is no such date or a date that does not exist. */
export function readWritten(text: string, style: DateStyle): number {
  const named = NAMED.exec(text);
  if (named !== null) {
    const [, month = '', day, early, ...clock] = named;
    const year = early ?? clock[6];
    const msIn = (of: number) => msOf(of, monthOf(month), Number(day), clock);
    return msIn(year === undefined ? style.year(msIn) : Number(year));
  }
  const dayNamed = DAY_NAMED.exec(text);
  if (dayNamed !== null) {
    const [, day, month = '', year, ...clock] = dayNamed;
    return msOf(Number(year), monthOf(month), Number(day), clock);
  }
  const numbered = NUMBERED.exec(text);
  if (numbered !== null) {
    const [, first, , second, year, ...clock] = numbered;
    const [day, month] = style.dayFirst ? [first, second] : [second, first];
    return msOf(Number(year), Number(month), Number(day), clock);
  }
  const [, year, , month, day, ...clock] = YEAR_FIRST.exec(text) ?? [];
  return year === undefined ? Number.NaN : msOf(Number(year), Number(month), Number(day), clock);
}

/** Whether the texts put the day first: undefined when no day above 12 shows it; day first with dots, as is usual there. */
export function dayFirstIn(texts: readonly string[]): boolean | undefined {
  for (const text of texts) {
    const [, first, separator, second] = NUMBERED.exec(text) ?? [];
    if (separator === '.' || Number(first) > 12) return true;
    if (Number(second) > 12) return false;
  }
  return undefined;
}

/** Whether the text is a numbered date whose day and month could be either. */
export function isNumbered(text: string): boolean {
  return NUMBERED.test(text);
}

function monthOf(name: string): number {
  return monthNames.indexOf(name.toLowerCase()) + 1;
}

/** @param clock hour, minute, second, fraction, am or pm, zone; all undefined for the start of the day */
function msOf(year: number, month: number, day: number, clock: readonly (string | undefined)[]): number {
  const [hour = '0', minute = '0', second = '0', fraction = '', half, zone] = clock;
  if (half !== undefined && (Number(hour) < 1 || Number(hour) > 12)) return Number.NaN;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  return unixMsOf(daysFromCivil(year, month, day), hours, Number(minute), Number(second), ms, zoneMinutes(zone));
}

function zoneMinutes(zone: string | undefined): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone ?? '') ?? [];
  const ahead = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -ahead : ahead;
}
