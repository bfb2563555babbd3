// Summarises how logs were read: format, columns, unit, first and last instant, and signs of a misreading.
import type { Warning } from './log-options.js';
import type { LogReading } from './read-bytes.js';

export interface ReadSummary {
  readonly format: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly time_unit: string | null;
  readonly key: string | null;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly keys: number | null;
  readonly skipped_lines: number;
  readonly filtered: number;
  readonly warnings: Warning[];
}

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
  const sum = (of: (reading: LogReading) => number) => readings.reduce((total, reading) => total + of(reading), 0);
  const formats = read.map(({ format, envelope }) => (envelope === undefined ? format : `${format} in ${envelope}`));
  return {
    format: [...new Set(formats)].join(', ') || one.format,
    columns: one.columns,
    time_unit: one.timeUnit ?? null,
    key: one.keyFrom ?? null,
    first_at: read.length === 0 ? null : instant(firstMs),
    last_at: read.length === 0 ? null : instant(lastMs),
    keys: keys ?? null,
    skipped_lines: sum(({ skippedLines }) => skippedLines),
    filtered: sum(({ filtered }) => filtered),
    warnings: [
      ...unique(readings.flatMap(({ warnings }) => warnings)),
      ...assumed,
      ...timeWarnings(read, firstMs, lastMs, nowMs),
      ...keyWarnings(
        sum(({ requests }) => requests),
        keys,
      ),
      ...skipWarnings(
        sum(({ lines }) => lines),
        sum(({ skippedLines }) => skippedLines),
      ),
    ],
  };
}

function instant(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`;
}

function unique(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map((warning) => [warning.code, warning])).values()];
}

function timeWarnings(
  read: readonly LogReading[],
  firstMs: number,
  lastMs: number,
  nowMs: number | undefined,
): Warning[] {
  const warnings: Warning[] = [];
  const hasTimes = !read.some(({ warnings: known }) => known.some(({ code }) => code === 'no_time'));
  if (firstMs < YEAR_2000_MS && hasTimes) {
    warnings.push({
      code: 'before_2000',
      what: `The first request is of ${instant(firstMs)}. If that is wrong, say what the time counts with --time :ms, or name its column with --time.`,
    });
  }
  if (nowMs !== undefined && lastMs > nowMs + DAY_MS) {
    warnings.push({
      code: 'after_tomorrow',
      what: `The last request is of ${instant(lastMs)}, which is still to come. If that is wrong, say what the time counts with --time :ms.`,
    });
  }
  const days = Math.floor((lastMs - firstMs) / DAY_MS) + 1;
  const active = read.reduce((total, reading) => total + reading.days, 0);
  if (days >= LONG_DAYS && active * SPARSE < days) {
    warnings.push({
      code: 'sparse',
      what: `The requests span ${days} days, and come on ${active} of them: some of the times may be misread.`,
    });
  }
  return warnings;
}

function keyWarnings(requests: number, keys: number | undefined): Warning[] {
  if (keys === undefined || requests < MANY) return [];
  if (keys === 1) return [{ code: 'one_key', what: 'All requests have the same key.' }];
  if (keys * 20 >= requests * 19) {
    return [
      {
        code: 'key_per_request',
        what: `There are ${keys} keys for ${requests} requests: probably not a key of clients.`,
      },
    ];
  }
  return [];
}

function skipWarnings(lines: number, skipped: number): Warning[] {
  if (skipped * 10 <= lines) return [];
  return [
    {
      code: 'many_skipped',
      what: `${skipped} of ${lines} lines were skipped: as the log was read, they are not requests.`,
    },
  ];
}
