// The requests of logs in order of cycle, while the logs are read.
//
//   lines ──► counts by key and cycle, a reorder buffer of 262,144 rows ──► run(buffer), whenever the older half is in order
//
// Memory does not grow with the log. A request that is older than what was handed on already (the lines are out of order by more than
// the buffer holds) starts the reading over, with all requests collected first.
import { stat } from 'node:fs/promises';
import { Failure } from '../schema/failure.js';
import { cycleOf, startOf } from '../time/cycle.js';
import type { RequestSink } from '../traffic/log/intake.js';
import type { Warning } from '../traffic/log/log-options.js';
import { spreadOverCycles } from '../traffic/spread.js';
import { CycleBuffer, type Feed, type Take } from './feed.js';
import { SpreadSeconds, secondOf } from './spread-seconds.js';

/** Rows of the reorder buffer: a contract and a cycle each. */
const BUFFER_ROWS = 1 << 18;

/** Thrown by a sink that meets a request of a cycle which has run already. */
const LATE = Symbol('late');

/**
 * Reads logs with a buffer of bounded size, and again with one of any size if the lines are further out of order than that.
 * @param read reads all of them from their beginning through a new `LogOrder` of `mostRows`
 */
export async function readInOrder<T>(paths: readonly string[], read: (mostRows: number) => Promise<T>): Promise<T> {
  try {
    return await read((await canReadAgain(paths)) ? BUFFER_ROWS : Number.POSITIVE_INFINITY);
  } catch (error) {
    if (error !== LATE) throw error;
    return await read(Number.POSITIVE_INFINITY);
  }
}

/** Standard input and pipes can be read only once. */
async function canReadAgain(paths: readonly string[]): Promise<boolean> {
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return files.every((file) => file?.isFile() === true);
}

export interface LogOrderOptions {
  /** Length of a cycle in ms; 1 keeps the order of the ms. */
  readonly cycleMs: number;
  /** What the buffer holds before half of it is run. */
  readonly mostRows: number;
  /** Whether all requests go through one contract, named `all`. */
  readonly isOne: boolean;
  /** Whether the rows are instants for a rule, in unix ms: then `cycleMs` is 1. Default: false. */
  readonly isTimed?: boolean | undefined;
  /** Whether what decides looks at the ms, so that requests of a log with whole seconds are spread over them. Default: false. */
  readonly decidesByMs?: boolean | undefined;
  /** Where they are spread: called with the requests as they were read, in order of time. */
  readonly asRead?: Take | undefined;
  /** Takes what was released: every row of the buffer up to its end, in order of cycle. */
  readonly run: (released: Feed) => void;
}

/** Takes the requests of a log as they are read, and hands on what is in order already. */
export class LogOrder implements RequestSink {
  /** A name for each contract so far; the buffer has their indexes. */
  readonly names: string[] = [];
  /** The latest cycle of a request. */
  lastCycle = Number.NEGATIVE_INFINITY;
  latestMs = Number.NEGATIVE_INFINITY;
  readonly #cycleMs: number;
  readonly #isOne: boolean;
  readonly #run: (released: Feed) => void;
  readonly #asRead: Take | undefined;
  readonly #buffer: CycleBuffer;
  readonly #ids = new Map<string, number>();
  #mostRows: number;
  /** Cycles before have run. */
  #released = Number.NEGATIVE_INFINITY;
  #key: string | undefined;
  #id = 0;
  /** Whether it matters, and all times so far were whole seconds of a unit that has no ms. */
  #isWhole: boolean;
  /** Whether requests are spread over their second; decided when the first are run. */
  #isSpread: boolean | undefined;
  // The cycle of the request before, and where it begins and ends.
  #cycle = 0;
  #fromMs = 0;
  #toMs = 0;

  constructor({ cycleMs, mostRows, isOne, isTimed = false, decidesByMs = false, asRead, run }: LogOrderOptions) {
    this.#buffer = new CycleBuffer(isTimed);
    this.#cycleMs = cycleMs;
    this.#mostRows = mostRows;
    this.#isOne = isOne;
    this.#run = run;
    this.#isWhole = decidesByMs;
    this.#asRead = asRead;
  }

