// Named streams of random numbers, and draws from common laws. random-law.ts has the laws that are prepared once.
//
// One stream per purpose: adding a draw to one purpose does not move the draws of another.
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { assert } from '../schema/failure.js';
import { sha256 } from '../schema/sha256.js';
import { log, pow } from './elementary.js';
import type { Seed } from './seed.js';

const TWO_TO_26 = 67108864;
const TWO_TO_32 = 4294967296;
const TWO_TO_53 = 9007199254740992;

/** The same numbers on every engine. No draw allocates or keeps a value for the next: it depends only on the generator's 128 bits. */
export class RandomStream {
  readonly #generator: { next(): number };

  /** @param purpose names the stream, for example `arrival/0`; different purposes are independent */
  constructor(seed: Seed, purpose: string) {
    const digest = sha256(JSON.stringify([String(seed), purpose]));
    this.#generator = xoroshiro128plusFromState(stateFrom(digest));
  }

  /** The lowest bits are the weakest of the generator; the laws below use upper ones. */
  uint32(): number {
    return this.#generator.next() >>> 0;
  }

  /** Uniform on [0, 1), in steps of 2^-53: the upper 27 bits of one draw and the upper 26 of the next. */
  uniform(): number {
    const generator = this.#generator;
    return ((generator.next() >>> 5) * TWO_TO_26 + (generator.next() >>> 6)) / TWO_TO_53;
  }

  /** Uniform over min .. max, both included; max - min < 2^53. If min = max, nothing is drawn. */
  integer(min: number, max: number): number {
    const last = max - min;
    assert(
      Number.isSafeInteger(min) && Number.isSafeInteger(last) && last >= 0,
      'integer() draws from whole numbers min .. max with 0 <= max - min < 2^53',
    );
    if (last === 0) return min;
    // Takes as many upper bits as `last` has and redraws while they exceed it: unbiased, at most two draws on average.
    if (last < TWO_TO_32) {
      const unused = Math.clz32(last);
      for (;;) {
        const drawn = this.uint32() >>> unused;
        if (drawn <= last) return min + drawn;
      }
    }
    // `last` has 64 - clz32(last / 2^32) bits, a uniform draw has 53.
    const cells = TWO_TO_53 / (1 << (Math.clz32(last / TWO_TO_32) - 11));
    for (;;) {
      const drawn = Math.floor(this.uniform() * cells);
      if (drawn <= last) return min + drawn;
    }
  }

  /** The gap of a Poisson process of `rate` > 0.   gap = -ln(1 - u) / rate, mean 1 / rate */
  exponential(rate: number): number {
    // 1 - u lies in (0, 1]: never ln 0. Subtracted from 0 because -ln 1 would be -0.
    return (0 - log(1 - this.uniform())) / rate;
  }

  /**
   * By the polar method of Marsaglia and Bray (1964).
   *
   *   +---------+     (x, y) uniform in the unit disc, s = x^2 + y^2:  x sqrt(-2 ln s / s) is normal. Points outside the disc are
   *   |  .' '.  |     redrawn: 1.27 points on average. y would give a second value; it is discarded, because keeping it would make
   *   |  '. .'  |     a draw depend on more than the generator.
   *   +---------+
   */
  normal(mean: number, deviation: number): number {
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const s = x * x + y * y;
      if (s < 1 && s > 0) return mean + deviation * x * Math.sqrt((-2 * log(s)) / s);
    }
  }

  /** Heavy-tailed, at least `scale`; P(X > x) = (scale / x)^shape.   x = scale (1 - u)^(-1 / shape) */
  pareto(shape: number, scale: number): number {
    return scale * pow(1 - this.uniform(), -1 / shape);
  }
}

export type Draws = (purpose: string) => RandomStream;

export function drawsOf(seed: Seed): Draws {
  return (purpose) => new RandomStream(seed, purpose);
}

/** Four words, from the first 128 bits of a digest: 100,000 purposes have different states. */
export function stateFrom(digest: Uint8Array): number[] {
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
  const words = [0, 4, 8, 12].map((offset) => view.getInt32(offset));
  // The generator would never leave a state of zeros.
  return words.some((word) => word !== 0) ? words : [0, 0, 0, 1];
}
