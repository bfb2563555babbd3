// Owns requests that know nothing of each other, at a steady rate or along a curve. Leaves the draws to math/random-law.ts.
//
//   |..  .   .. .    .   |     P(n in a cycle) = e^-m m^n / n!,  mean and variance m;  gap = -ln(1 - u) / m
//
// The counts of separate cycles are independent, so each is one draw; placed at random in its cycle, the process is exact.
import type { RandomStream } from '../../math/random.js';
import { drawPoisson, PoissonLaw } from '../../math/random-law.js';
import type { Rate } from '../../schema/quantity.js';
import { checkPeak } from './arrival.js';
import { perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';

/** Poisson counts of one mean. In a fleet this is the innermost loop: a count is one draw from a table and allocates nothing. */
export class PoissonArrival extends PlacedArrival {
  readonly #law: PoissonLaw;
  readonly #stream: RandomStream;

  /** @throws Failure `invalid_input` when the rate is above MOST_PER_CYCLE */
  constructor(rate: Rate, stream: RandomStream, placement: Placement) {
    super(placement);
    checkPeak('/rate', perCycle(rate));
    this.#law = lawOf(perCycle(rate));
    this.#stream = stream;
  }

  count(): number {
    return this.#law.draw(this.#stream);
  }
}

/** A rate that changes from cycle to cycle. */
export interface Curve {
  /** How many requests come in this cycle on average. Pure: cycles may be asked for in any order. */
  meanIn(cycle: number): number;
}

/** Poisson counts whose mean follows a curve. Within a cycle the rate is taken as steady. */
export class PoissonAround extends PlacedArrival {
  readonly #curve: Curve;
  readonly #stream: RandomStream;

  constructor(curve: Curve, stream: RandomStream, placement: Placement) {
    super(placement);
    this.#curve = curve;
    this.#stream = stream;
  }

  count(cycle: number): number {
    return drawPoisson(this.#curve.meanIn(cycle), this.#stream);
  }
}

let latest: PoissonLaw | undefined;

/**
 * A fleet wants the same law for one contract after the other. A thousand tables would not fit the processor's cache, which
 * makes a count five times slower; a law never changes, so one is shared.
 */
function lawOf(mean: number): PoissonLaw {
  if (latest === undefined || latest.mean !== mean) latest = new PoissonLaw(mean);
  return latest;
}
