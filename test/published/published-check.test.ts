import { expect, it } from 'vitest';
import { Bug } from '../../src/core/schema/failure.js';
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
