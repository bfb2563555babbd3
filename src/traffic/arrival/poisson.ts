// Independent requests, at a constant rate or along a curve.
//
//   |..  .   .. .    .   |     P(n in a cycle) = e^-m m^n / n!,  mean and variance m;  gap = -ln(1 - u) / m
//
// The counts of different cycles are independent, so each is one draw. With random placement, the process is exact.
import type { RandomStream } from '../../math/random.js';
import { drawPoisson, PoissonLaw } from '../../math/random-law.js';
import type { Rate } from '../../schema/quantity.js';
import { checkPeak } from './arrival.js';
import { perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';

/** Poisson counts with a constant mean. The innermost loop of a fleet: a count is one draw from a table and allocates nothing. */
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

export interface Curve {
  /** The mean number of requests in this cycle. Pure: cycles may be asked for in any order. */
  meanIn(cycle: number): number;
}

/** Poisson counts whose mean follows a curve. Within a cycle the rate is taken as constant. */
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
 * The contracts of a fleet share one law. A thousand tables would not fit the cache of the processor, which makes a count five
 * times slower; a law never changes, so it can be shared.
 */
function lawOf(mean: number): PoissonLaw {
  if (latest === undefined || latest.mean !== mean) latest = new PoissonLaw(mean);
  return latest;
}
