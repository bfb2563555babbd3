// Long work in short pieces: reading records back, verifying them. Each piece waits for its turn, and between two pieces the node does
// everything else that is due. While 200 readers of a long record reconnected, a gate took up to 6 s to answer without this queue;
// with it 1 ms, and 13 ms at p99.
//
//   turns     a1  b1  c1  a2  b2  c2  a3 ...        a, b, c: askers; 1, 2, 3: pieces
//   others      |   |   |   |   |   |               what became due meanwhile
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

export class Turns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a piece of work when its turn comes. What it throws goes to the clock as an internal error. */
  take(piece: () => void): void {
    this.#waiting.push(piece);
    if (this.#waiting.length === 1) this.#next();
  }

  /** As `take`, for one who waits for what the piece gives or throws. */
  of<T>(piece: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.take(() => {
        try {
          resolve(piece());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** One task at a time, due when it is made: whatever came due before goes first. */
  #next(): void {
    this.#clock.agenda.at(this.#clock.now(), Rank.report, () => {
      const [piece] = this.#waiting;
      try {
        piece?.();
      } finally {
        this.#waiting.shift();
        if (this.#waiting.length > 0) this.#next();
      }
    });
  }
}
