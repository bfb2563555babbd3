// Percentiles of values in memory, by nearest rank: the result is one of the values. For a histogram see durations.ts.

/** @param p in 0 .. 1: 0.5 for the median. @returns undefined for an empty list */
export function nearestRank(ascending: readonly number[], p: number): number | undefined {
  return ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)];
}
