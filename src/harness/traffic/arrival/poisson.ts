// Independent requests at a constant rate; along a curve see `byLaw`.
//
//   |..  .   .. .    .   |     P(n in a cycle) = e^-m m^n / n!,  mean and variance m;  gap = -ln(1 - u) / m
//
// The counts of different cycles are independent, so each is one draw. With random placement, the process is exact.
import type { RandomStream } from '../../../core/math/random.js';
import { PoissonLaw } from '../../../core/math/random-law.js';
import { type Arrival, checkPeak } from './arrival.js';
import { perCycle } from './carry.js';
import { kind, Placed, RateOf } from './kind.js';

export const poisson = kind(
  'poisson',
  'Requests that know nothing of each other.',
  { rate: RateOf('How many requests come, on average.'), 'placement?': Placed('random') },
  (spec, read) => {
    const mean = perCycle(read.rate(spec.rate, '/rate'));
    return (making) => {
      checkPeak('/rate', mean);
      const law = lawOf(mean);
      const stream = making.stream('counts');
      return new PoissonArrival(law, stream, making.placement(spec.placement ?? 'random'));
    };
  },
);

/** The innermost loop of a fleet. A class, since a closure takes three memory accesses per count instead of two. */
class PoissonArrival implements Arrival {
  readonly #law: PoissonLaw;
  readonly #stream: RandomStream;
  readonly instants: Arrival['instants'];

  constructor(law: PoissonLaw, stream: RandomStream, instants: Arrival['instants']) {
    this.#law = law;
    this.#stream = stream;
    this.instants = instants;
  }

  count(): number {
    return this.#law.draw(this.#stream);
  }
}

let latest: PoissonLaw | undefined;

/** Shared by the contracts of a fleet: a thousand tables exceed the CPU cache, and counts become five times slower. */
function lawOf(mean: number): PoissonLaw {
  if (latest === undefined || latest.mean !== mean) latest = new PoissonLaw(mean);
  return latest;
}
