// Places the requests of a cycle within it, for models that give only counts.
//
//   even     |   x     x     x   |     (k + 1/2) / n     half a gap from either end of the cycle: a request that is sent a
//                                                        little late is still in the same cycle
//   start    |xxx                |     0
//   random   | x  x          x   |     n uniform draws, sorted: the distribution of Poisson requests, given their number

import type { RandomStream } from '../../math/random.js';
import { unreachable } from '../../schema/failure.js';
import type { Arrival } from './arrival.js';

export const placements = ['even', 'start', 'random'] as const;

export type PlacementName = (typeof placements)[number];

export interface Placement {
  /** Writes n fractions of a cycle in [0, 1), ascending, to the start of `out`. */
  place(out: Float64Array, n: number): void;
}

/** @param stream creates the stream of `random`; the others draw nothing */
export function makePlacement(name: PlacementName, stream: () => RandomStream): Placement {
  switch (name) {
    case 'even':
      return even;
    case 'start':
      return start;
    case 'random':
      return new RandomPlacement(stream());
    default:
      return unreachable(name);
  }
}

/** A model that gives counts and leaves the instants to a placement. */
export abstract class PlacedArrival implements Arrival {
  readonly #placement: Placement;

  constructor(placement: Placement) {
    this.#placement = placement;
  }

  abstract count(cycle: number): number;

  instants(out: Float64Array, n: number): void {
    this.#placement.place(out, n);
  }
}

const even: Placement = {
  place(out, n) {
    for (let k = 0; k < n; k += 1) out[k] = (k + 0.5) / n;
  },
};

const start: Placement = {
  place(out, n) {
    out.fill(0, 0, n);
  },
};

class RandomPlacement implements Placement {
  readonly #stream: RandomStream;

  constructor(stream: RandomStream) {
    this.#stream = stream;
  }

  place(out: Float64Array, n: number): void {
    for (let k = 0; k < n; k += 1) out[k] = this.#stream.uniform();
    if (n > 1) out.subarray(0, n).sort();
  }
}
