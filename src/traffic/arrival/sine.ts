// Owns a rate that swings around its mean, as over a day. Leaves carrying the mean's remainder to carry.ts.
//
//   m + a         _                       rate(t) = m + a sin 2pi(t/P + phase)
//               /   \                     requests before cycle c: floor(m c + W(c)), W the integral of the swing:
//   m   ------ . --- . --- . ------       W(t) = a P / pi  sin 2pi(t/2P + phase)  sin 2pi(t/2P)
//                     \   /
//   m - a               ‾                 phase 0: from the mean, rising; 1/4: from the peak; 3/4: from the trough
//              0    P/2    P
//
// m c is exact (carried), and W comes back to exactly 0 with every period: n whole periods hold floor(m P n) requests.
import { sinTurns } from '../../math/elementary.js';
import type { Rate } from '../../schema/quantity.js';
import { checkPeak, refuse } from './arrival.js';
import { Carry, type Mixed, mixed, perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';
import type { Curve } from './poisson.js';

export interface SineShape {
  readonly mean: Rate;
  readonly amplitude: Rate;
  /** P, in cycles, an integer >= 1. */
  readonly period: number;
  /** In turns, [0, 1]. */
  readonly phase: number;
}

export class SineArrival extends PlacedArrival implements Curve {
  readonly #shape: SineShape;
  readonly #mean: Mixed;
  readonly #carry: Carry;
  /** a P / pi */
  readonly #swing: number;
  /** The swing of a cycle is, on average, this times the sine at its middle: a P / pi sin(pi / P). */
  readonly #swingInCycle: number;
  /** Requests given beyond (or, negative, short of) the whole ones of the mean. */
  #ahead = 0;

  /** @throws Failure `invalid_input` when the rate would fall below 0 or exceed MOST_PER_CYCLE */
  constructor(shape: SineShape, placement: Placement) {
    super(placement);
    const [mean, amplitude] = [perCycle(shape.mean), perCycle(shape.amplitude)];
    if (amplitude > mean)
      refuse('/amplitude', `must not be above the mean rate, ${mean} per cycle: no rate is negative`);
    checkPeak('/amplitude', Math.ceil(mean + amplitude));
    this.#shape = shape;
    this.#mean = mixed(BigInt(shape.mean.requests), BigInt(shape.mean.cycles));
    this.#carry = new Carry(shape.mean.cycles);
    this.#swing = (amplitude * shape.period) / Math.PI;
    this.#swingInCycle = this.#swing * sinTurns(0.5 / shape.period);
  }

  count(cycle: number): number {
    const ofMean = this.#carry.take(this.#mean.whole, this.#mean.part);
    const due = ofMean + Math.floor(this.#carry.fraction + this.#wave(cycle + 1)) - this.#ahead;
    // Where the rate is next to nothing, rounding may take a request back that was given: it is not given again.
    const count = Math.max(0, due);
    this.#ahead += count - ofMean;
    return count;
  }

  meanIn(cycle: number): number {
    const { mean, period, phase } = this.#shape;
    return Math.max(0, perCycle(mean) + this.#swingInCycle * sinTurns(((cycle % period) + 0.5) / period + phase));
  }

  /** W at the beginning of a cycle. */
  #wave(cycle: number): number {
    const { period, phase } = this.#shape;
    const half = (cycle % period) / period / 2;
    return this.#swing * sinTurns(half + phase) * sinTurns(half);
  }
}
