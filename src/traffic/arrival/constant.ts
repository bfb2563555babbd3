// A constant rate, exact to the request.
//
//   2.5 per cycle    |..|...|..|...|..|...|        count(c) = floor((c + 1) r) - floor(c r)
import type { Rate } from '../../schema/quantity.js';
import { checkPeak } from './arrival.js';
import { Carry, mixed, perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';

export class ConstantArrival extends PlacedArrival {
  readonly #carry: Carry;
  readonly #whole: number;
  readonly #part: number;

  /** @throws Failure `invalid_input` above MOST_PER_CYCLE */
  constructor(rate: Rate, placement: Placement) {
    super(placement);
    checkPeak('/rate', Math.ceil(perCycle(rate)));
    const { whole, part } = mixed(BigInt(rate.requests), BigInt(rate.cycles));
    this.#carry = new Carry(rate.cycles);
    this.#whole = whole;
    this.#part = part;
  }

  count(): number {
    return this.#carry.take(this.#whole, this.#part);
  }
}
