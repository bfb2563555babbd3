// Places the requests of a cycle within it, for models that give only counts.
//
//   even     |   x     x     x   |     (k + 1/2) / n     half a gap from either end of the cycle: a request that is sent a
//                                                        little late is still in the same cycle
//   start    |xxx                |     0
//   random   | x  x          x   |     n uniform draws, sorted: the distribution of Poisson requests, given their number

import type { RandomStream } from '../../../core/math/random.js';
import type { Arrival } from './arrival.js';

const even: Arrival['instants'] = (out, n) => {
  for (let k = 0; k < n; k += 1) out[k] = (k + 0.5) / n;
};

const start: Arrival['instants'] = (out, n) => {
  out.fill(0, 0, n);
};

/** Up to this many are sorted by insertion: most contracts of a fleet have one or two requests in a cycle. */
const FEW = 16;

const random =
  (stream: RandomStream): Arrival['instants'] =>
  (out, n) => {
    if (n > FEW) {
      for (let k = 0; k < n; k += 1) out[k] = stream.uniform();
      out.subarray(0, n).sort();
      return;
    }
    for (let k = 0; k < n; k += 1) {
      const drawn = stream.uniform();
      let place = k;
      for (; place > 0 && out[place - 1]! > drawn; place -= 1) out[place] = out[place - 1]!;
      out[place] = drawn;
    }
  };

export const placements = {
  even: () => even,
  start: () => start,
  random: (stream: () => RandomStream) => random(stream()),
};

export type PlacementName = keyof typeof placements;
