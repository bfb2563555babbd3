// A rate that changes linearly: once, or repeatedly as a sawtooth.
//
//   once        b        ______        repeat        /|  /|  /|
//                      /                            / | / | / |
//               a  __/                             /  |/  |/  |
//                  0    T                         0   T  2T
//
//   rate(t) = a + (b - a) t / T                     cycle c has a + (b - a) (2c + 1) / 2T requests on average
//
// Over one denominator, a = A/q and b = B/q, this is (2T A + (B - A)(2c + 1)) / 2Tq: it grows by 2(B - A) / 2Tq each cycle. So two
// additions of whole numbers for each cycle give floor of the exact integral, T (a + b) / 2 at the end.
import type { Rate } from '../../schema/quantity.js';
import { checkPeak } from './arrival.js';
import { Carry, type Mixed, MOST_PARTS, mixed, onCommonParts, perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';
import type { Curve } from './poisson.js';

interface RampShape {
  readonly start: Rate;
  readonly end: Rate;
  /** T, in cycles, an integer from 1 to MAX_CYCLES. */
  readonly over: number;
  /** Whether it starts again after T cycles; otherwise the rate stays at `end`. */
  readonly repeat: boolean;
}

/** Rates whose least common denominator is above 2^51 / T are rounded to it: T <= 2^30 keeps the error below T^2 / 2^52. */
export class RampArrival extends PlacedArrival implements Curve {
  readonly #shape: RampShape;
  readonly #carry: Carry;
  readonly #first: Mixed;
  readonly #growth: Mixed;
  readonly #last: Mixed;
  #whole = 0;
  #part = 0;

  /** @throws Failure `invalid_input` when either rate is above MOST_PER_CYCLE */
  constructor(shape: RampShape, placement: Placement) {
    super(placement);
    checkPeak('/start_rate', Math.ceil(perCycle(shape.start)));
    checkPeak('/end_rate', Math.ceil(perCycle(shape.end)));
    const twice = 2n * BigInt(shape.over);
    const { parts: q, amounts } = onCommonParts([shape.start, shape.end], Math.floor(MOST_PARTS / (2 * shape.over)));
    const [start = 0n, end = 0n] = amounts;
    const parts = twice * q;
    this.#shape = shape;
    this.#carry = new Carry(Number(parts));
    this.#first = mixed(twice * start + (end - start), parts);
    this.#growth = mixed(2n * (end - start), parts);
    this.#last = mixed(twice * end, parts);
  }

  count(cycle: number): number {
    const { over, repeat } = this.#shape;
    const at = repeat ? cycle % over : cycle;
    if (at === 0) this.#stepTo(this.#first);
    else if (at < over) this.#stepBy(this.#growth);
    else if (at === over) this.#stepTo(this.#last);
    return this.#carry.take(this.#whole, this.#part);
  }

  meanIn(cycle: number): number {
    const { start, end, over, repeat } = this.#shape;
    const at = repeat ? cycle % over : cycle;
    if (at >= over) return perCycle(end);
    return perCycle(start) + ((perCycle(end) - perCycle(start)) * (2 * at + 1)) / (2 * over);
  }

  #stepTo({ whole, part }: Mixed): void {
    this.#whole = whole;
    this.#part = part;
  }

  #stepBy({ whole, part }: Mixed): void {
    this.#whole += whole;
    this.#part += part;
    if (this.#part < this.#carry.parts) return;
    this.#part -= this.#carry.parts;
    this.#whole += 1;
  }
}
