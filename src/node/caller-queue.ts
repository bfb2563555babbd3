// Runs long work in short pieces: all requests but gates and single events, events of many contracts, records read back. Other due work
// runs between two pieces. Sources take turns, and one source's pieces run in order: a caller that sends a hundred requests at once delays only itself.
//
//   owner a     a1 a2 a3          turns     a1  b1  a2  b2  a3  b3 ...
//   address b   b1 b2 b3          others      |   |   |   |   |   |      what became due meanwhile
import type { Clock } from '../core/time/clock.js';
import { Rank } from '../core/time/rank.js';
import type { Steps } from './host/steps.js';

export const NODE = 'node';

/** Duration of a slice in ms, without its last step. */
export const SLICE_MS = 1;

/** A step yields this to end its slice. */
export const PAUSE = Symbol('pause');

export class CallerQueue {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waitingOf(source: string): number {
    return this.#waiting.get(source)?.length ?? 0;
  }

  /** Queues a piece of work. What it throws goes to the clock as an internal error. */
  take(source: string, piece: () => void): void {
    const isFirst = this.#waiting.size === 0;
    const pieces = this.#waiting.get(source);
    if (pieces === undefined) this.#waiting.set(source, [piece]);
    else pieces.push(piece);
    if (isFirst) this.#next();
  }

  of<T>(source: string, piece: () => T): Promise<Awaited<T>> {
    return new Promise((resolve, reject) => {
      this.take(source, () => {
        try {
          resolve(piece() as Awaited<T>);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  slice<T>(steps: Steps<T>): IteratorResult<unknown, T> {
    const first = steps.next();
    if (first.done === true || first.value === PAUSE) return first;
    const endMs = this.#clock.now() + SLICE_MS;
    for (;;) {
      const step = steps.next();
      if (step.done === true || step.value === PAUSE || this.#clock.now() >= endMs) return step;
    }
  }

  /** Runs work in steps: the first slice now, because the caller has the turn, others when its source's turn comes. */
  steps<T>(source: string, steps: Steps<T>): T | Promise<T> {
    const step = this.slice(steps);
    return step.done === true ? step.value : this.of(source, () => this.steps(source, steps));
  }

  /** One task at a time, due when it is made, so that tasks due earlier run first. */
  #next(): void {
    this.#clock.agenda.at(this.#clock.now(), Rank.report, () => {
      const [[source, pieces] = ['', []]] = this.#waiting;
      try {
        pieces[0]?.();
      } finally {
        // Behind all others, including sources that arrived during the piece.
        this.#waiting.delete(source);
        pieces.shift();
        if (pieces.length > 0) this.#waiting.set(source, pieces);
        if (this.#waiting.size > 0) this.#next();
      }
    });
  }
}
