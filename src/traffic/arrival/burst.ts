// A rate that steps up and back: once, permanently, or periodically.
//
//   burst            ____________              ____
//                   |            |            |            lasts `lasts`, repeats `every` cycles after its start
//   base   _________|            |____________|
//          0        at           at + lasts   at + every
import type { Rate } from '../../schema/quantity.js';
import { checkPeak, refuse } from './arrival.js';
import { Carry, type Mixed, MOST_PARTS, mixed, onCommonParts, perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';
import type { Curve } from './poisson.js';

export interface BurstShape {
  readonly base: Rate;
  readonly burst: Rate;
  readonly at: number;
  /** Length of a burst in cycles; if absent, it never ends: a step. */
  readonly lasts?: number | undefined;
  /** Cycles from the start of one burst to the start of the next; if absent, there is one burst. */
  readonly every?: number | undefined;
}

export class BurstArrival extends PlacedArrival implements Curve {
  readonly #shape: BurstShape;
  readonly #lasts: number;
  readonly #every: number;
  readonly #carry: Carry;
  readonly #base: Mixed;
  readonly #burst: Mixed;

  /** @throws Failure `invalid_input` when a rate is above MOST_PER_CYCLE, or bursts would overlap */
  constructor(shape: BurstShape, placement: Placement) {
    super(placement);
    checkPeak('/base_rate', Math.ceil(perCycle(shape.base)));
    checkPeak('/burst_rate', Math.ceil(perCycle(shape.burst)));
    const { lasts = Infinity, every = Infinity } = shape;
    if (lasts > every || (shape.lasts === undefined && shape.every !== undefined)) {
      refuse('/for', 'must be given and no longer than every: one burst ends before the next begins');
    }
    const { parts, amounts } = onCommonParts([shape.base, shape.burst], MOST_PARTS);
    const [base = 0n, burst = 0n] = amounts;
    this.#shape = shape;
    this.#lasts = lasts;
    this.#every = every;
    this.#carry = new Carry(Number(parts));
    this.#base = mixed(base, parts);
    this.#burst = mixed(burst, parts);
  }

  count(cycle: number): number {
    const { whole, part } = this.#isBurst(cycle) ? this.#burst : this.#base;
    return this.#carry.take(whole, part);
  }

  meanIn(cycle: number): number {
    return perCycle(this.#isBurst(cycle) ? this.#shape.burst : this.#shape.base);
  }

  #isBurst(cycle: number): boolean {
    const age = cycle - this.#shape.at;
    return age >= 0 && (this.#every === Infinity ? age : age % this.#every) < this.#lasts;
  }
}
