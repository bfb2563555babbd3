// Owns which column (or field) of a table says when, how many and who. Leaves reading the values to the formats.

import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { readCount } from './count.js';
import { hasDate, readInstant } from './instant.js';
import type { TableOptions } from './options.js';
import { printable } from './printable.js';
import { type TimeUnit, unitOf } from './unix.js';

/** The first rows of a table, to choose from. */
export interface Sample {
  /** What the table calls them. */
  readonly noun: 'column' | 'field';
  /** Every name, in the order of the table. */
  readonly names: readonly string[];
  /** Whether the table has it, also where it is a path into nested objects. */
  has(name: string): boolean;
  /** The values that the sampled rows have there, as bytes. */
  values(name: string): readonly Uint8Array[];
}

/** The choice, and the words that tell a person about it. */
export interface Columns {
  readonly time: string;
  /** What a plain number in the time column counts. */
  readonly unit: TimeUnit;
  readonly timeFrom: string;
  readonly count?: string;
  readonly countFrom?: string;
  readonly key?: string;
  readonly keyFrom?: string;
}

/** What a time is called, the surest name first; of those a table has, the first whose values are times is taken. */
const timeNames = words(
  'timestamp startedDateTime datetime time ts t time_iso8601 time_local event_time start_time started_at created_at',
  'logged_at epoch unix unix_time msec period bucket',
);

/** What a time is called that may as well be a part of one: taken when the values have a date and a clock time. */
const partNames = words('second minute hour day date');

/** What a number of requests is called. */
const countNames = words('count n requests request_count num_requests hits');

/** What the client is called, the surest name first: `host` may also be the server. */
const clientNames = words(
  'client client_ip client_addr client_address client_host remote_addr remote_address remote_ip remote_host',
  'source_ip src_ip c_ip ip ip_address addr address user_ip host',
);

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/** A table of counts has a time, a count and perhaps who: with more columns, a `count` may be that of anything. */
const MAX_COLUMNS_OF_COUNTS = 3;

/**
 * Chooses the columns. Named ones must exist (also in other letter case). Without a name,
 *
 * - the time is the first of the usual names whose sampled values are times;
 * - each row is one request, unless the table has at most three columns and, after the time, one with a usual name for a
 *   number of requests that holds whole numbers only (with a spread told, in a table of any width and anywhere in it);
 * - there is no key.
 * @throws Failure `invalid_input` when a named column, a time, or a count to spread is not there
 */
export function chooseColumns(sample: Sample, options: TableOptions, path: string): Columns {
  const time = timeColumn(sample, options, path);
  const values = sample.values(time);
  const unit = options.timeUnit ?? unitOf(values, time);
  const count = countColumn(sample, options, path, time);
  const key = options.keyColumn === undefined ? undefined : keyColumn(sample, options.keyColumn, path);
  return {
    time,
    unit,
    timeFrom: `${sample.noun} ${shown(time)} (${mostly(values, isDate) ? 'date and time' : `unix ${unit}`})`,
    ...(count !== undefined && { count, countFrom: `${sample.noun} ${shown(count)}` }),
    ...(key !== undefined && { key, keyFrom: `${sample.noun} ${shown(key)}` }),
  };
}

/** The column that stands for the time whatever it holds, when the table has one with a usual name or the name told. */
export function findTimeColumn(sample: Sample, told: string | undefined): string | undefined {
  if (told !== undefined) return resolve(sample, told);
  const found = timeNames.map((name) => sameWord(sample.names, name)).filter((name) => name !== undefined);
  const parts = partNames.map((name) => sameWord(sample.names, name)).filter((name) => name !== undefined);
  const isTime = (value: Uint8Array): boolean => !Number.isNaN(readInstant(value, 0, value.length, 's'));
  return (
    found.find((name) => mostly(sample.values(name), isTime)) ??
    parts.find((name) => mostly(sample.values(name), (value) => isDate(value) && value.includes(COLON))) ??
    found[0]
  );
}

