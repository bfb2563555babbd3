// Laws that are prepared once and drawn from often: Poisson counts, and weighted choices.

import { assert } from '../schema/failure.js';
import { exp, log } from './elementary.js';
import type { RandomStream } from './random.js';

/** Far above the events in a cycle of a simulation, and small enough for every count to be exact. */
const LARGEST_MEAN = 1e9;

/** Up to this mean a table is kept; above it, counts are drawn by rejection. */
const TABLE_MEAN = 200;

/** Events of a Poisson process in a span in which `mean` are expected. Exact for any mean from 0 to 1e9. */
export class PoissonLaw {
  readonly #table: PoissonTable | undefined;

  constructor(readonly mean: number) {
    assert(mean >= 0 && mean <= LARGEST_MEAN, `the mean of a Poisson law lies between 0 and 1e9, and is not ${mean}`);
    this.#table = mean <= TABLE_MEAN ? new PoissonTable(mean) : undefined;
  }

  draw(stream: RandomStream): number {
    return this.#table !== undefined ? this.#table.draw(stream) : drawLarge(this.mean, stream);
  }
}

/** Slots of the guide: a search starts at most a step or two before its result. */
const GUIDE = 1024;

// Inversion with a guide (Chen and Asau, 1974): one uniform u, looked up in the cumulative distribution.
//
//   F(k) = e^-m sum_{i <= k} m^i / i!          the count is the first k with F(k) > u
class PoissonTable {
  readonly #cumulative: Float64Array;
  readonly #guide = new Uint16Array(GUIDE);

  constructor(mean: number) {
    const cumulative: number[] = [];
    let term = exp(-mean);
    let sum = term;
    for (let k = 0; sum < 1 && !(term < 1e-18 && k > mean); k += 1) {
      cumulative.push(sum);
      term *= mean / (k + 1);
      sum += term;
    }
    cumulative.push(1);
    this.#cumulative = Float64Array.from(cumulative);
    let k = 0;
    for (let slot = 0; slot < GUIDE; slot += 1) {
      while (this.#cumulative[k]! <= slot / GUIDE) k += 1;
      this.#guide[slot] = k;
    }
  }

  draw(stream: RandomStream): number {
    const u = stream.uniform();
    const cumulative = this.#cumulative;
    let k = this.#guide[(u * GUIDE) | 0]!;
    while (cumulative[k]! <= u) k += 1;
    return k;
  }
}

/** From this mean on, rejection is valid and faster than counting up. */
const REJECTION_MEAN = 10;

/** For a mean that is used once: needs no table. Exact for any mean from 0 to 1e9. */
export function drawPoisson(mean: number, stream: RandomStream): number {
  assert(mean >= 0 && mean <= LARGEST_MEAN, 'the mean of a Poisson law lies between 0 and 1e9');
  return mean < REJECTION_MEAN ? drawSmall(mean, stream) : drawLarge(mean, stream);
}

/** Inversion by counting up. */
function drawSmall(mean: number, stream: RandomStream): number {
  const u = stream.uniform();
  let k = 0;
  let term = exp(-mean);
  // Terms below 1e-18 no longer change the sum, which rounding may have stopped just below u.
  for (let sum = term; sum <= u && (term >= 1e-18 || k < mean); sum += term) {
    k += 1;
    term *= mean / k;
  }
  return k;
}

// Transformed rejection, PTRS of W. Hoermann, "The transformed rejection method for generating Poisson random variables" (1993):
// (2 a / us + b) u + mean, u uniform, is so close to the law that comparing v and us accepts most draws.
function drawLarge(mean: number, stream: RandomStream): number {
  const b = 0.931 + 2.53 * Math.sqrt(mean);
  const a = -0.059 + 0.02483 * b;
  const inverseAlpha = 1.1239 + 1.1328 / (b - 3.4);
  const accepted = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const u = stream.uniform() - 0.5;
    const v = 1 - stream.uniform();
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= accepted) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log((v * inverseAlpha) / (a / (us * us) + b)) <= logProbability(k, mean)) return k;
  }
}

/**
 * `ln(e^-m m^k / k!)`. Its terms are as large as m ln m, 2e10 at the largest mean, and leave five correct digits in their difference.
 * Following C. Loader, "Fast and accurate computation of binomial probabilities" (2000), the large parts cancel before any rounding:
 * `-m D(k / m) - ln sqrt(2 pi k) - s(k)`, with `D(x) = x ln x + 1 - x` and Stirling's remainder s.
 */
export function logProbability(k: number, mean: number): number {
  if (k < SMALL_FACTORIALS.length) return k * log(mean) - mean - log(SMALL_FACTORIALS[k]!);
  const i = 1 / k;
  const stirling = i * (1 / 12 - i * i * (1 / 360 - i * i * (1 / 1260 - (i * i) / 1680)));
  return -deviance(k, mean) - 0.5 * log(2 * Math.PI * k) - stirling;
}

const SMALL_FACTORIALS = [1];
for (let k = 1; k < 16; k += 1) SMALL_FACTORIALS.push(k * SMALL_FACTORIALS[k - 1]!);

// `k ln(k / m) + m - k`. Near m, a small difference of large numbers, so by a series: with `z = (k - m) / (k + m)`,
// `ln(k / m) = 2 (z + z^3/3 + z^5/5 + ...)`, so it is `(k - m) z + 2 k (z^3/3 + z^5/5 + ...)`.
function deviance(k: number, mean: number): number {
  const difference = k - mean;
  const z = difference / (k + mean);
  if (Math.abs(z) > 0.1) return k * log(k / mean) - difference;
  const square = z * z;
  let sum = difference * z;
  let power = 2 * k * z;
  for (let n = 3; ; n += 2) {
    power *= square;
    const next = sum + power / n;
    if (next === sum) return sum;
    sum = next;
  }
}

/** A choice among n by weight, in constant time (M. D. Vose, 1991). @param weights finite and >= 0, with a sum above 0 */
export function weightedDraw(weights: readonly number[]): (stream: RandomStream) => number {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  assert(
    sum > 0 && Number.isFinite(sum) && weights.every((weight) => weight >= 0),
    'weights must be >= 0 with a sum above 0',
  );
  const n = weights.length;
  const chance = Float64Array.from(weights, (weight) => (weight * n) / sum);
  const alias = Uint32Array.from(weights, (_, index) => index);
  const small: number[] = [];
  const large: number[] = [];
  for (let index = 0; index < n; index += 1) (chance[index]! < 1 ? small : large).push(index);
  while (small.length > 0 && large.length > 0) {
    const poor = small.pop()!;
    const rich = large.pop()!;
    alias[poor] = rich;
    chance[rich]! -= 1 - chance[poor]!;
    (chance[rich]! < 1 ? small : large).push(rich);
  }
  // The remaining entries differ from 1 only by rounding, unless their weight is 0.
  for (const index of [...small, ...large]) if (weights[index]! > 0) chance[index] = 1;
  return (stream) => {
    const scaled = stream.uniform() * n;
    const index = Math.floor(scaled);
    return scaled - index < chance[index]! ? index : alias[index]!;
  };
}
