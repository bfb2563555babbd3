// Owns chance: named streams of random numbers, and draws from the common laws. Leaves laws over choices to random-law.ts.
//
// One seed, one stream per purpose: adding a draw to one purpose does not move the draws of another.

import { createHash } from 'node:crypto';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { log, pow } from './elementary.js';

/** All chance of a run follows from its seed. */
export type Seed = number | string;

export class RandomStream {
  private readonly generator: { next(): number };
  /** The second normal of a pair, kept for the next draw. */
  private spare: number | undefined;

  /**
   * @param seed of the run
   * @param purpose names the stream, for example `arrival/0`; streams of different purposes are independent
   */
  constructor(seed: Seed, purpose: string) {
    // 128 bits out of SHA-256: no two of a hundred thousand purposes share a state.
    const digest = createHash('sha256')
      .update(`${typeof seed}:${seed}\u0000${purpose}`)
      .digest();
    const state: number[] = [0, 4, 8, 12].map((offset) => digest.readInt32LE(offset));
    // The one state from which the generator never leaves; no known text leads to it.
    if (!state.some((word) => word !== 0)) state[0] = 1;
    this.generator = xoroshiro128plusFromState(state);
  }

  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number {
    return this.generator.next() >>> 0;
  }

  /** Uniform on [0, 1), in steps of 2^-53. */
  uniform(): number {
    const { generator } = this;
    return ((generator.next() >>> 5) * 0x4000000 + (generator.next() >>> 6)) / 0x20000000000000;
  }

  /** Uniform over the whole numbers min .. max, both included; max - min < 2^53. */
  integer(min: number, max: number): number {
    const span = max - min + 1;
    // Draws beyond the last whole multiple of the span would favour small numbers: they are drawn again.
    const whole = 0x20000000000000;
    const limit = whole - (whole % span);
    for (;;) {
      const drawn = this.uniform() * whole;
      if (drawn < limit) return min + (drawn % span);
    }
  }

  /** The gap of a Poisson process.   gap = -ln(1 - u) / rate */
  exponential(rate: number): number {
    return -log(1 - this.uniform()) / rate;
  }

  /** Normal, by the polar method of Marsaglia and Bray (1964): a point in the unit disc gives two independent values. */
  normal(mean: number, deviation: number): number {
    const { spare } = this;
    if (spare !== undefined) {
      this.spare = undefined;
      return mean + deviation * spare;
    }
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * log(square)) / square);
      this.spare = y * scale;
      return mean + deviation * x * scale;
    }
  }

  /** Heavy-tailed: never below `scale`; P(X > x) = (scale / x)^shape.   x = scale * (1 - u)^(-1 / shape) */
  pareto(shape: number, scale: number): number {
    return scale * pow(1 - this.uniform(), -1 / shape);
  }
}