  opened(timeUnit: string | undefined): void {
    if (timeUnit !== undefined && timeUnit !== 'date' && timeUnit !== 's') this.#isWhole = false;
  }

  /** Whether the log has whole seconds, and its requests are spread over them. Known when all is read. */
  get isSpread(): boolean {
    return this.#isSpread === true;
  }

  /**
   * What was assumed.
   * @param range of the requests limited, where it is known
   */
  warnings(range?: { readonly spread: number; readonly bunched: number }): Warning[] {
    if (!this.isSpread) return [];
    const limited =
      range === undefined
        ? 'If they came as a burst, more of them would be limited.'
        : `So ${range.spread} are limited; ${range.bunched} would be if all of a second came at its beginning.`;
    const what = `The times are whole seconds, and the rule decides by the ms: the requests of a key in one second are taken as spread evenly over it. ${limited} A log with milliseconds gives the true figure.`;
    return [{ code: 'whole_seconds', what }];
  }

  /** The time of the log from which a time was placed. */
  readMs(ms: number): number {
    return this.isSpread ? secondOf(ms) : ms;
  }

  request(unixMs: number, n: number, key: string, spreadMs: number): void {
    if (n !== 1 || unixMs % 1000 !== 0) this.#isWhole = false;
    if (key !== this.#key) this.#meet(key);
    if (unixMs > this.latestMs) this.latestMs = unixMs;
    if (spreadMs === 0 || n === 1) this.#add(this.#cycleAt(unixMs), n);
    else spreadOverCycles(unixMs, n, spreadMs, this.#cycleMs, (cycle, part) => this.#add(cycle, part));
    if (this.#buffer.size >= this.#mostRows) this.#runHalf();
  }

  /** What is left to run, once all is read, ready to be handed out. @throws Failure `no_requests` */
  end(): Feed {
    if (this.names.length === 0)
      throw new Failure('no_requests', {
        what: 'Nothing was read.',
        why: 'The run was stopped before the first request.',
      });
    this.#buffer.release();
    const feed = this.#feed();
    if (this.isSpread) this.lastCycle += 999;
    return feed;
  }

  #add(cycle: number, n: number): void {
    if (cycle < this.#released) throw LATE;
    if (cycle > this.lastCycle) this.lastCycle = cycle;
    this.#buffer.add(this.#id, cycle, n);
  }

  /** Runs the older half of the buffer, but nothing after the newest request: a count that is spread reaches into the future. */
  #runHalf(): void {
    const end = Math.min(this.#buffer.middle(), cycleOf(this.latestMs, this.#cycleMs));
    this.#buffer.release(end);
    this.#run(this.#feed());
    this.#released = Math.max(this.#released, end);
    if (this.#buffer.size > 0.75 * this.#mostRows) this.#mostRows *= 2;
  }

  /** What was released: for a rule that decides by the ms, whole seconds are spread. */
  #feed(): Feed {
    this.#isSpread ??= this.#isWhole;
    return this.#isSpread ? new SpreadSeconds(this.#buffer, this.#asRead) : this.#buffer;
  }

  #meet(key: string): void {
    this.#key = key;
    const known = this.#ids.get(key);
    this.#id = known ?? this.names.push(this.#isOne ? 'all' : key) - 1;
    if (known === undefined) this.#ids.set(key, this.#id);
  }

  /** `cycleOf`, without its division while the cycle stays the same. */
  #cycleAt(unixMs: number): number {
    if (unixMs < this.#fromMs || unixMs >= this.#toMs) {
      this.#cycle = cycleOf(unixMs, this.#cycleMs);
      this.#fromMs = startOf(this.#cycle, this.#cycleMs);
      this.#toMs = this.#fromMs + this.#cycleMs;
    }
    return this.#cycle;
  }
}
