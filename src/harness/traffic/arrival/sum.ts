// Several models together: counts are added, instants merged. Each model keeps its own stream.
//
//   a      |. .   .  |
//   b      | ..      |
//   a + b  |....  .  |
import type { Arrival } from './arrival.js';

export function sum(arrivals: readonly Arrival[]): Arrival {
  const [only] = arrivals;
  if (only !== undefined && arrivals.length === 1) return only;
  const counts = new Float64Array(arrivals.length);
  return {
    count: (cycle) => {
      let total = 0;
      for (let i = 0; i < arrivals.length; i += 1) {
        counts[i] = arrivals[i]!.count(cycle);
        total += counts[i]!;
      }
      return total;
    },
    instants: (out, n) => {
      let placed = 0;
      for (let i = 0; i < arrivals.length; i += 1) {
        const count = counts[i]!;
        if (count > 0) arrivals[i]!.instants(out.subarray(placed, placed + count), count);
        placed += count;
      }
      out.subarray(0, n).sort();
    },
  };
}
