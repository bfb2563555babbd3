import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Durations } from '../../../src/core/math/durations.js';
import { forAll } from '../../draws.js';

function of(...ms: readonly number[]): Durations {
  const durations = new Durations();
  for (const one of ms) durations.record(one);
  return durations;
}

it.each<[ms: number[], p: number, quantile: number]>([
  [[], 0.5, 0],
  [[7], 0, 7],
  [[0.0004], 1, 0],
])('the quantile of %j at %d is %d', (ms, p, quantile) => {
  expect(of(...ms).quantileMs(p)).toBeCloseTo(quantile, 2);
});

it('quantiles lie within a thousandth of the sorted list, from microseconds to years', () => {
  const ms = fc.oneof(
    fc.double({ min: 0, max: 10, noNaN: true }),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
    fc.double({ min: 0, max: 7e11, noNaN: true }),
  );
  forAll([fc.array(ms, { minLength: 1, maxLength: 50 }), fc.integer({ min: 1, max: 1000 })], (all, permille) => {
    const sorted = [...all].sort((a, b) => a - b);
    const exact = sorted[Math.ceil((permille / 1000) * all.length - 1e-9) - 1]!;
    const seen = of(...all).quantileMs(permille / 1000);
    expect({ exact, seen, isNear: Math.abs(seen - exact) <= exact / 1000 + 0.0006 }).toEqual({
      exact,
      seen,
      isNear: true,
    });
  });
});

it('two sets of durations together give what one would have given', () => {
  const ms = fc.array(fc.integer({ min: 0, max: 1e9 }), { maxLength: 30 });
  forAll([ms, ms], (first, second) => {
    const together = of(...first);
    together.add(of(...second));
    expect(together.figures('t')).toEqual(of(...first, ...second).figures('t'));
  });
});

it('the figures of durations have an exact mean and maximum, and say what was timed', () => {
  expect([of().figures('t'), of(1, 3.5).figures('from a to b')]).toEqual([
    null,
    {
      ...{ n: 2, mean: 2.25, p50: 1, p90: 3.5, p99: 3.5, p999: 3.5, max: 3.5 },
      taken: 'from a to b; HDR histogram of microseconds, 3 significant digits; mean and max exact',
    },
  ]);
});
