// 95 % intervals of a mean over independent runs, and of a share of runs.
//
//   normal figures     mean ± t s / √n                                    "t"
//   skewed figures     bootstrap-t: how far off the t of resamples is     "bootstrap"
//   rare counts        share of runs that are not 0  ×  mean of those     "bootstrap"
//   0 in all n runs    0 .. 9.3 / (n + 1): three times the rule of three  "bootstrap"
//   shares of runs     Wilson's score interval                            "wilson"
//
// Student's t fails for rare counts: with ten runs of which one in eleven limits anything, its interval covers the true mean only half of
// the time. test/core/math/interval.test.ts checks the coverage by distribution and n.
import { log, pow } from './elementary.js';
import { RandomStream } from './random.js';

type IntervalKind = 't' | 'wilson' | 'bootstrap';

interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly interval: IntervalKind;
}

interface MeanInterval extends Interval {
  readonly min: number;
  readonly max: number;
}

const Z = 1.959963984540054;
/** Draws for one interval, from a stream with a fixed seed: equal values have equal intervals. */
const DRAWS = 1_000;
/** Skewness above which Student's t loses its coverage. */
const SKEWED = 0.8;
/** With more values, resampling makes no visible difference, and Student's t is used. */
const MOST_RESAMPLED = 200;
/** With fewer non-zero values, their spread cannot be estimated: an exponential law is assumed, with one more value at their mean. */
const FEWEST_RESAMPLED = 5;
/**
 * The upper end for n runs of 0 is this over n + 1. As for other rare counts, the share B of runs that are not 0 is beta (1/2, n + 1/2).
 * Their mean is 1 / E, E exponential: one assumed value of 1, the smallest count. With n B close to a gamma variable of shape 1/2,
 * P(B / E <= x) = (1 + 1 / (n x))^(-1/2) = 0.95; n + 1 makes it exact to 2 % from n = 2. If events have mean size s, the bound holds in
 * at least 1 - exp(-9.3 / s) of the cases in which n runs are 0: 95 % up to s = 3, 79 % at s = 6.
 */
const ZEROS_END = 9.3;

/** @param values one per run, at least two @param most for counts: the most one run can reach, 1 for a share */
export function meanInterval(values: readonly number[], most?: number): MeanInterval {
  const mean = meanOf(values);
  const [low, high, interval] = endsOf(values, mean, most);
  const [min, max] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [mean, mean]);
  return { mean, low: Math.min(low, mean), high: Math.max(high, mean), interval, min, max };
}

/** Wilson's 95 % score interval (1927); never empty, not even for shares of 0 and 1. */
export function shareInterval(successes: number, n: number): Interval {
  const share = successes / n;
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  return {
    mean: share,
    low: successes === 0 ? 0 : middle - half,
    high: successes === n ? 1 : middle + half,
    interval: 'wilson',
  };
}

function endsOf(values: readonly number[], mean: number, most: number | undefined): [number, number, IntervalKind] {
  if (most === 1 && values.every((value) => value === 0 || value === 1)) {
    const { low, high, interval } = shareInterval(values.filter((value) => value === 1).length, values.length);
    return [low, high, interval];
  }
  if (most !== undefined && values.includes(0) && values.every((value) => value >= 0)) {
    return [...rareEnds(values, most), 'bootstrap'];
  }
  if (values.length >= FEWEST_RESAMPLED && values.length <= MOST_RESAMPLED && Math.abs(skewness(values)) > SKEWED) {
    const means = resampledMeans(values, new RandomStream(0, 'interval'));
    const [low, high] = middle95(means);
    // Bootstrap-t may go below 0; the mean of non-negative values cannot.
    return [values.every((value) => value >= 0) ? Math.max(0, low) : low, high, 'bootstrap'];
  }
  const half = tQuantile975(values.length - 1) * Math.sqrt(variance(values) / values.length);
  return [mean - half, mean + half, 't'];
}

