// Requests of a log that writes whole seconds, for a rule that decides by the ms: those of a key in one second are spread evenly over it.
//
//   read     |10 . . . . . . . . .|4 . . . . . . . . .|      all at the beginning of their second: a burst that was none
//   placed   |1 1 1 1 1 1 1 1 1 1 |1    1    1    1    |     request k of n at floor(1000 k / n) ms
import type { CycleBuffer, Feed, Take } from './feed.js';

const SECOND_MS = 1000;

/** The beginning of the second of an instant in unix ms. */
export function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

interface Placed {
  readonly ms: number;
  readonly contract: number;
  n: number;
}

/** The rows that a buffer released, in unix ms, with those of each second placed anew. It holds one second at a time. */
export class SpreadSeconds implements Feed {
  readonly isTimed: boolean;
  readonly #rows: CycleBuffer;
  #second: Placed[] = [];
  #place = 0;

  constructor(rows: CycleBuffer) {
    this.#rows = rows;
    this.isTimed = rows.isTimed;
  }

  next(): number | undefined {
    if (this.#place === this.#second.length) this.#take();
    return this.#second[this.#place]?.ms;
  }

  arrive(ms: number, take: Take): void {
    for (; this.#second[this.#place]?.ms === ms; this.#place += 1) {
      const { contract, n } = this.#second[this.#place]!;
      take(contract, n, ms);
    }
  }

  /** Takes the next second out of the rows. */
  #take(): void {
    const first = this.#rows.next();
    const counts = new Map<number, number>();
    const count = (contract: number, n: number) => counts.set(contract, (counts.get(contract) ?? 0) + n);
    this.#second = [];
    this.#place = 0;
    if (first === undefined) return;
    const second = secondOf(first);
    for (let at: number | undefined = first; at !== undefined && secondOf(at) === second; at = this.#rows.next()) {
      if (at === second) this.#rows.arrive(at, count);
      // A time with a fraction, later in the log than those by which it was judged.
      else this.#rows.arrive(at, (contract, n, ms) => void this.#second.push({ ms, contract, n }));
    }
    for (const [contract, n] of counts) {
      for (let k = 0; k < n; k += 1) {
        const ms = second + Math.floor((k * SECOND_MS) / n);
        const last = this.#second.at(-1);
        if (last?.ms === ms && last.contract === contract) last.n += 1;
        else this.#second.push({ ms, contract, n: 1 });
      }
    }
    this.#second.sort((a, b) => a.ms - b.ms);
  }
}
