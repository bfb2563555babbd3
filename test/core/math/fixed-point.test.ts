// Owns the check of the constants behind the elementary functions against their published digits.
import { expect, it } from 'vitest';
import { expOfFraction, logOfQuotient, nearestDouble, pi, twoDoubles } from '../../../src/core/math/fixed-point.js';

const BITS = 256n;

/** The first `digits` decimals of a fixed-point number, cut off. */
function decimals(fixed: bigint, digits: number): string {
  const scaled = ((fixed * 10n ** BigInt(digits)) >> BITS).toString().padStart(digits + 1, '0');
  return `${scaled.slice(0, -digits)}.${scaled.slice(-digits)}`;
}

// biome-ignore format: one case a line
it.each([
    ['pi', pi(BITS), '3.14159265358979323846264338327950288419716939937510582097494459', 'A000796'],
    ['ln 2', logOfQuotient(2n, 1n, BITS), '0.69314718055994530941723212145817656807550013436025525412068000', 'A002162'],
    ['ln 1.5', logOfQuotient(3n, 2n, BITS), '0.40546510810816438197801311546434913657199042346249419761401432', 'A016578'],
    ['sqrt e', expOfFraction(1n << 255n, BITS), '1.64872127070012814684865078781416357165377610071014801157507931', 'A019774'],
  ])('the constant %s has the digits of OEIS', (_name, fixed, digits) => {
    expect(decimals(fixed, 62)).toBe(digits);
  });

it('a fixed-point number is rounded to the nearest double', () => {
  expect(nearestDouble(pi(BITS), BITS)).toBe(Math.PI);
  expect(nearestDouble(-pi(BITS), BITS)).toBe(-Math.PI);
});

it.each([24n, 42n, 52n])('a fixed-point number splits into a multiple of 2^-%d and what it lacks', (kept) => {
  const [upper, lower] = twoDoubles(pi(BITS), BITS, kept);
  const asFixed = (x: number) => BigInt(x * 2 ** 120) << (BITS - 120n);
  expect(Number.isInteger(upper * 2 ** Number(kept))).toBe(true);
  expect(Math.abs(Number(pi(BITS) - asFixed(upper) - asFixed(lower)))).toBeLessThan(2 ** (256 - 53 - Number(kept)));
});
