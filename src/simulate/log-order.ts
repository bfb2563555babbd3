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
import { spreadOverCycles } from '../traffic/spread.js';
import { CycleBuffer } from './feed.js';

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
  /** Takes what was released: every row of the buffer up to its end, in order of cycle. */
  readonly run: (released: CycleBuffer) => void;
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
  readonly #run: (released: CycleBuffer) => void;
  readonly #buffer: CycleBuffer;
  readonly #ids = new Map<string, number>();
  #mostRows: number;
  /** Cycles before have run. */
  #released = Number.NEGATIVE_INFINITY;
  #key: string | undefined;
  #id = 0;
  // The cycle of the request before, and where it begins and ends.
  #cycle = 0;
  #fromMs = 0;
  #toMs = 0;

  constructor({ cycleMs, mostRows, isOne, isTimed = false, run }: LogOrderOptions) {
    this.#buffer = new CycleBuffer(isTimed);
    this.#cycleMs = cycleMs;
    this.#mostRows = mostRows;
    this.#isOne = isOne;
    this.#run = run;
  }

  request(unixMs: number, n: number, key: string, spreadMs: number): void {
    if (key !== this.#key) this.#meet(key);
    if (unixMs > this.latestMs) this.latestMs = unixMs;
    if (spreadMs === 0 || n === 1) this.#add(this.#cycleAt(unixMs), n);
    else spreadOverCycles(unixMs, n, spreadMs, this.#cycleMs, (cycle, part) => this.#add(cycle, part));
    if (this.#buffer.size >= this.#mostRows) this.#runHalf();
  }

  /** What is left to run, once all is read, ready to be handed out. @throws Failure `no_requests` */
  end(): CycleBuffer {
    if (this.names.length === 0)
      throw new Failure('no_requests', {
        what: 'Nothing was read.',
        why: 'The run was stopped before the first request.',
      });
    this.#buffer.release();
    return this.#buffer;
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
    this.#run(this.#buffer);
    this.#released = Math.max(this.#released, end);
    if (this.#buffer.size > 0.75 * this.#mostRows) this.#mostRows *= 2;
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
