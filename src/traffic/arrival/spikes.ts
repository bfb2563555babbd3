// Requests that arrive all in one cycle, once or periodically.
//
//             |                   |                   |
//   ----------+-------------------+-------------------+----      n requests each
//             at              at + every         at + 2 every
import { checkPeak } from './arrival.js';
import { PlacedArrival, type Placement } from './placement.js';

interface SpikesShape {
  readonly requests: number;
  readonly at: number;
  /** Cycles from one spike to the next; if absent, there is one spike. */
  readonly every?: number | undefined;
}

export class SpikesArrival extends PlacedArrival {
  readonly #shape: SpikesShape;

  /** @throws Failure `invalid_input` above MOST_PER_CYCLE */
  constructor(shape: SpikesShape, placement: Placement) {
    super(placement);
    checkPeak('/requests', shape.requests);
    this.#shape = shape;
  }

  count(cycle: number): number {
    const { requests, at, every } = this.#shape;
    const age = cycle - at;
    return age === 0 || (age > 0 && every !== undefined && age % every === 0) ? requests : 0;
  }
}
