// Chooses the field that is the time of a request, or the two that are its date and its clock time, and how they are read.
import { Failure } from '../../schema/failure.js';
import { type Layout, mostly, valuesOf } from './layout.js';
import type { FieldOptions, Warning } from './log-options.js';
import { listed, missing, resolve, sameWord, shown } from './names.js';
import { TimeReader, type TimeStyle } from './time-reader.js';
import { areSerials, type TimeUnit, unitOf, unitOfDate } from './unix.js';
import { dayFirstIn, isNumbered } from './written-date.js';

export interface TimeChoice {
  /** One field, or the date and the clock time. */
  readonly names: readonly string[];
  readonly style: TimeStyle;
  /** In words: `column t_ms (unix ms)`. */
  readonly from: string;
  /** `date`, or what the numbers count. */
  readonly unit: TimeUnit | 'date';
}

/** What a time is called, the surest name first. */
const timeNames = words(
  // When a request began, beside a time that may be that of its end or of its line: Cloudflare, Traefik.
  'edge_start_timestamp start_utc start_local',
  'timestamp startedDateTime datetime date_time time ts t time_iso8601 time_local event_time start_time started_at created_at',
  'logged_at request_timestamp epoch unix unix_time msec period bucket starttime timestamp_start when',
);

/** What a time is called that may as well be a part of one: taken when the values have a date and a clock time. */
const partNames = words('second minute hour day date');

/** Names of which numbers may be dates, though they are none of the usual ones. */
const TIMELY = /time|date|stamp|epoch|(^|_)(ts|at)$|At$/i;

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/**
 * The time of a log: the field that a person names, else the first of
 *
 * 1. a usual name whose values are dates, or numbers that are dates between 1990 and 2100
 * 2. a date and a clock time in two fields
 * 3. any name whose values are dates with a clock time
 * 4. a usual name whose values are numbers: a clock that began at 0
 * 5. dates without a clock time: all requests of a day come at its start, or spread over it
 *
 * @throws Failure `invalid_input`
 */
export function chooseTime(layout: Layout, options: FieldOptions, path: string, warnings: Warning[]): TimeChoice {
  const names = findTime(layout, options.timeColumn);
  if (names !== undefined) return choiceOf(layout, names, options, warnings);
  if (options.timeColumn !== undefined) throw missing(layout, options.timeColumn, path, '--time-column');
  throw new Failure('invalid_input', {
    what: `No ${layout.noun} of ${path} is known to be the time.`,
    why: `It has ${listed(layout)}.`,
    fix: `Name it with --time-column${layout.noun === 'column' ? '; a table needs a first line with its names' : ''}.`,
  });
}

/** The fields that stand for the time whatever they hold, when the log has one with a usual name or the name given. */
export function findTime(layout: Layout, told: string | undefined): readonly string[] | undefined {
  if (told !== undefined) {
    const parts = told.split('+').map((part) => resolve(layout, part));
    const whole = resolve(layout, told);
    if (whole !== undefined) return [whole];
    return parts.length === 2 && !parts.includes(undefined) ? (parts as string[]) : undefined;
  }
  if (layout.known?.time !== undefined) return [layout.known.time];
  const { names } = layout;
  const values = new Map<string, readonly Buffer[]>();
  const of = (name: string): readonly Buffer[] => {
    if (!values.has(name)) values.set(name, valuesOf(layout, name));
    return values.get(name)!;
  };
  const usual = timeNames.map((word) => sameWord(names, word)).filter((name) => name !== undefined);
  const parts = partNames.map((word) => sameWord(names, word)).filter((name) => name !== undefined);
  const dated = usual.find(
    (name) => mostly(of(name), (value) => isFullDate(value, true)) || areSerials(of(name), name),
  );
  if (dated !== undefined) return [finerThan(dated, usual, of) ?? dated];
  const joined = dateAndClock(names, of);
  if (joined !== undefined) return joined;
  const other =
    parts.find((name) => mostly(of(name), (value) => isFullDate(value, true)) || areSerials(of(name), name)) ??
    byBeginning(names).find(
      (name) => of(name).length > 0 && mostly(of(name), (value) => isFullDate(value, TIMELY.test(name))),
    );
  if (other !== undefined) return [other];
  const number = usual.find((name) => of(name).length > 0 && mostly(of(name), isTime));
  const days = parts.find((name) => of(name).length > 0 && mostly(of(name), isDateAlone));
  const last = number ?? days ?? usual[0];
  return last === undefined ? undefined : [last];
}

