// A rate that oscillates around its mean, as over a day.
//
//   m + a         _                       rate(t) = m + a sin 2pi(t/P + phase)
//               /   \                     requests before cycle c: floor(m c + W(c)), W the integral of the oscillation:
//   m   ------ . --- . --- . ------       W(t) = a P / pi  sin 2pi(t/2P + phase)  sin 2pi(t/2P)
//                     \   /
//   m - a               ‾                 phase 0: from the mean, rising; 1/4: from the peak; 3/4: from the trough
//              0    P/2    P
//
// m c is exact (carried), and W returns to exactly 0 after every period: n whole periods have floor(m P n) requests.
import { sinTurns } from '../../math/elementary.js';
import type { Rate } from '../../schema/quantity.js';
import { checkPeak, refuse } from './arrival.js';
import { Carry, type Mixed, mixed, perCycle } from './carry.js';
import { PlacedArrival, type Placement } from './placement.js';
import type { Curve } from './poisson.js';

interface SineShape {
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
  /** The oscillation of a cycle is, on average, this times the sine at its middle: a P / pi sin(pi / P). */
  readonly #swingInCycle: number;
  /** Requests given in excess of the whole ones of the mean; negative if fewer. */
  #ahead = 0;

  /** @throws Failure `invalid_input` if the rate would fall below 0 or exceed MOST_PER_CYCLE */
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
    // Near a rate of 0, rounding may retract a request that was already given: it is not given a second time.
    const count = Math.max(0, due);
    this.#ahead += count - ofMean;
    return count;
  }

  meanIn(cycle: number): number {
    const { mean, period, phase } = this.#shape;
    return Math.max(0, perCycle(mean) + this.#swingInCycle * sinTurns(((cycle % period) + 0.5) / period + phase));
  }

  /** W at the start of a cycle. */
  #wave(cycle: number): number {
    const { period, phase } = this.#shape;
    const half = (cycle % period) / period / 2;
    return this.#swing * sinTurns(half + phase) * sinTurns(half);
  }
}