/** A name told by a person: as it is, else but for letter case. */
function resolve(sample: Sample, told: string): string | undefined {
  if (sample.has(told)) return told;
  return sample.names.find((name) => name.toLowerCase() === told.toLowerCase());
}

function isDate(value: Uint8Array): boolean {
  let at = 0;
  while (at < value.length && (value[at]! <= 0x20 || value[at] === 0x5b)) at++;
  return hasDate(value, at, value.length);
}

function mostly(values: readonly Uint8Array[], holds: (value: Uint8Array) => boolean): boolean {
  return values.filter(holds).length * 2 > values.length;
}

function timeColumn(sample: Sample, options: TableOptions, path: string): string {
  const found = findTimeColumn(sample, options.timeColumn);
  if (found !== undefined) return found;
  if (options.timeColumn !== undefined) throw missing(sample, options.timeColumn, path, '--time-column');
  throw new Failure('invalid_input', {
    what: `No ${sample.noun} of ${path} is known to be the time.`,
    why: `It has ${listed(sample)}.`,
    fix: `Name it with --time-column${sample.noun === 'column' ? '; a table needs a first line with its names' : ''}.`,
  });
}

function countColumn(sample: Sample, options: TableOptions, path: string, time: string): string | undefined {
  const told = options.countColumn;
  if (told === false) return undefined;
  if (told !== undefined) return named(sample, told, path, '--count-column');
  const isSpread = (options.spreadMs ?? 0) > 0;
  const after = isSpread ? 0 : sample.names.indexOf(time) + 1;
  const wide = !isSpread && sample.names.length > MAX_COLUMNS_OF_COUNTS;
  const candidates = wide ? [] : sample.names.slice(after).filter((name) => name !== time);
  const found = countNames
    .map((name) => sameWord(candidates, name))
    .find((name) => name !== undefined && sample.values(name).every((value) => readCount(value, 0, value.length) >= 0));
  if (found !== undefined || !isSpread) return found;
  throw new Failure('invalid_input', {
    what: `No ${sample.noun} of ${path} is known to be the count that is to be spread.`,
    why: `It has ${listed(sample)}.`,
    fix: 'Name it with --count-column, or leave out --spread.',
  });
}

function keyColumn(sample: Sample, told: string, path: string): string {
  const isPseudo = told.toLowerCase() === 'client' && !sample.has(told);
  const client = isPseudo ? firstOf(sample.names, clientNames) : undefined;
  return client ?? named(sample, told, path, '--key');
}

function named(sample: Sample, told: string, path: string, option: string): string {
  const found = resolve(sample, told);
  if (found === undefined) throw missing(sample, told, path, option);
  return found;
}

function missing(sample: Sample, told: string, path: string, option: string): Failure {
  const guess = nearest(told, sample.names);
  return new Failure('invalid_input', {
    what: `${path} has no ${sample.noun} ${told}.`,
    why: `It has ${listed(sample)}.`,
    fix: guess === undefined ? `Name one of them with ${option}.` : `Did you mean ${option} ${shown(guess)}?`,
  });
}

function listed(sample: Sample): string {
  if (sample.names.length === 0) return `no ${sample.noun}s`;
  const names = sample.names.slice(0, 20).map(shown);
  const more = sample.names.length - names.length;
  return `the ${sample.noun}s ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A name from the file, fit to be printed. */
function shown(name: string): string {
  const bytes = Buffer.from(name);
  return name === '' ? '(empty)' : printable(bytes, 0, bytes.length);
}

function firstOf(names: readonly string[], wanted: readonly string[]): string | undefined {
  for (const word of wanted) {
    const found = sameWord(names, word);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The name that is the word but for letter case, a unit (`t_ms`), or how its parts are joined (`@timestamp`, `startTime`). */
function sameWord(names: readonly string[], word: string): string | undefined {
  const plain = plainWord(word);
  return (
    names.find((name) => name.toLowerCase() === word.toLowerCase()) ??
    names.find((name) => plainWord(name) === plain) ??
    names.find((name) => plainWord(name.replace(/[ _(.-]+(s|ms|us|ns)\)?$/i, '')) === plain)
  );
}

function plainWord(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

const COLON = 0x3a;
