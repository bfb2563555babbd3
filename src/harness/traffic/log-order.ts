// Puts the requests of logs in order of cycle while the logs are read.
//
//   lines ──► counts by key and cycle, a reorder buffer of 262,144 rows ──► run(batches), whenever the older half is in order
//
// Memory does not grow with the log. If a request is older than what has run already, the logs are read again with an unbounded buffer.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { assert, Failure } from '../../core/schema/failure.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { RequestSink } from './log/intake.js';
import type { Warning } from './log/log-options.js';
import { ReorderBuffer } from './reorder-buffer.js';
import type { CycleCounts } from './requests.js';
import { SECOND_MS, secondOf, spreadOverCycles, spreadSeconds } from './spread.js';

/** Thrown where a request is older than what has run. */
export const LATE = Symbol('late');

interface LogOrderOptions {
  readonly cycleMs: number;
  /** Size of the buffer, in rows; half of it is emitted when it is full. Default: unbounded. */
  readonly mostRows?: number | undefined;
  /** All requests go through one contract, named `all`. */
  readonly isOne: boolean;
  /** Batches have instants. Default: false. */
  readonly isTimed?: boolean | undefined;
  readonly hasCosts?: boolean | undefined;
  /** The limiter decides by the ms: requests of a log with whole seconds are spread over them; only with instants. Default: false. */
  readonly decidesByMs?: boolean | undefined;
  /** The row of a key, instead of one row per key; `names` stays empty. */
  readonly rowOf?: ((key: string) => number) | undefined;
  /** Requests of one cycle stay in the order of the log. Default: those of a row are summed. */
  readonly keepsOrder?: boolean | undefined;
  /** Rows of a group are spread together over a second. Default: each row is a group. */
  readonly groupOf?: ((row: number) => number) | undefined;
  /** If requests are spread: called with them as read, in order of time. */
  readonly asRead?: ((contract: number, n: number, ms: number, cost: number | undefined) => void) | undefined;
  /** Takes all of the batches, before it returns; only with `mostRows`. */
  readonly run?: ((batches: Iterable<CycleCounts>) => void) | undefined;
}

export class LogOrder implements RequestSink {
  readonly names: string[] = [];
  latestMs = Number.NEGATIVE_INFINITY;
  /** All times so far, dates or unix s, are whole seconds. */
  isWholeSeconds = true;
  readonly #options: LogOrderOptions;
  /** Ms of a row. */
  readonly #grainMs: number;
  readonly #buffer: ReorderBuffer;
  readonly #ids = new Map<string, number>();
  #mostRows: number;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #ranTo = Number.NEGATIVE_INFINITY;
  #key: string | undefined;
  #id = 0;
  #isSpread: boolean | undefined;
  #cycle = 0;
  #fromMs = 0;
  #toMs = 0;

  constructor(options: LogOrderOptions) {
    const { cycleMs, mostRows = Number.POSITIVE_INFINITY, isTimed = false, hasCosts, keepsOrder } = options;
    const { decidesByMs = false } = options;
    assert(!decidesByMs || isTimed, `requests are spread over seconds by the ms, not by cycles of ${cycleMs} ms`);
    this.#options = options;
    this.#buffer = new ReorderBuffer({ keys: this.names, isTimed, hasCosts, keepsOrder });
    this.#grainMs = isTimed ? 1 : cycleMs;
    this.#mostRows = mostRows;
  }

  opened(timeUnit: string | undefined): void {
    if (timeUnit !== undefined && timeUnit !== 'date' && timeUnit !== 's') this.isWholeSeconds = false;
  }

  /** Whether the requests of whole seconds are spread. Final when all is read. */
  get isSpread(): boolean {
    return this.#isSpread === true;
  }

  get firstCycle(): number {
    return cycleOf(startOf(this.#first, this.#grainMs), this.#options.cycleMs);
  }

  get lastCycle(): number {
    return cycleOf(startOf(this.#last, this.#grainMs), this.#options.cycleMs);
  }

  warnings(figures: string): Warning[] {
    if (!this.isSpread) return [];
    const what = `The times are whole seconds, and the rule decides by the ms: the requests of a key in one second are taken as spread evenly over it. ${figures} A log with milliseconds gives the true figure.`;
    return [{ code: 'whole_seconds', what }];
  }

  readMs(ms: number): number {
    return this.isSpread ? secondOf(ms) : ms;
  }

  request(unixMs: number, n: number, key: string, spreadMs: number, cost?: number): void {
    // A line that counts several requests has a spread of its own.
    if (n !== 1 || unixMs % SECOND_MS !== 0) this.isWholeSeconds = false;
    const { rowOf } = this.#options;
    if (rowOf !== undefined) this.#id = rowOf(key);
    else if (key !== this.#key) this.#meet(key);
    if (unixMs > this.latestMs) this.latestMs = unixMs;
    if (spreadMs === 0 || n === 1) this.#add(this.#cycleAt(unixMs), n, cost);
    else spreadOverCycles(unixMs, n, spreadMs, this.#grainMs, (cycle, part) => this.#add(cycle, part, cost));
    if (this.#buffer.size >= this.#mostRows) this.#runHalf();
  }

  /** What has not run yet. @throws Failure `no_requests` */
  end(): Iterable<CycleCounts> {
    if (this.latestMs === Number.NEGATIVE_INFINITY)
      throw new Failure('no_requests', {
        what: 'Nothing was read.',
        why: 'The run was stopped before the first request.',
      });
    const rest = this.#released();
    if (this.isSpread) this.#last += SECOND_MS - 1;
    return rest;
  }

  #add(cycle: number, n: number, cost: number | undefined): void {
    if (cycle < this.#ranTo) throw LATE;
    if (cycle < this.#first) this.#first = cycle;
    if (cycle > this.#last) this.#last = cycle;
    this.#buffer.add(this.#id, cycle, n, cost);
  }

  /** Runs the older half, but nothing after the newest request: a spread count reaches into the future. */
  #runHalf(): void {
    const end = Math.min(this.#buffer.middle(), cycleOf(this.latestMs, this.#grainMs));
    this.#options.run?.(this.#released(end));
    this.#ranTo = Math.max(this.#ranTo, end);
    if (this.#buffer.size > 0.75 * this.#mostRows) this.#mostRows *= 2;
  }

  #released(end?: number): Iterable<CycleCounts> {
    this.#isSpread ??= this.#options.decidesByMs === true && this.isWholeSeconds;
    return this.#isSpread
      ? spreadSeconds(this.#buffer.release(SECOND_MS, end), this.#options)
      : this.#buffer.release(this.#options.cycleMs, end);
  }

  #meet(key: string): void {
    this.#key = key;
    this.#id = getOrInsert(this.#ids, key, () => this.names.push(this.#options.isOne ? 'all' : key) - 1);
  }

  /** `cycleOf`, without its division while the cycle stays the same. */
  #cycleAt(unixMs: number): number {
    if (unixMs < this.#fromMs || unixMs >= this.#toMs) {
      this.#cycle = cycleOf(unixMs, this.#grainMs);
      this.#fromMs = startOf(this.#cycle, this.#grainMs);
      this.#toMs = this.#fromMs + this.#grainMs;
    }
    return this.#cycle;
  }
}
