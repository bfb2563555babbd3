// Sums and maxima over a window that slides along a run.
//
//   values at     3   7   9             a sum changes only when a value enters or leaves the window; other starts are skipped
//   window     |------|
//                |------|               enters at c - length + 1, leaves at c + 1
import { firstIndex } from '../../core/math/first-index.js';

export type Points = Iterable<readonly [cycle: number, value: number]>;

export class Sums {
  readonly #cycles: number[] = [];
  readonly #upTo: number[] = [0];

  constructor(points: Points) {
    let sum = 0;
    for (const [cycle, value] of points) {
      sum += value;
      this.#cycles.push(cycle);
      this.#upTo.push(sum);
    }
  }

  between(from: number, to: number): number {
    return to <= from ? 0 : this.#upTo[this.#place(to)]! - this.#upTo[this.#place(from)]!;
  }

  /** Every sum over `length` cycles within from .. to - 1; if that interval is shorter, its one sum. */
  over(length: number, from: number, to: number): Set<number> {
    const sums = new Set<number>();
    for (const start of startsOf(this.#cycles, length, from, to)) {
      sums.add(this.between(start, Math.min(to, start + length)));
    }
    return sums;
  }

  #place(cycle: number): number {
    return firstIndex(this.#cycles.length, (index) => this.#cycles[index]! >= cycle);
  }
}

/** A level holds until the next point; it is 0 before the first. */
export class Plateaus {
  readonly #cycles: number[] = [Number.NEGATIVE_INFINITY];
  readonly #levels: number[] = [0];

  constructor(points: Points) {
    for (const [cycle, level] of points) {
      if (level === this.#levels.at(-1)) continue;
      this.#cycles.push(cycle);
      this.#levels.push(level);
    }
  }

  /** The maxima of all intervals of `length` cycles within from .. to - 1; if that is shorter, its one maximum. */
  largest(length: number, from: number, to: number): Set<number> {
    const [cycles, levels] = [this.#cycles, this.#levels];
    const found = new Set<number>();
    // Points in the window not exceeded by a later one: their levels descend, so the first is the maximum.
    const lasting: number[] = [];
    let first = 0;
    let next = 0;
    for (const start of startsOf(cycles, length, from, to)) {
      const end = Math.max(start + 1, Math.min(to, start + length));
      for (; next < cycles.length && cycles[next]! < end; next += 1) {
        while (lasting.length > first && levels[lasting.at(-1)!]! <= levels[next]!) lasting.pop();
        lasting.push(next);
      }
      // A point has left when the next one holds at the start of the window.
      while (cycles[lasting[first]! + 1]! <= start) first += 1;
      found.add(levels[lasting[first]!]!);
    }
    return found;
  }
}

/** Ascending window starts in from .. to - 1: the first, and each at which a point enters, leaves or is first. */
function* startsOf(cycles: readonly number[], length: number, from: number, to: number): Generator<number> {
  const last = Math.max(from, to - length);
  let [leaving, entering] = [0, 0];
  for (let start = from; start <= last; ) {
    yield start;
    if (start >= last) return;
    while (cycles[leaving]! < start) leaving += 1;
    while (cycles[entering]! - length + 1 <= start) entering += 1;
    const reached = cycles[leaving] ?? Number.POSITIVE_INFINITY;
    const entered = (cycles[entering] ?? Number.POSITIVE_INFINITY) - length + 1;
    start = Math.min(reached > start ? reached : start + 1, entered);
  }
}
