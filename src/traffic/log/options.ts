// Owns what a person may say about a log before it is read. Leaves what is then read to read.ts.
import type { TimeUnit } from './unix.js';

/** The formats that are read; Apache's and nginx's own are alike. */
export const logFormats = ['common', 'combined', 'csv', 'tsv', 'ndjson', 'har'] as const;

export type LogFormat = (typeof logFormats)[number];

/** What may be said about a table: columns by name, in NDJSON and HAR fields, also as a path (`request.start`). */
export interface TableOptions {
  readonly timeColumn?: string | undefined;
  /** The column with the number of requests of a row; false when each row is one request whatever columns there are. */
  readonly countColumn?: string | false | undefined;
  /** The column whose values become the keys; `client` is also the address of an access log, or a column known to be it. */
  readonly keyColumn?: string | undefined;
  /** The length of the interval that starts at a row's time, over which its requests are spread; 0, all at once. */
  readonly spreadMs?: number | undefined;
  /** What plain numbers in the time column count; else told from their size and the column's name. */
  readonly timeUnit?: TimeUnit | undefined;
}

export interface LogOptions extends TableOptions {
  /** Else recognised from the first 64 KiB. */
  readonly format?: LogFormat | undefined;
}
