// Owns the yardsticks for draws from a law: how far counts and moments may lie from it when all is well.

/**
 * Pearson's chi-square of counts against expected ones, as a standard normal deviate (Wilson and Hilferty, 1931): above 4 once in
 * 30,000. Neighbouring cells are thrown together until at least 10 are expected in each.
 */
export function chiSquareDeviate(counts: readonly number[], expected: readonly number[]): number {
  let [chi, cells, count, due] = [0, 0, 0, 0];
  expected.forEach((expectedHere, i) => {
    count += counts[i] ?? 0;
    due += expectedHere;
    if (due < 10) return;
    chi += (count - due) ** 2 / due;
    [cells, count, due] = [cells + 1, 0, 0];
  });
  const freedom = cells - 1;
  const spread = 2 / (9 * freedom);
  return (Math.cbrt(chi / freedom) - (1 - spread)) / Math.sqrt(spread);
}

/** How many standard errors the mean of a sample lies from what it should be, given the standard deviation of the law. */
export function meanDeviate(sample: readonly number[], mean: number, deviation: number): number {
  const average = sample.reduce((sum, x) => sum + x, 0) / sample.length;
  return (average - mean) / (deviation / Math.sqrt(sample.length));
}

/** How often each of the numbers 0 .. n - 1 was drawn; larger ones count as n - 1. */
export function histogram(n: number, draws: number, draw: () => number): number[] {
  const counts = new Array<number>(n).fill(0);
  for (let i = 0; i < draws; i += 1) counts[Math.min(n - 1, draw())]! += 1;
  return counts;
}
