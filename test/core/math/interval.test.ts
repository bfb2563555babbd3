import { expect, it } from 'vitest';
import { meanInterval, shareInterval, tQuantile975 } from '../../../src/core/math/interval.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { drawPoisson } from '../../../src/core/math/random-law.js';
import { few } from '../../draws.js';

// Student's t, two-sided 95 %: the tables of every textbook.
it.each([
  [1, 12.7062],
  [2, 4.3027],
  [3, 3.1824],
  [4, 2.7764],
  [5, 2.5706],
  [6, 2.4469],
  [7, 2.3646],
  [9, 2.2622],
  [10, 2.2281],
  [19, 2.093],
  [29, 2.0452],
  [60, 2.0003],
  [120, 1.9799],
  [100_000, 1.96],
])('t(0.975, %i) is %d', (df, t) => {
  expect(Math.abs(tQuantile975(df) - t)).toBeLessThan(1e-3);
});

it.each<[values: number[], expected: { mean: number; half: number; min: number; max: number }]>([
  [[1, 3], { mean: 2, half: 12.7062, min: 1, max: 3 }],
  [[5, 5, 5], { mean: 5, half: 0, min: 5, max: 5 }],
  [[1, 2, 3, 4, 5], { mean: 3, half: 1.96324, min: 1, max: 5 }],
  [[-1, 1], { mean: 0, half: 12.7062, min: -1, max: 1 }],
])("the mean of %j has its interval by Student's t", (values, { mean, half, min, max }) => {
  const found = meanInterval(values);
  expect({ ...found, low: found.low.toFixed(4), high: found.high.toFixed(4) }).toEqual({
    mean,
    low: (mean - half).toFixed(4),
    high: (mean + half).toFixed(4),
    interval: 't',
    min,
    max,
  });
});

// Newcombe (1998), table I: Wilson's interval without continuity correction.
it.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [29, 29, 0.883, 1],
])('the share of %i of %i runs lies in [%d, %d]', (successes, n, low, high) => {
  const found = shareInterval(successes, n);
  expect([found.low.toFixed(4), found.high.toFixed(4), found.interval]).toEqual([
    low.toFixed(4),
    high.toFixed(4),
    'wilson',
  ]);
});

const ofZeros = (n: number, most: number) => meanInterval(new Array<number>(n).fill(0), most);

it.each([
  [2, 3.1],
  [10, 0.8455],
  [20, 0.4429],
  [100, 0.0921],
])('the mean of zeros in %i runs is at most %d, whatever a run can reach', (n, end) => {
  for (const most of [200, 14_861]) {
    const { low, high, interval } = ofZeros(n, most);
    expect([low, high.toFixed(4), interval]).toEqual([0, end.toFixed(4), 'bootstrap']);
  }
});

it.each([
  [10, 0.2775],
  [20, 0.1611],
])('zeros in %i runs that each have it or not are a share', (n, end) => {
  const { low, high, interval } = ofZeros(n, 1);
  expect([low, high.toFixed(4), interval]).toEqual([0, end.toFixed(4), 'wilson']);
});

it('a share of all runs has the mirrored interval', () => {
  const { low, high } = meanInterval(new Array<number>(10).fill(1), 1);
  expect([(1 - low).toFixed(4), high]).toEqual(['0.2775', 1]);
});

// Of all laws in which a share of the runs has an event of this mean size, the one that the end of zeros misses most often: a mean just
// above the end. All other draws are left out: those that are not all 0 are not what is judged.
it.each([
  [1, 0.99],
  [3, 0.95],
  [6, 0.78],
])('the end of zeros is missed by events of mean size %i in at most 1 - %d of the draws', (size, coverage) => {
  for (const n of [10, 20, 100]) {
    const share = ofZeros(n, 1e9).high / size;
    expect(1 - (1 - share) ** n).toBeGreaterThan(coverage);
  }
});

it('the end of zeros is no more than two and a half of the exact Poisson one (Garwood, 1936: 3.69 / n)', () => {
  for (const n of [2, 10, 20, 100]) expect((ofZeros(n, 1e9).high * n) / 3.689).toBeLessThan(2.52);
});

const draw = new RandomStream(7, 'coverage');
const rare = (share: number, mean: number) => () => (draw.uniform() < share ? geometric(mean) : 0);
const geometric = (mean: number) => 1 + Math.floor(draw.exponential(-Math.log1p(-1 / mean)));
const laws: [name: string, one: () => number, truth: number, most: number | undefined][] = [
  ['9 % of runs limit 4.2 requests', rare(0.09, 4.2), 0.378, 200],
  ['30 % of runs limit 10 requests', rare(0.3, 10), 3, 200],
  ['half of the runs limit 5 requests', () => (draw.uniform() < 0.5 ? 5 : 0), 2.5, 200],
  ['a Poisson count of mean 0.5', () => drawPoisson(0.5, draw), 0.5, 200],
  ['a Poisson count of mean 10', () => drawPoisson(10, draw), 10, 200],
  ['a normal figure', () => draw.normal(50, 5), 50, undefined],
  ['an exponential figure', () => draw.exponential(1 / 10), 10, undefined],
];
const sizes = few([10, 20, 100], 1);
it.each(laws.flatMap(([name, one, truth, most]) => sizes.map((n) => [name, n, one, truth, most] as const)))(
  'intervals hold the truth: %s, n = %i',
  (_, n, one, truth, most) => {
    const runs = 200;
    let held = 0;
    for (let run = 0; run < runs; run += 1) {
      const { low, high } = meanInterval(Array.from({ length: n }, one), most);
      if (low <= truth && truth <= high) held += 1;
    }
    // 90 to 98 %, with the standard error that 200 trials have: 1.5 points.
    expect(held / runs).toBeGreaterThan(0.9 - 0.03);
  },
);

// Without the draws that are 0 throughout: those hold whatever the upper end is.
it.each([
  ['9 % of runs limit 4.2 requests', rare(0.09, 4.2), 1.68, 0.378, 10, 3],
  ['30 % of runs limit 10 requests', rare(0.3, 10), 6.92, 3, 10, 2],
  ['a Poisson count of mean 0.1', () => drawPoisson(0.1, draw), 0.316, 0.1, 20, 3],
  ['a Poisson count of mean 2', () => drawPoisson(2, draw), Math.SQRT2, 2, 20, 1.3],
] as const)(
  'intervals of draws that are not all 0 hold the truth without being wide: %s',
  (_, one, deviation, truth, n, most) => {
    let [held, all, width] = [0, 0, 0];
    for (let run = 0; run < 300; run += 1) {
      const values = Array.from({ length: n }, one);
      if (values.every((value) => value === 0)) continue;
      const { low, high } = meanInterval(values, 200);
      all += 1;
      width += high - low;
      if (low <= truth && truth <= high) held += 1;
    }
    expect(held / all).toBeGreaterThan(0.87);
    expect(width / all / ((2 * 1.96 * deviation) / Math.sqrt(n))).toBeLessThan(most);
  },
);

it('the interval of a count seen often is at most half as wide again as the normal one', () => {
  const values = Array.from({ length: 100 }, (): number => (draw.uniform() < 0.5 ? 5 : 0));
  const { low, high, mean } = meanInterval(values, 200);
  const half = (1.96 * Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 99)) / 10;
  expect((high - low) / (2 * half)).toBeLessThan(1.5);
});
