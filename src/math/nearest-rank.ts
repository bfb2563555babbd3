// Percentiles of values in memory, by nearest rank: the result is one of the values. durations.ts gives those of a histogram.

/**
 * The smallest value that at least the share `p` of all values does not exceed; undefined for an empty list.
 * @param ascending the values, in order
 * @param p in 0 .. 1: 0.5 for the median
 */
export function nearestRank(ascending: readonly number[], p: number): number | undefined {
  return ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)];
}
