// Owns the promises of the elementary functions: special values, distance from the engine's functions, and the exact bits.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cos, exp, log, pow, sin, sinTurns } from '../../../src/core/math/elementary.js';
import { forAll } from '../../draws.js';

const TINIEST = Number.MIN_VALUE;
const LARGEST = Number.MAX_VALUE;

/** The distance of two doubles relative to the second, in units of 2^-52: at most one ulp is at most 1. */
function distance(actual: number, expected: number): number {
  if (Object.is(actual, expected)) return 0;
  return Math.abs(actual - expected) / Math.abs(expected) / 2 ** -52;
}

it.each([
  ['log', 1, 0, log],
  ['log', 0, -Infinity, log],
  ['log', -0, -Infinity, log],
  ['log', -1, NaN, log],
  ['log', -TINIEST, NaN, log],
  ['log', -Infinity, NaN, log],
  ['log', Infinity, Infinity, log],
  ['log', NaN, NaN, log],
  ['log', 2, Math.LN2, log],
  ['log', 10, Math.LN10, log],
  ['log', TINIEST, -744.4400719213812, log],
  ['log', 2 ** -1022, -708.3964185322641, log],
  ['log', LARGEST, 709.782712893384, log],
  ['log', 1 - 2 ** -53, -(2 ** -53), log],
  ['exp', 0, 1, exp],
  ['exp', -0, 1, exp],
  ['exp', 1, Math.E, exp],
  ['exp', Infinity, Infinity, exp],
  ['exp', -Infinity, 0, exp],
  ['exp', NaN, NaN, exp],
  ['exp', 709.782712893384, 1.7976931348622732e308, exp],
  ['exp', 709.7827128933841, Infinity, exp],
  ['exp', LARGEST, Infinity, exp],
  ['exp', -745.1332191019411, TINIEST, exp],
  ['exp', -745.1332191019412, 0, exp],
  ['exp', -LARGEST, 0, exp],
  ['exp', TINIEST, 1, exp],
  ['sin', 0, 0, sin],
  ['sin', -0, -0, sin],
  ['sin', TINIEST, TINIEST, sin],
  ['sin', Infinity, NaN, sin],
  ['sin', -Infinity, NaN, sin],
  ['sin', NaN, NaN, sin],
  ['sin', Math.PI, 1.2246467991473532e-16, sin],
  ['sin', 1e22, -0.8522008497671888, sin],
  ['sin', LARGEST, 0.004961954789184062, sin],
  ['cos', 0, 1, cos],
  ['cos', Infinity, NaN, cos],
  ['cos', NaN, NaN, cos],
  ['cos', Math.PI / 2, 6.123233995736766e-17, cos],
  // The double that lies nearest to a multiple of pi/2: 2^-60 away.
  ['cos', 5.319372648326541e255, -4.6871659242546277e-19, cos],
  ['cos', LARGEST, -0.9999876894265599, cos],
  ['sinTurns', 0, 0, sinTurns],
  ['sinTurns', 0.25, 1, sinTurns],
  ['sinTurns', 0.5, 0, sinTurns],
  ['sinTurns', 0.75, -1, sinTurns],
  ['sinTurns', -0.25, -1, sinTurns],
  ['sinTurns', 1, 0, sinTurns],
  ['sinTurns', 1 / 12, 0.5, sinTurns],
  ['sinTurns', 2 ** 53 - 1, 0, sinTurns],
  ['sinTurns', 2 ** 50 + 0.25, 1, sinTurns],
  ['sinTurns', LARGEST, 0, sinTurns],
  ['sinTurns', Infinity, NaN, sinTurns],
  ['sinTurns', NaN, NaN, sinTurns],
])('%s(%d) is %d', (_name, x, expected, f) => {
  expect(f(x)).toBe(expected);
});

const corners = [0, 1, 2, 0.5, 3, 2.5, TINIEST, 2 ** -1022, 1 - 2 ** -53, LARGEST, Infinity].flatMap((x) => [x, -x]);
it.each([...corners, NaN])('pow of %d is what the standard, or the engine to an ulp, says at each corner of y', (x) => {
  const wrong = [...corners, NaN].filter((y) => !(distance(pow(x, y), x ** y) <= 1));
  expect(wrong).toEqual([]);
});

