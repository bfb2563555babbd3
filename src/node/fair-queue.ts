// Long work in short pieces: every request but gates and events, events of many contracts, records read back. Between two pieces the
// node does everything else that is due. Sources take turns, and the pieces of one source go one after the other, so who sends a hundred
// requests at once waits for them, and nobody else does.
//
//   owner a     a1 a2 a3          turns     a1  b1  a2  b2  a3  b3 ...
//   address b   b1 b2 b3          others      |   |   |   |   |   |      what became due meanwhile
import type { Steps } from '../limiter/plan.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

/** The source of what the node does for itself. */
export const NODE = 'node';

/** How long a slice of some work takes, in ms, and its last step. */
export const SLICE_MS = 1;

/** A step that yields this is the last of its slice. */
export const PAUSE = Symbol('pause');

export class Turns {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waitingOf(source: string): number {
    return this.#waiting.get(source)?.length ?? 0;
  }

  /** Runs a piece of work when the turn of its source comes. What it throws goes to the clock as an internal error. */
  take(source: string, piece: () => void): void {
    const isFirst = this.#waiting.size === 0;
    const pieces = this.#waiting.get(source);
    if (pieces === undefined) this.#waiting.set(source, [piece]);
    else pieces.push(piece);
    if (isFirst) this.#next();
  }

  /** As `take`, for one who waits for what the piece gives or throws. */
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

  /** Takes steps up to the end of a slice, or of the work. */
  slice<T>(steps: Steps<T>): IteratorResult<unknown, T> {
    const first = steps.next();
    if (first.done === true || first.value === PAUSE) return first;
    const endMs = this.#clock.now() + SLICE_MS;
    for (;;) {
      const step = steps.next();
      if (step.done === true || step.value === PAUSE || this.#clock.now() >= endMs) return step;
    }
  }

  /**
   * Does work in steps: the first slice now, since who asks has the turn, and each further one when the turn of its source comes.
   * @returns what the work gives; rejects with what it throws
   */
  async steps<T>(source: string, steps: Steps<T>): Promise<T> {
    for (let step = this.slice(steps); ; step = await this.of(source, () => this.slice(steps))) {
      if (step.done === true) return step.value;
    }
  }

  /** One task at a time, due when it is made: whatever came due before goes first. */
  #next(): void {
    this.#clock.agenda.at(this.#clock.now(), Rank.report, () => {
      const [[source, pieces] = ['', []]] = this.#waiting;
      try {
        pieces[0]?.();
      } finally {
        // Behind all others, those included who came during the piece.
        this.#waiting.delete(source);
        pieces.shift();
        if (pieces.length > 0) this.#waiting.set(source, pieces);
        if (this.#waiting.size > 0) this.#next();
      }
    });
  }
}
