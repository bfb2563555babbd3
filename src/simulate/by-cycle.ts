// Requests of a stream, gathered by cycle and given on in order of cycle.
import { Observable, type OperatorFunction } from 'rxjs';
import { Failure } from '../schema/failure.js';
import { CYCLE_MS, cycleOf } from '../time/cycle.js';

/** A request of a stream. */
export interface StreamedRequest {
  /** When: unix ms (a fraction is cut off), a Date, or a text that `Date.parse` reads, for example ISO 8601 with its zone. */
  readonly at: number | Date | string;
  /** How many requests at once, a whole number from 1 to 2^53 - 1. Default: 1. */
  readonly n?: number | undefined;
  /** Whose: each key has a contract of its own. Default: `all`. */
  readonly key?: string | undefined;
}

export interface CountOptions {
  /** Length of a cycle in ms, an integer from 1. Default: 777. */
  readonly cycleMs?: number | undefined;
  /**
   * How much older than the newest request a request may be, in ms, at least 0: so long a cycle is held back. Infinity holds
   * everything back until the source completes. Default: 60,000.
   */
  readonly lateMs?: number | undefined;
}

/** The requests of one cycle, in a form of the subscriber's. */
interface Gathered<T> {
  readonly cycle: number;
  /** All keys so far, in the order in which they came. The same array in every emission; it grows. */
  readonly keys: readonly string[];
  readonly held: T;
}

/**
 * Gathers the requests of each cycle, and emits them as `countsByCycle` says.
 * @param make what a cycle begins with
 * @param add takes `n` requests of a contract, an index into `keys`, at a unix ms
 */
export function byCycle<T>(
  { cycleMs = CYCLE_MS, lateMs = 60_000 }: CountOptions,
  make: () => T,
  add: (held: T, contract: number, n: number, ms: number) => void,
): OperatorFunction<StreamedRequest, Gathered<T>> {
  checkCycleMs(cycleMs);
  return (source) =>
    new Observable((subscriber) => {
      const keys: string[] = [];
      const indexes = new Map<string, number>();
      const cyclesHeld = new CyclesHeld<T>(Number.isFinite(lateMs));
      let newestMs = Number.NEGATIVE_INFINITY;
      /** Cycles before were emitted. */
      let end = Number.NEGATIVE_INFINITY;
      const emitBefore = (next: number) => {
        end = next;
        for (const [cycle, held] of cyclesHeld.before(next)) subscriber.next({ cycle, keys, held });
      };
      const take = ({ at, n = 1, key = 'all' }: StreamedRequest) => {
        const ms = instantOf(at);
        if (!(Number.isSafeInteger(n) && n >= 1)) throw unreadable('/n', 'must be a whole number from 1');
        const cycle = cycleOf(ms, cycleMs);
        if (cycle < end) throw tooLate(ms, newestMs, lateMs);
        let index = indexes.get(key);
        if (index === undefined) {
          index = keys.push(key) - 1;
          indexes.set(key, index);
        }
        let held = cyclesHeld.get(cycle);
        if (held === undefined) {
          held = make();
          cyclesHeld.add(cycle, held);
        }
        add(held, index, n, ms);
        if (ms <= newestMs) return;
        newestMs = ms;
        const next = cycleOf(ms - lateMs, cycleMs);
        // Not so with an infinite delay, of which the cycle is NaN.
        if (next > end) emitBefore(next);
      };
      return source.subscribe({
        next: (request) => {
          try {
            take(request);
          } catch (error) {
            subscriber.error(error);
          }
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          emitBefore(Number.POSITIVE_INFINITY);
          subscriber.complete();
        },
      });
    });
}

/** What is held of cycles that may still get requests. They come nearly in order: a new one is mostly the last. */
class CyclesHeld<T> {
  readonly #held = new Map<number, T>();
  readonly #isBounded: boolean;
  /** Ascending from `#from` on; where no bound is known, sorted when they are taken. */
  #cycles: number[] = [];
  #from = 0;

  constructor(isBounded: boolean) {
    this.#isBounded = isBounded;
  }

  get(cycle: number): T | undefined {
    return this.#held.get(cycle);
  }

  add(cycle: number, held: T): void {
    this.#held.set(cycle, held);
    let at = this.#cycles.length;
    if (this.#isBounded) while (at > this.#from && this.#cycles[at - 1]! > cycle) at -= 1;
    if (at === this.#cycles.length) this.#cycles.push(cycle);
    else this.#cycles.splice(at, 0, cycle);
  }

  /** Takes out what is held of the cycles before one, in order. */
  *before(next: number): Generator<readonly [number, T], void, undefined> {
    if (!this.#isBounded) this.#cycles.sort((a, b) => a - b);
    for (; this.#from < this.#cycles.length && this.#cycles[this.#from]! < next; this.#from += 1) {
      const cycle = this.#cycles[this.#from]!;
      const held = this.#held.get(cycle)!;
      this.#held.delete(cycle);
      yield [cycle, held];
    }
    if (2 * this.#from < this.#cycles.length) return;
    this.#cycles = this.#cycles.slice(this.#from);
    this.#from = 0;
  }
}

function instantOf(at: StreamedRequest['at']): number {
  const ms = typeof at === 'number' ? at : typeof at === 'string' ? Date.parse(at) : at.getTime();
  if (Math.abs(ms) <= 8.64e15) return Math.floor(ms);
  throw unreadable('/at', 'must be unix milliseconds, a Date, or a time as ISO 8601 writes it');
}

export function checkCycleMs(cycleMs: number): void {
  if (!(Number.isInteger(cycleMs) && cycleMs >= 1)) throw unreadable('/cycleMs', 'must be a whole number of ms from 1');
}

export function unreadable(path: string, message: string): Failure {
  return new Failure('invalid_input', { what: 'The stream cannot be counted.', faults: [{ path, message }] });
}

function tooLate(ms: number, newestMs: number, lateMs: number): Failure {
  return new Failure('event_too_old', {
    what: `The request of ${new Date(ms).toISOString()} was not counted.`,
    why: `A request of ${new Date(newestMs).toISOString()} had come before it, and a stream may be out of order by ${lateMs} ms.`,
    fix: 'Give the requests in order of time, or a larger lateMs; Infinity takes any order.',
  });
}