const logarithmic = (low: number, high: number) =>
  fc.double({ min: low, max: high, noNaN: true }).map((exponent) => Math.exp(exponent));
const angle = fc.oneof(
  fc.double({ min: -10, max: 10, noNaN: true }),
  fc.double({ min: -1e5, max: 1e5, noNaN: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

it.each([
  ['log', log, Math.log, fc.oneof(logarithmic(-745, 709), fc.double({ min: 0.9, max: 1.1, noNaN: true }))],
  ['log of any double', log, Math.log, fc.double({ min: 0 })],
  ['exp', exp, Math.exp, fc.double({ min: -708, max: 709.7, noNaN: true })],
  ['exp near 0', exp, Math.exp, fc.double({ min: -0.1, max: 0.1, noNaN: true })],
  ['sin', sin, Math.sin, angle],
  ['cos', cos, Math.cos, angle],
])('%s is at most 2 ulp from the function of Math', (_name, ours, engines, argument) => {
  forAll([argument], 5000, (x) => {
    expect(distance(ours(x), engines(x))).toBeLessThanOrEqual(2);
  });
});

it('pow is at most 2 ulp from the power of the engine', () => {
  forAll([logarithmic(-40, 40), fc.double({ min: -17, max: 17, noNaN: true })], 5000, (x, y) => {
    expect(distance(pow(x, y), x ** y)).toBeLessThanOrEqual(2);
  });
});

it('sinTurns is at most 4 ulp from Math.sin, where 2 pi x is small enough for the same angle', () => {
  // 2 pi x is rounded before Math.sin sees it; at an angle of at most 1 that moves the sine by one ulp.
  forAll([fc.double({ min: -0.125, max: 0.125, noNaN: true })], 5000, (x) => {
    fc.pre(Math.abs(x) > 1e-300);
    expect(distance(sinTurns(x), Math.sin(2 * Math.PI * x))).toBeLessThanOrEqual(4);
  });
});

it('a whole power that fits a double is exact', () => {
  const wrong: string[] = [];
  for (let base = 2n; base < 2000n; base++) {
    for (let e = 1n, power = base; power <= 2n ** 53n; e++, power *= base) {
      if (pow(Number(base), Number(e)) !== Number(power)) wrong.push(`${base}^${e}`);
      if (pow(-Number(base), Number(e)) !== (e % 2n === 0n ? 1 : -1) * Number(power)) wrong.push(`(-${base})^${e}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('every power of two is exact', () => {
  for (let e = -1074, power = TINIEST; e <= 1023; e++, power *= 2) expect(pow(2, e)).toBe(power);
});

it('whole turns change no sine', () => {
  const turns = fc.integer({ min: -(2 ** 20), max: 2 ** 20 });
  forAll([turns, turns], (numerator, whole) => {
    const part = numerator / 2 ** 20;
    expect(sinTurns(part + whole) - sinTurns(part)).toBe(0);
  });
});

it('sines are odd and cosines are even', () => {
  forAll([fc.double({ noNaN: true, noDefaultInfinity: true })], (x) => {
    expect(sin(-x)).toBe(-sin(x));
    expect(cos(-x)).toBe(cos(x));
    expect(sinTurns(-x) + sinTurns(x)).toBe(0);
  });
});

it('the bits of 40,000 results stay as they are: who changes one changes every digest', () => {
  const results = new Float64Array(40_000);
  for (let i = 0; i < 8000; i++) {
    const x = (i + 1) / 777;
    results.set([log(x * x * x), exp(x * 20 - 100), pow(x, 3 - x / 3), sin(x * 97), sinTurns(x * 31)], 5 * i);
  }
  expect(createHash('sha256').update(results).digest('hex')).toBe(
    'b3db51c661dcc68a006199c688da360549f66a4e2b84e5c74bf1666e31926528',
  );
});
