// What every format hands over: requests to the sink, and lines that are none to the count.

/** Takes the requests of a log in the order in which they are written, which need not be that of time. */
export interface RequestSink {
  /**
   * n requests of one client: request k of n arrives `floor(k * spreadMs / n)` ms after `unixMs`.
   * @param unixMs whole milliseconds since 1970-01-01 UTC, of either sign
   * @param n a whole number >= 1
   * @param key the client; '' when none was asked for
   * @param spreadMs 0 when all of them arrive at `unixMs`
   * @param cost of each; undefined where costs are not read
   */
  request(unixMs: number, n: number, key: string, spreadMs: number, cost?: number): void;
  /** Where it is there: called when a log is opened, with what its numbers of time count, or `date`; undefined where that is not known yet. */
  opened?(timeUnit: string | undefined): void;
  /** Where it is there: the texts of `alsoColumns` of the request that comes next. The array is used again. */
  also?(texts: readonly string[]): void;
  /** Where it is there: the line of the request that comes next. The bytes are only valid during the call. */
  line?(number: number, bytes: Buffer, from: number, to: number): void;
}

/** The key of a request whose client is asked for and not known: as access logs write it. */
export const NO_CLIENT = '-';

/** A line that is no request; `line` is its number, from 1, in a HAR file that of the entry. */
export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
  readonly text: string;
}

const KEPT_LINES = 5;

const DAY_MS = 86_400_000;

/** Requests of more days than this are not counted by day. */
const MOST_DAYS = 100_000;

export class Intake {
  /** The interval over which the requests of a row are spread. */
  spreadMs: number;
  requests = 0;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  skippedLines = 0;
  /** Requests that a filter left out. */
  filtered = 0;
  readonly skipped: SkippedLine[] = [];
  /** Days since 1970 on which requests came, up to MOST_DAYS. */
  readonly days = new Set<number>();
  readonly #sink: RequestSink;
  readonly #fromMs: number;
  readonly #toMs: number;
  #dayFromMs = Number.NaN;

  constructor(sink: RequestSink, spreadMs: number, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY) {
    this.#sink = sink;
    this.spreadMs = spreadMs;
    this.#fromMs = fromMs;
    this.#toMs = toMs;
  }

  get wantsLines(): boolean {
    return this.#sink.line !== undefined;
  }

  line(number: number, bytes: Buffer, from: number, to: number): void {
    this.#sink.line?.(number, bytes, from, to);
  }

  also(texts: readonly string[]): void {
    this.#sink.also?.(texts);
  }

  /** n may be 0, as in a table of counts: a row that was read, and no request. */
  request(unixMs: number, n: number, key: string, cost?: number): void {
    if (n === 0) return;
    if (unixMs < this.#fromMs || unixMs >= this.#toMs) {
      this.filtered += n;
      return;
    }
    const lastMs = n === 1 ? unixMs : unixMs + lastOffset(n, this.spreadMs);
    if (unixMs < this.firstMs) this.firstMs = unixMs;
    if (lastMs > this.lastMs) this.lastMs = lastMs;
    if (!(unixMs >= this.#dayFromMs && unixMs < this.#dayFromMs + DAY_MS)) this.#enterDay(unixMs);
    this.requests += n;
    this.#sink.request(unixMs, n, key, this.spreadMs, cost);
  }

  skip(line: number, reason: string, bytes: Buffer, from: number, to: number): void {
    this.skippedLines++;
    if (this.skipped.length < KEPT_LINES) this.skipped.push({ line, reason, text: printable(bytes, from, to) });
  }

  #enterDay(unixMs: number): void {
    const day = Math.floor(unixMs / DAY_MS);
    this.#dayFromMs = day * DAY_MS;
    if (this.days.size < MOST_DAYS) this.days.add(day);
  }
}

/** `floor((n - 1) * spreadMs / n)`: when the last of n requests arrives, which is the last whole ms before the share of one. */
function lastOffset(n: number, spreadMs: number): number {
  return spreadMs - Math.ceil(spreadMs / n);
}

const SHOWN_BYTES = 120;

/** The start of a text on one line, without anything that a terminal would obey. */
export function printable(bytes: Buffer, from: number, to: number): string {
  const raw = bytes.toString('utf8', from, Math.min(to, from + SHOWN_BYTES));
  const text = raw.replaceAll('\t', ' ').replace(/[\p{C}\u2028\u2029\ufffd]/gu, '\u00b7');
  return to - from > SHOWN_BYTES ? `${text}\u2026` : text;
}
