import fc from 'fast-check';
import { expect, it } from 'vitest';
import { roundest } from '../../../src/core/math/roundest.js';
import { forAll } from '../../draws.js';

it.each([
  [480, 530, 512, 500],
  [96, 104, 99, 100],
  [0.23, 0.27, 0.26, 0.25],
  [1_234, 1_234, 1_234, 1_234],
  [-1, 1, 0, 1],
  // None is above 0.
  [-3, -1, -2, -2],
  [-1, 0, 0, 0],
  [Number.NaN, Number.NaN, 7, 7],
  [1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
])('the roundest number between %d and %d, near to %d, is %d', (least, most, value, expected) => {
  expect(roundest(least, most, value)).toBe(expected);
});

it('the roundest number lies between the two, or is the value', () => {
  forAll([fc.double(), fc.double(), fc.double()], (least, most, value) => {
    const found = roundest(least, most, value);
    expect(Object.is(found, value) || (found > 0 && found >= least * (1 - 1e-11) && found <= most * (1 + 1e-11))).toBe(
      true,
    );
  });
});
