// Passes requests to the sink and counts other lines, for every format.
import type { Warning } from './log-options.js';

/** Receives the requests of a log in the order of its lines, which need not be that of time. */
export interface RequestSink {
  /**
   * n requests of one client: request k of n arrives `floor(k * spreadMs / n)` ms after `unixMs`.
   * @param unixMs whole milliseconds since 1970-01-01 UTC, may be negative
   * @param n a whole number >= 1
   * @param key the client; '' if not asked for
   * @param spreadMs 0 if all arrive at `unixMs`
   * @param cost of each; undefined if costs are not read
   */
  request(unixMs: number, n: number, key: string, spreadMs: number, cost?: number): void;
  /** Called when a log is opened: the unit of its numeric times, or `date`; undefined if not known yet. */
  opened?(timeUnit: string | undefined): void;
  /** The texts of `alsoColumns` for the next request, undefined if the log lacks the field. The array is reused. */
  also?(texts: readonly (string | undefined)[]): void;
  /** The line of the next request. The bytes are valid only during the call. */
  line?(number: number, bytes: Buffer, from: number, to: number): void;
}

export const NO_CLIENT = '-';

/** `line` counts from 1; in a HAR file it is the number of the entry. */
export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
  readonly text: string;
}

const KEPT_LINES = 5;

const DAY_MS = 86_400_000;

const MOST_DAYS = 100_000;

/** Of a clock that goes back by an hour, a quiet log shows a little less. */
const HOUR_MS = 3_600_000;
const LEAST_BACK_MS = 0.75 * HOUR_MS;

export class Intake {
  requests = 0;
  withoutKey = 0;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  skippedLines = 0;
  filtered = 0;
  readonly warnings: Warning[] = [];
  readonly skipped: SkippedLine[] = [];
  readonly days = new Set<number>();
  readonly sink: RequestSink;
  readonly #spreadMs: number;
  readonly #fromMs: number;
  readonly #toMs: number;
  #dayFromMs = Number.NaN;
  #beforeMs = Number.NaN;
  #wentBackMs: number | undefined;

  constructor(sink: RequestSink, spreadMs: number, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY) {
    this.sink = sink;
    this.#spreadMs = spreadMs;
    this.#fromMs = fromMs;
    this.#toMs = toMs;
  }

  request(unixMs: number, n: number, key: string, cost?: number): void {
    if (n === 0) return;
    if (unixMs < this.#fromMs || unixMs >= this.#toMs) {
      this.filtered += n;
      return;
    }
    const lastMs = n === 1 ? unixMs : unixMs + lastOffset(n, this.#spreadMs);
    if (unixMs < this.firstMs) this.firstMs = unixMs;
    if (lastMs > this.lastMs) this.lastMs = lastMs;
    if (!(unixMs >= this.#dayFromMs && unixMs < this.#dayFromMs + DAY_MS)) this.#enterDay(unixMs);
    if (this.#beforeMs - unixMs >= LEAST_BACK_MS || this.#wentBackMs !== undefined) this.#lookAtClock(unixMs);
    this.#beforeMs = unixMs;
    this.requests += n;
    if (key === NO_CLIENT) this.withoutKey += n;
    this.sink.request(unixMs, n, key, this.#spreadMs, cost);
  }

  skip(line: number, reason: string, bytes: Buffer, from: number, to: number): void {
    this.skippedLines++;
    if (this.skipped.length < KEPT_LINES) this.skipped.push({ line, reason, text: printable(bytes, from, to) });
  }

  /** A single line may be late: a clock that went back by an hour stays there. */
  #lookAtClock(unixMs: number): void {
    const isBack = (fromMs: number, leastMs: number) => fromMs - unixMs >= leastMs && fromMs - unixMs <= HOUR_MS;
    const fromMs = this.#wentBackMs ?? Number.NaN;
    this.#wentBackMs = isBack(this.#beforeMs, LEAST_BACK_MS) ? this.#beforeMs : undefined;
    if (!isBack(fromMs, LEAST_BACK_MS / 2) || this.warnings.length > 0) return;
    const after = new Date(fromMs).toJSON();
    const what = `After ${after} its times go back by about an hour, as local times do when summer time ends: two hours are counted as one.`;
    this.warnings.push({ code: 'hour_twice', what: `${what} Cut the log there, or log times with their zone.` });
  }

  #enterDay(unixMs: number): void {
    const day = Math.floor(unixMs / DAY_MS);
    this.#dayFromMs = day * DAY_MS;
    if (this.days.size < MOST_DAYS) this.days.add(day);
  }
}

/** `floor((n - 1) * spreadMs / n)`: offset of the last of n requests. */
function lastOffset(n: number, spreadMs: number): number {
  return spreadMs - Math.ceil(spreadMs / n);
}

const SHOWN_BYTES = 120;

/** The start of a text on one line, without control characters. */
export function printable(bytes: Buffer, from: number, to: number): string {
  const raw = bytes.toString('utf8', from, Math.min(to, from + SHOWN_BYTES));
  const text = raw.replaceAll('\t', ' ').replace(/[\p{C}\u2028\u2029\ufffd]/gu, '\u00b7');
  return to - from > SHOWN_BYTES ? `${text}\u2026` : text;
}
