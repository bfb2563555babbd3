// Owns what every format hands over: requests to the sink, and lines that are none to the count. Leaves telling them apart to the formats.
import { printable } from './printable.js';

/** Takes the requests of a log in the order in which they are written, which need not be that of time. */
export interface RequestSink {
  /**
   * n requests of one client: request k of n arrives `floor(k * spreadMs / n)` ms after `unixMs`.
   * @param unixMs whole milliseconds since 1970-01-01 UTC, of either sign
   * @param n a whole number >= 1
   * @param key the client; '' when none was asked for
   * @param spreadMs 0 when all of them arrive at `unixMs`
   */
  request(unixMs: number, n: number, key: string, spreadMs: number): void;
}

/** The key of a request whose client is asked for and not known: as access logs write it. */
export const NO_CLIENT = '-';

/** A line that is no request; `line` is its number, from 1, in a HAR file that of the entry. */
export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
  readonly text: string;
}

/** How many skipped lines are kept to be shown. */
const KEPT_LINES = 5;

export class Intake {
  requests = 0;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  skippedLines = 0;
  readonly skipped: SkippedLine[] = [];
  readonly #sink: RequestSink;
  readonly #spreadMs: number;

  constructor(sink: RequestSink, spreadMs: number) {
    this.#sink = sink;
    this.#spreadMs = spreadMs;
  }

  /** n may be 0, as in a table of counts: a row that was read, and no request. */
  request(unixMs: number, n: number, key: string): void {
    if (n === 0) return;
    const lastMs = n === 1 ? unixMs : unixMs + lastOffset(n, this.#spreadMs);
    if (unixMs < this.firstMs) this.firstMs = unixMs;
    if (lastMs > this.lastMs) this.lastMs = lastMs;
    this.requests += n;
    this.#sink.request(unixMs, n, key, this.#spreadMs);
  }

  skip(line: number, reason: string, bytes: Buffer, from: number, to: number): void {
    this.skippedLines++;
    if (this.skipped.length < KEPT_LINES) this.skipped.push({ line, reason, text: printable(bytes, from, to) });
  }
}

/** `floor((n - 1) * spreadMs / n)`: when the last of n requests arrives, which is the last whole ms before the share of one. */
function lastOffset(n: number, spreadMs: number): number {
  return spreadMs - Math.ceil(spreadMs / n);
}