/** Product of the share of non-zero runs, a beta variable (Jeffreys), and their resampled mean. */
function rareEnds(values: readonly number[], most: number): [number, number] {
  const n = values.length;
  const positive = values.filter((value) => value > 0);
  const k = positive.length;
  // At most the largest plausible share of non-zero runs, each at its maximum.
  if (k === 0) return [0, Math.min(ZEROS_END / (n + 1), shareInterval(0, n).high * most)];
  const draw = new RandomStream(0, 'interval');
  const size = meanOf(positive);
  const sizes =
    k < FEWEST_RESAMPLED
      ? Array.from({ length: DRAWS }, () => (size * (k + 1)) / gamma(draw, k + 1))
      : k <= MOST_RESAMPLED && skewness(positive) > SKEWED
        ? resampledMeans(positive, draw)
        : studentMeans(positive, draw);
  return middle95(
    sizes.map((one) => {
      const share = gamma(draw, k + 0.5);
      return Math.min(most, Math.max(0, one)) * (share / (share + gamma(draw, n - k + 0.5)));
    }),
  );
}

/** Interval of the mean: the mean, minus the t of a resample times the standard error. Efron (1979), "bootstrap-t". */
function resampledMeans(values: readonly number[], draw: RandomStream): number[] {
  const n = values.length;
  const mean = meanOf(values);
  const error = Math.sqrt(variance(values) / n);
  return Array.from({ length: DRAWS }, () => {
    const sample = values.map(() => values[draw.integer(0, n - 1)]!);
    const spread = Math.sqrt(variance(sample) / n);
    return spread === 0 ? mean : mean - ((meanOf(sample) - mean) / spread) * error;
  });
}

function studentMeans(values: readonly number[], draw: RandomStream): number[] {
  const df = values.length - 1;
  const mean = meanOf(values);
  const error = Math.sqrt(variance(values) / values.length);
  return Array.from(
    { length: DRAWS },
    () => mean + (error * draw.normal(0, 1)) / Math.sqrt((2 * gamma(draw, df / 2)) / df),
  );
}

/** Gamma of shape > 0 and scale 1, by Marsaglia and Tsang (2000); for a shape below 1, a draw of shape + 1 times u^(1 / shape). */
function gamma(draw: RandomStream, shape: number): number {
  if (shape < 1) return gamma(draw, shape + 1) * pow(1 - draw.uniform(), 1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = draw.normal(0, 1);
    const root = 1 + c * x;
    const v = root * root * root;
    if (v > 0 && log(1 - draw.uniform()) < (x * x) / 2 + d - d * v + d * log(v)) return d * v;
  }
}

function middle95(means: number[]): [number, number] {
  means.sort((a, b) => a - b);
  return [means[Math.floor(0.025 * means.length)]!, means[Math.ceil(0.975 * means.length) - 1]!];
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function variance(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (values.length - 1);
}

function skewness(values: readonly number[]): number {
  const mean = meanOf(values);
  const n = values.length;
  const second = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / n;
  const third = values.reduce((sum, value) => sum + (value - mean) * (value - mean) * (value - mean), 0) / n;
  return second === 0 ? 0 : third / (second * Math.sqrt(second));
}

/** t(0.975) for few degrees of freedom, where the series below is inaccurate. */
const EXACT = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691];

/** t(0.975, df); from df = 7, exact to 1e-3. */
export function tQuantile975(df: number): number {
  return EXACT[df - 1] ?? studentQuantile(Z, df);
}

/** Student's quantile, by Fisher's expansion about the normal quantile `z` (Abramowitz and Stegun 26.7.5). */
export function studentQuantile(z: number, df: number): number {
  const z3 = z * z * z;
  const z5 = z3 * z * z;
  const z7 = z5 * z * z;
  return (
    z +
    (z3 + z) / (4 * df) +
    (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df)
  );
}
