import { expect, it } from 'vitest';
import { Bug } from '../../src/core/schema/failure.js';
import { meanTimes, type Rates, stationary } from './chain.js';
import { contention } from './contention.js';
import { missedRows, type PublishedCheck, type PublishedRow } from './published-check.js';

const check = (row: Partial<PublishedRow>): PublishedCheck => ({
  ...{ title: 'T', source: 'S' },
  rows: [{ name: 'r', expected: 10, unit: 'u', ...row }],
  replicate: () => [],
});

const isHeld = (row: Partial<PublishedRow>, samples: readonly (readonly number[])[]) =>
  missedRows(check(row), samples).length === 0;

// A hundred samples, half 9 and half 11: mean 10, standard error 0.1005; 3.3 of them are 0.3317.
const hundred = Array.from({ length: 100 }, (_, n) => [n % 2 === 0 ? 9 : 11]);

it.each<[rule: string, row: Partial<PublishedRow>, held: boolean]>([
  ['is held if the mean is the published figure', {}, true],
  ['is held up to 3.3 standard errors below the mean', { expected: 9.669 }, true],
  ['is missed further below the mean', { expected: 9.668 }, false],
  ['is held up to 3.3 standard errors above the mean', { expected: 10.331 }, true],
  ['is missed further above the mean', { expected: 10.332 }, false],
  ['is held further off if it has an error of its own', { expected: 11, error: 0.3 }, true],
  ['is missed beyond the error of its own', { expected: 11.05, error: 0.3 }, false],
  ['that bounds the mean is held if the mean is clearly below', { expected: 10.332, holds: 'below' }, true],
  ['that bounds the mean is missed if that may be chance', { expected: 10.331, holds: 'below' }, false],
  ['that bounds the mean is missed if the mean is above', { expected: 5, holds: 'below' }, false],
])('a published figure %s', (_rule, row, held) => {
  expect(isHeld(row, hundred)).toBe(held);
});

// Student's quantiles for 1 in 1034, two-sided: 4.80 with 9 degrees of freedom, 3.67 with 29.
it.each<[replications: number, errors: number]>([
  [10, 4.8],
  [30, 3.67],
  [100, 3.3],
  [400, 3.3],
])('a published figure is held with %d replications up to %d standard errors off', (n, errors) => {
  const spread = Array.from({ length: n }, (_, k) => [k % 2 === 0 ? 9 : 11]);
  const standardError = Math.sqrt(1 / (n - 1));
  const held = (off: number) => isHeld({ expected: 10 + off * standardError }, spread);
  expect([held(errors - 0.02), held(errors + 0.02)]).toEqual([true, false]);
});

it('a figure without any spread is held only if it is exact', () => {
  const exact = [[10], [10]];
  expect([isHeld({}, exact), isHeld({ expected: 10.000001 }, exact)]).toEqual([true, false]);
});

it('a figure that is not a number is missed', () => {
  expect(isHeld({}, [[10], [Number.NaN]])).toBe(false);
});

it('one replication is refused: it has no standard error', () => {
  expect(() => missedRows(check({}), [[10]])).toThrow(Bug);
});

it('a missed figure is named with its mean, its standard error and the published value', () => {
  expect(missedRows(check({ expected: 20 }), hundred)).toEqual([
    expect.stringMatching(/^r: 10 ± 0\.1005\d* u, published 20$/),
  ]);
});

it('figures that are off by a twentieth are missed', () => {
  const samples = Array.from({ length: 20 }, (_, n) => contention.replicate(1, n).map((figure) => figure * 1.05));
  expect(missedRows(contention, samples)).not.toEqual([]);
});

/** M/M/1 with room for `most`. */
const queue =
  (lambda: number, mu: number, most: number): Rates =>
  (state, to) => {
    if (state < most) to(state + 1, lambda);
    if (state > 0) to(state - 1, mu);
  };

it.each([0.3, 0.95, 3])('a solved chain has the geometric law of M/M/1/K, rho %d', (rho) => {
  const share = stationary(41, queue(rho, 1, 40));
  const norm = (1 - rho) / (1 - rho ** 41);
  const ratios = [...share].map((one, n) => one / (norm * rho ** n));
  expect(ratios).toEqual(ratios.map(() => expect.closeTo(1, 12)));
});

// From n to n - 1:  t(n) = (1 + lambda t(n + 1)) / mu.
it.each([0.5, 0.99, 2])('a solved chain has the mean times of M/M/1/K to empty, rho %d', (rho) => {
  const most = 60;
  const times = meanTimes(most + 1, queue(rho, 1, most), 1);
  const down = Array.from({ length: most }, () => 1);
  for (let n = most - 2; n >= 0; n -= 1) down[n] = 1 + rho * down[n + 1]!;
  let sum = 0;
  const ratios = down.map((one, n) => {
    sum += one;
    return times[n + 1]! / sum;
  });
  expect(ratios).toEqual(ratios.map(() => expect.closeTo(1, 12)));
});

it('a solved chain keeps all digits where the numbers are 1e40 apart', () => {
  const share = stationary(61, queue(1, 1e-4, 60));
  expect([share[60], share[50]! / 1e-40]).toEqual([expect.closeTo(0.9999, 10), expect.closeTo(0.9999, 10)]);
});

it('a solved chain reaches the nearest of several targets', () => {
  const ring: Rates = (state, to) => {
    for (const step of [1, 5]) to((state + step) % 6, 1);
  };
  // 0 and 1 are reached; from 3 and 4 it takes the longest.
  expect([...meanTimes(6, ring, 2)]).toEqual([0, 0, 2, 3, 3, 2]);
});
