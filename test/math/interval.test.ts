import { describe, expect, it } from 'vitest';
import { interval, tQuantile975 } from '../../src/math/interval.js';
import { replicationSeed, summarise } from '../../src/simulate/replicate.js';

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
])('t(0.975, %i) = %d', (df, t) => {
  expect(Math.abs(tQuantile975(df) - t)).toBeLessThan(1e-3);
});

it.each<[values: number[], expected: { mean: number; half: number; min: number; max: number }]>([
  [[1, 3], { mean: 2, half: 12.7062, min: 1, max: 3 }],
  [[5, 5, 5], { mean: 5, half: 0, min: 5, max: 5 }],
  [[1, 2, 3, 4, 5], { mean: 3, half: 1.96324, min: 1, max: 5 }],
  [[-1, 1], { mean: 0, half: 12.7062, min: -1, max: 1 }],
])('the mean of %j and its interval', (values, { mean, half, min, max }) => {
  const found = interval(values);
  expect({ ...found, low: found.low.toFixed(4), high: found.high.toFixed(4) }).toEqual({
    mean,
    low: (mean - half).toFixed(4),
    high: (mean + half).toFixed(4),
    min,
    max,
  });
});

describe('a summary', () => {
  it('tells of the figures that every run has', () => {
    const { n, figures } = summarise([
      { limited: 1, recovery_cycles: 3 },
      { limited: 3 },
      { limited: 2, recovery_cycles: Number.NaN },
    ]);
    expect([n, Object.keys(figures), figures['limited']!.mean]).toEqual([3, ['limited'], 2]);
  });

  it('seeds of replications differ, and the first is that of the scenario', () => {
    expect([0, 1, 2].map((index) => replicationSeed(7, index))).toEqual([7, '7/1', '7/2']);
  });
});
