// Owns percentiles of values that are all at hand: the nearest rank, which is one of the values itself. Leaves those of more values than
// one keeps to durations.ts.

/**
 * The least value that the share `p` of all does not exceed; undefined of none.
 * @param ascending the values, in order
 * @param p in 0 .. 1: 0.5 for the median
 */
export function nearestRank(ascending: readonly number[], p: number): number | undefined {
  return ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)];
}
