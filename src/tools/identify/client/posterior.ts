// Samples of a posterior distribution by chains that propose along differences of other chains: C. ter Braak, "A Markov chain Monte Carlo
// version of the genetic algorithm differential evolution" (2006). Needs no gradient; edges of the likelihood do not stop it.
//
//   proposal of chain i = x_i + g (x_a - x_b) + noise,   g = 2.38 / sqrt(2 d), or 1: a jump to another mode
import { log } from '../../../core/math/elementary.js';
import type { RandomStream } from '../../../core/math/random.js';

const CHAINS = 32;
const LEAP_EVERY = 8;
const NOISE = 1e-5;
/** During burn-in, the best quarter replaces the worst this often, in steps. */
const SELECT_EVERY = 10;

export interface PosteriorSamples {
  readonly best: readonly number[];
  readonly bestLogL: number;
  /** From the second half of the steps; the first is burn-in. */
  readonly samples: readonly (readonly number[])[];
}

/** @param starts candidates for each chain's start @param logL log of prior times likelihood; -Infinity outside of the prior */
export function posterior(
  first: () => number[],
  logL: (x: readonly number[]) => number,
  { steps, starts }: { readonly steps: number; readonly starts: number },
  draw: RandomStream,
): PosteriorSamples {
  const started = Array.from({ length: CHAINS * starts }, () => {
    const x = first();
    return { x, value: logL(x) };
  }).sort((a, b) => b.value - a.value);
  const chains = started.slice(0, CHAINS).map(({ x }) => x);
  const values = started.slice(0, CHAINS).map(({ value }) => value);
  let [bestX, bestLogL] = [chains[0]!, values[0]!];
  const dimensions = chains[0]!.length;
  const usual = 2.38 / Math.sqrt(2 * dimensions);
  const samples: (readonly number[])[] = [];
  for (let step = 0; step < steps; step += 1) {
    if (2 * step < steps && step % SELECT_EVERY === SELECT_EVERY - 1) select(chains, values);
    const g = step % LEAP_EVERY === 0 ? 1 : usual;
    for (let i = 0; i < CHAINS; i += 1) {
      const a = chains[draw.integer(0, CHAINS - 1)]!;
      const b = chains[draw.integer(0, CHAINS - 1)]!;
      const x = chains[i]!;
      const proposed = x.map((value, k) => value + g * (a[k]! - b[k]!) + NOISE * (draw.uniform() - 0.5));
      const value = logL(proposed);
      if (value >= values[i]! || log(1 - draw.uniform()) < value - values[i]!) {
        chains[i] = proposed;
        values[i] = value;
        if (value > bestLogL) [bestX, bestLogL] = [proposed, value];
      }
      if (2 * step >= steps) samples.push(chains[i]!);
    }
  }
  return { best: bestX, bestLogL, samples };
}

function select(chains: number[][], values: number[]): void {
  const order = values.map((_, i) => i).sort((a, b) => values[b]! - values[a]!);
  const quarter = CHAINS / 4;
  for (let i = 0; i < quarter; i += 1) {
    const [good, bad] = [order[i]!, order[CHAINS - 1 - i]!];
    chains[bad] = chains[good]!;
    values[bad] = values[good]!;
  }
}
