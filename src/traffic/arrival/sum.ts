// Several models together: counts are added, instants merged. Each model keeps its own stream.
//
//   a      |. .   .  |
//   b      | ..      |
//   a + b  |....  .  |
import type { Arrival } from './arrival.js';

export function sum(arrivals: readonly Arrival[]): Arrival {
  const [only] = arrivals;
  return only !== undefined && arrivals.length === 1 ? only : new Sum(arrivals);
}

class Sum implements Arrival {
  readonly #arrivals: readonly Arrival[];
  readonly #counts: Float64Array;

  constructor(arrivals: readonly Arrival[]) {
    this.#arrivals = arrivals;
    this.#counts = new Float64Array(arrivals.length);
  }

  count(cycle: number): number {
    let total = 0;
    for (let i = 0; i < this.#arrivals.length; i += 1) {
      const count = this.#arrivals[i]!.count(cycle);
      this.#counts[i] = count;
      total += count;
    }
    return total;
  }

  instants(out: Float64Array, n: number): void {
    let placed = 0;
    for (let i = 0; i < this.#arrivals.length; i += 1) {
      const count = this.#counts[i]!;
      if (count > 0) this.#arrivals[i]!.instants(out.subarray(placed, placed + count), count);
      placed += count;
    }
    out.subarray(0, n).sort();
  }
}
