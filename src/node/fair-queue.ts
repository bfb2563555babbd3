// Long work in short pieces: events of many contracts, counts to be written, records read back. Between two pieces the node does everything
// else that is due. Owners take turns, and the pieces of one owner go one after the other.
//
//   owner a   a1 a2 a3            turns     a1  b1  a2  b2  a3  b3 ...
//   owner b   b1 b2 b3            others      |   |   |   |   |   |      what became due meanwhile
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

/** The owner of what the node does for itself. */
export const NODE = 'node';

export class Turns {
  readonly #clock: Clock;
  /** The pieces of each owner who waits, in the order in which the owners take turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a piece of work when the turn of its owner comes. What it throws goes to the clock as an internal error. */
  take(owner: string, piece: () => void): void {
    const isFirst = this.#waiting.size === 0;
    const pieces = this.#waiting.get(owner);
    if (pieces === undefined) this.#waiting.set(owner, [piece]);
    else pieces.push(piece);
    if (isFirst) this.#next();
  }

  /** As `take`, for one who waits for what the piece gives or throws. */
  of<T>(owner: string, piece: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.take(owner, () => {
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
      const [[owner, pieces] = ['', []]] = this.#waiting;
      try {
        pieces[0]?.();
      } finally {
        // Behind all others, those included who came during the piece.
        this.#waiting.delete(owner);
        pieces.shift();
        if (pieces.length > 0) this.#waiting.set(owner, pieces);
        if (this.#waiting.size > 0) this.#next();
      }
    });
  }
}
