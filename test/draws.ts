// How many of its draws a test makes: some of them, all with WEIR_ALL=1, which `npm run marathon` sets.
export const isAll = process.env['WEIR_ALL'] === '1';

/** The first n of the draws, or all of them. */
export function few<T>(draws: readonly T[], n: number): readonly T[] {
  return isAll ? draws : draws.slice(0, n);
}

/** How often a property is tried: a tenth of `all`, or all. Each run draws others. */
export function tries(all: number): number {
  return isAll ? all : Math.ceil(all / 10);
}
