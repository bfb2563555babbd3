import { expect, it } from 'vitest';
import { jainIndex } from '../../../src/harness/simulate/key-effects.js';

it.each([
  [[1, 1, 1, 1], 1],
  [[1, 0, 0, 0], 0.25],
  [[0.5, 1], 0.9],
  [[0, 0], 1],
])('the index of Jain of %j is %f', (shares, index) => {
  expect(jainIndex(shares)).toBeCloseTo(index, 12);
});