/** Another usual field with the same times, and fractions of a second, where the one found has whole seconds: `msec` beside `time_iso8601`. */
function finerThan(
  found: string,
  usual: readonly string[],
  of: (name: string) => readonly Buffer[],
): string | undefined {
  const seconds = of(found).map((value) => instantOf(value));
  if (seconds.length === 0 || seconds.some((ms) => Number.isNaN(ms) || ms % 1000 !== 0)) return undefined;
  return usual.find((name) => {
    const times = of(name).map((value) => instantOf(value));
    return (
      times.length === seconds.length &&
      times.every((ms, index) => Math.abs(ms - seconds[index]!) <= 1000) &&
      times.some((ms) => ms % 1000 !== 0)
    );
  });
}

/** Unix ms of a date, or of a number that is one; else NaN. */
function instantOf(value: Buffer): number {
  const unit = unitOfDate(Number(value.toString('latin1') || Number.NaN));
  return new TimeReader({ unit: unit ?? 's', mayMix: false, dayFirst: true, nowMs: undefined }).read(
    value,
    0,
    value.length,
  );
}

/** Names of a beginning first, those of an end last: the time of a request is when it came. */
function byBeginning(names: readonly string[]): string[] {
  const rank = (name: string) => (/start|begin/i.test(name) ? 0 : /end|finish|stop|complete/i.test(name) ? 2 : 1);
  return [...names].sort((a, b) => rank(a) - rank(b));
}

/** A field of dates without a clock time, and one of clock times without a date. */
function dateAndClock(
  names: readonly string[],
  of: (name: string) => readonly Buffer[],
): readonly [date: string, clock: string] | undefined {
  const clock = names.find((name) => of(name).length > 0 && mostly(of(name), isClock));
  if (clock === undefined) return undefined;
  const date = names.find((name) => of(name).length > 0 && mostly(of(name), isDateAlone));
  return date === undefined ? undefined : [date, clock];
}

const reader = (dayFirst = true) => new TimeReader({ unit: 's', mayMix: false, dayFirst, nowMs: undefined });

const isClock = (value: Buffer): boolean =>
  /^\s*\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(\s*[ap]m)?\s*$/i.test(value.toString('latin1'));
const isDateAlone = (value: Buffer): boolean =>
  !value.includes(COLON) && isDate(value) && value.length <= 16 && !/^\d{8,}$/.test(value.toString('latin1'));
const isTime = (value: Buffer): boolean => !Number.isNaN(reader().read(value, 0, value.length));

/** A date in letters, digits and separators, with or without a clock time: not a number. */
function isDate(value: Buffer): boolean {
  if (!Number.isNaN(Number(value.toString('latin1')))) return false;
  return isTime(value) || !Number.isNaN(reader(false).read(value, 0, value.length));
}

/** A date with a clock time, or where `numbersToo` a number that is a date. */
export function isFullDate(value: Buffer, numbersToo: boolean): boolean {
  if (value.includes(COLON)) return isDate(value);
  if (/^\d{8}T\d{4}/.test(value.toString('latin1', 0, 13))) return isDate(value);
  return numbersToo && unitOfDate(Number(value.toString('latin1') || Number.NaN)) !== undefined;
}

function choiceOf(
  layout: Layout,
  names: readonly string[],
  { timeUnit, nowMs }: FieldOptions,
  warnings: Warning[],
): TimeChoice {
  const [name = '', clock] = names;
  const values = valuesOf(layout, name);
  const unit = timeUnit ?? unitOf(values, name);
  const texts = values.map((value) => value.toString('latin1').trim());
  const dayFirst = dayFirstIn(texts);
  const isDated = (text: string) => unitOfDate(Number(text || Number.NaN)) !== undefined;
  const mayMix = timeUnit === undefined && mostly(texts, isDated);
  if (dayFirst === undefined && texts.some(isNumbered)) {
    warnings.push({
      code: 'day_or_month_first',
      what: `The dates of ${layout.noun} ${shown(name)} may have the month first, as they were read, or the day first.`,
    });
  }
  if (clock === undefined && mostly(values, isDateAlone)) {
    warnings.push({
      code: 'date_alone',
      what: `The time is a date without a clock time: all requests of a day come at its start, unless --spread 24h is given.`,
    });
  }
  const isDates = clock !== undefined || mostly(values, isDate);
  const what = isDates
    ? 'date and time'
    : unit === 'serial'
      ? 'spreadsheet days'
      : isUnix(unit)
        ? `unix ${unit}`
        : unit;
  const plain = `${layout.noun}${clock === undefined ? '' : 's'} ${names.map(shown).join(' and ')} (${what})`;
  return {
    names,
    style: { unit, mayMix, dayFirst: dayFirst ?? false, nowMs },
    from: layout.known?.time === name && layout.known.timeFrom !== undefined ? layout.known.timeFrom : plain,
    unit: isDates ? 'date' : unit,
  };
}

function isUnix(unit: TimeUnit): boolean {
  return unit === 's' || unit === 'ms' || unit === 'us' || unit === 'ns';
}

const COLON = 0x3a;
