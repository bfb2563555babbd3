// Independent requests at a constant rate; along a curve see `byLaw`.
//
//   |..  .   .. .    .   |     P(n in a cycle) = e^-m m^n / n!,  mean and variance m;  gap = -ln(1 - u) / m
//
// The counts of different cycles are independent, so each is one draw. With random placement, the process is exact.
import { PoissonLaw } from '../../../core/math/random-law.js';
import { checkPeak } from './arrival.js';
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
      return { count: () => law.draw(stream), instants: making.placement(spec.placement ?? 'random') };
    };
  },
);

let latest: PoissonLaw | undefined;

/** Shared by the contracts of a fleet: a thousand tables exceed the CPU cache, and counts become five times slower. */
function lawOf(mean: number): PoissonLaw {
  if (latest === undefined || latest.mean !== mean) latest = new PoissonLaw(mean);
  return latest;
}
