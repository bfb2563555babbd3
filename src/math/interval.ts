// Owns the mean of several runs and how sure of it one can be.

export interface Interval {
  readonly mean: number;
  /** Ends of the 95 % interval of the mean. */
  readonly low: number;
  readonly high: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The mean of at least two values with its 95 % interval, by Student's t:  mean +/- t(0.975, n - 1) * s / sqrt(n)
 */
export function interval(values: readonly number[]): Interval {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = tQuantile975(n - 1) * Math.sqrt(variance / n);
  return { mean, low: mean - half, high: mean + half, min: Math.min(...values), max: Math.max(...values) };
}

/** Exact values for few degrees of freedom, where the series below is poor. */
const EXACT = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691];

/** t(0.975, df): Fisher's expansion about the normal quantile (Abramowitz and Stegun 26.7.5), from df = 7 on exact to 1e-3. */
export function tQuantile975(df: number): number {
  const exact = EXACT[df - 1];
  if (exact !== undefined) return exact;
  const z = 1.959963984540054;
  const z3 = z * z * z;
  const z5 = z3 * z * z;
  const z7 = z5 * z * z;
  return (
    z +
    (z3 + z) / (4 * df) +
    (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df ** 3)
  );
}
