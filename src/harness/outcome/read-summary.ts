// Summarises how logs were read: format, columns, unit, first and last instant, and signs of a misreading.
import type { Warning } from '../traffic/log/log-options.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import type { ReadSummary } from './read-schema.js';

const YEAR_2000_MS = Date.UTC(2000, 0, 1);
const DAY_MS = 86_400_000;

/** A span of LONG_DAYS or more is suspicious if fewer than one in SPARSE of its days have requests. */
const LONG_DAYS = 40;
const SPARSE = 20;

/** From this many requests on, a key for nearly every request does not name clients. */
const MANY = 10;

export function summaryOf(
  readings: readonly LogReading[],
  keys: number | undefined,
  nowMs: number | undefined,
  assumed: readonly Warning[] = [],
): ReadSummary {
  const read = readings.filter(({ requests }) => requests > 0);
  const [one = readings[0]!] = read;
  const firstMs = Math.min(...read.map((reading) => reading.firstMs ?? Number.POSITIVE_INFINITY));
  const lastMs = Math.max(...read.map((reading) => reading.lastMs ?? Number.NEGATIVE_INFINITY));
  const formats = read.map(({ format, envelope }) => (envelope === undefined ? format : `${format} in ${envelope}`));
  return {
    format: [...new Set(formats)].join(', ') || one.format,
    columns: one.columns,
    time_unit: one.timeUnit ?? null,
    key: one.keyFrom ?? null,
    first_at: read.length === 0 ? null : instant(firstMs),
    last_at: read.length === 0 ? null : instant(lastMs),
    keys: keys ?? null,
    skipped_lines: sumOf(readings, ({ skippedLines }) => skippedLines),
    filtered: sumOf(readings, ({ filtered }) => filtered),
    warnings: [
      ...unique(readings.flatMap(({ warnings }) => warnings)),
      ...assumed,
      ...signsOfMisreading(readings, [firstMs, lastMs], keys, nowMs),
    ],
  };
}

function instant(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`;
}

function sumOf(readings: readonly LogReading[], of: (reading: LogReading) => number): number {
  return readings.reduce((sum, reading) => sum + of(reading), 0);
}

function unique(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map((warning) => [warning.code, warning])).values()];
}

function signsOfMisreading(
  readings: readonly LogReading[],
  [firstMs, lastMs]: readonly [number, number],
  keys = 0,
  nowMs = Number.POSITIVE_INFINITY,
): Warning[] {
  const requests = sumOf(readings, (one) => one.requests);
  const lines = sumOf(readings, (one) => one.lines);
  const skipped = sumOf(readings, (one) => one.skippedLines);
  const withoutKey = sumOf(readings, (one) => one.withoutKey);
  const active = sumOf(readings, (one) => one.days);
  const hasTimes = !readings.some((one) => one.requests > 0 && one.warnings.some(({ code }) => code === 'no_time'));
  const days = Math.floor((lastMs - firstMs) / DAY_MS) + 1;
  const signs: readonly (readonly [isSo: boolean, code: string, what: string])[] = [
    [
      firstMs < YEAR_2000_MS && hasTimes,
      'before_2000',
      `The first request is of ${instant(firstMs)}. If that is wrong, say what the time counts with --time :ms, or name its column with --time.`,
    ],
    [
      lastMs > nowMs + DAY_MS,
      'after_tomorrow',
      `The last request is of ${instant(lastMs)}, which is still to come. If that is wrong, say what the time counts with --time :ms.`,
    ],
    [
      days >= LONG_DAYS && active * SPARSE < days,
      'sparse',
      `The requests span ${days} days, and come on ${active} of them: some of the times may be misread.`,
    ],
    [
      withoutKey > 0,
      'no_key',
      `Requests without a key share one limiter, that of the key -: ${withoutKey} of ${requests}.`,
    ],
    [requests >= MANY && keys === 1, 'one_key', 'All requests have the same key.'],
    [
      requests >= MANY && keys * 20 >= requests * 19,
      'key_per_request',
      `There are ${keys} keys for ${requests} requests: probably not a key of clients.`,
    ],
    [
      skipped * 10 > lines,
      'many_skipped',
      `${skipped} of ${lines} lines were skipped: as the log was read, they are not requests.`,
    ],
  ];
  return signs.flatMap(([isSo, code, what]) => (isSo ? [{ code, what }] : []));
}
