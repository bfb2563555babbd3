// The burst that a fixed window admits twice: n requests just before the boundary of two windows, and n just after it.
//
//   window        |          1           |          2           |
//   requests      |                     n|n                     |     2n within two cycles
//   boundary      0                      1                      2     boundary b begins cycle b * within
//
// A fixed window of n admits all 2n; a rolling window admits n, wherever the boundary is.
import { checkPeak, refuse } from './arrival.js';
import { PlacedArrival, type Placement } from './placement.js';

interface EdgeShape {
  readonly requests: number;
  /** Length of a window in cycles; windows are counted from the start of the model. */
  readonly within: number;
  /** Number of the boundary, from 1: the boundary between the first window and the second. */
  readonly boundary: number;
}

export class EdgeArrival extends PlacedArrival {
  readonly #requests: number;
  readonly #begins: number;

  /** @throws Failure `invalid_input` above MOST_PER_CYCLE, or if the boundary is beyond exact cycle numbers */
  constructor({ requests, within, boundary }: EdgeShape, placement: Placement) {
    super(placement);
    checkPeak('/requests', requests);
    if (!Number.isSafeInteger(boundary * within))
      refuse('/boundary', 'lies beyond the last cycle that can be numbered');
    this.#requests = requests;
    this.#begins = boundary * within;
  }

  count(cycle: number): number {
    return cycle === this.#begins - 1 || cycle === this.#begins ? this.#requests : 0;
  }
}
