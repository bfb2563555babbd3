import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Carry, MOST_PARTS, mixed, onCommonParts } from '../../../../src/harness/traffic/arrival/carry.js';
import { forAll } from '../../../draws.js';

// biome-ignore format: one case a line
it.each([
  [[[1, 2]], 100, 2n, [1n]],
  [[[1, 2], [2, 3]], 100, 6n, [3n, 4n]],
  [[[5, 1], [0, 1]], 100, 1n, [5n, 0n]],
  [[[1, 7], [1, 11]], 77, 77n, [11n, 7n]],
  // 1/7 = 10.86/76 and 1/11 = 6.91/76
  [[[1, 7], [1, 11]], 76, 76n, [11n, 7n]],
  [[[1, 3], [2, 3]], 2, 2n, [1n, 1n]],
])('rates %j are amounts of a common part, of which at most %i are one', (rates, most, parts, amounts) => {
  const given = rates.map(([requests = 0, cycles = 1]) => ({ requests, cycles }));
  expect(onCommonParts(given, most)).toEqual({ parts, amounts });
});

it.each([
  [7n, 3n, 2, 1],
  [6n, 3n, 2, 0],
  [-1n, 3n, -1, 2],
  [-6n, 3n, -2, 0],
  [0n, 1n, 0, 0],
])('%i over %i is %i whole and %i parts', (amount, parts, whole, part) => {
  expect(mixed(amount, parts)).toEqual({ whole, part });
});

it('what is carried and what was given add up to what was taken in, with as many parts as there can be', () => {
  const amounts = fc.array(fc.tuple(fc.nat(9), fc.integer({ min: 0, max: MOST_PARTS - 1 })), { maxLength: 50 });
  forAll([amounts], (taken) => {
    const carry = new Carry(MOST_PARTS);
    const given = taken.reduce((sum, [whole, part]) => sum + BigInt(carry.take(whole, part)), 0n);
    const parts = BigInt(MOST_PARTS);
    const total = taken.reduce((sum, [whole, part]) => sum + BigInt(whole) * parts + BigInt(part), 0n);
    expect([given, carry.fraction]).toEqual([total / parts, Number(total % parts) / MOST_PARTS]);
  });
});
