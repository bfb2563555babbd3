// Owns the promises of random streams: named, repeatable to the last bit, independent, and each law the one it says it is.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RandomStream, stateFrom } from '../../../src/core/math/random.js';
import { drawPoisson } from '../../../src/core/math/random-law.js';
import { sha256Hex } from '../../../src/core/schema/canonical.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { forAll } from '../../draws.js';
import { chiSquareDeviate, histogram, meanDeviate } from '../limiter/statistics.js';

const take = (n: number, draw: () => number): number[] => Array.from({ length: n }, draw);

it('a stream gives these numbers for ever: who changes one changes every digest', () => {
  const stream = new RandomStream(7, 'pinned');
  expect({
    uint32: take(3, () => stream.uint32()),
    uniform: take(2, () => stream.uniform()),
    integer: take(3, () => stream.integer(-5, 5)),
    large: take(2, () => stream.integer(0, 1e15)),
    exponential: take(2, () => stream.exponential(0.5)),
    normal: take(2, () => stream.normal(10, 2)),
    poisson: [drawPoisson(0, stream), drawPoisson(3, stream), drawPoisson(300, stream), drawPoisson(1e9, stream)],
    pareto: take(2, () => stream.pareto(1.5, 2)),
  }).toEqual({
    uint32: [3303711350, 3753574055, 3316358782],
    uniform: [0.7550590731471671, 0.7110031807699659],
    integer: [1, 3, 4],
    large: [8439756168398, 446239790567893],
    exponential: [0.09563627194034113, 0.7218604536896168],
    normal: [8.804983503300779, 15.12014358828393],
    poisson: [0, 2, 316, 999949540],
    pareto: [3.8188015758547023, 2.312508281762216],
  });
});

it('a stream is xoroshiro128+ (24, 16, 37), started from SHA-256 of seed and purpose, and gives its lower half', () => {
  const digest = sha256Hex('["7","arrival/0"]');
  const word = (i: number) => BigInt(`0x${digest.slice(8 * i, 8 * i + 8)}`);
  let s0 = (word(0) << 32n) | word(1);
  let s1 = (word(2) << 32n) | word(3);
  const rotated = (x: bigint, n: bigint) => BigInt.asUintN(64, (x << n) | (x >> (64n - n)));
  const expected = take(1000, () => {
    const sum = BigInt.asUintN(32, s0 + s1);
    s1 ^= s0;
    s0 = rotated(s0, 24n) ^ s1 ^ BigInt.asUintN(64, s1 << 16n);
    s1 = rotated(s1, 37n);
    return Number(sum);
  });
  const stream = new RandomStream(7, 'arrival/0');
  expect(take(1000, () => stream.uint32())).toEqual(expected);
});

it('a stream is the same for the same seed and purpose, however the seed is spelt', () => {
  forAll([fc.oneof(fc.integer(), fc.double({ noNaN: true })), fc.string()], (seed, purpose) => {
    const [first, second] = [new RandomStream(seed, purpose), new RandomStream(String(seed), purpose)];
    expect(take(4, () => first.uint32())).toEqual(take(4, () => second.uint32()));
  });
});

it('a stream is another one for another seed, and for another purpose', () => {
  const names: [number | string, string][] = [
    [1, 'a'],
    [1, 'b'],
    [2, 'a'],
    [1, ''],
    ['', '1'],
    ['1a', ''],
    ['1","a', ''],
    ['', '1","a'],
    ['\u00e9', 'a'],
    ['e\u0301', 'a'],
    [-1, 'a'],
    [2 ** 53, 'a'],
    [1.5, 'a'],
  ];
  const starts = names.map(([seed, purpose]) => {
    const stream = new RandomStream(seed, purpose);
    return take(4, () => stream.uint32()).join();
  });
  expect(new Set(starts).size).toBe(names.length);
});

it('a stream does not move when another purpose draws more', () => {
  const undisturbed = new RandomStream(1, 'arrival');
  const expected = take(5, () => undisturbed.uniform());
  const [arrival, client] = [new RandomStream(1, 'arrival'), new RandomStream(1, 'client')];
  const interleaved = take(5, () => {
    client.normal(0, 1);
    return arrival.uniform();
  });
  expect(interleaved).toEqual(expected);
});

it('a stream of one purpose says nothing about that of another: pairs fill the square evenly', () => {
  const [first, second] = [new RandomStream(1, 'arrival/0'), new RandomStream(1, 'arrival/1')];
  const cell = () => Math.floor(first.uniform() * 16) * 16 + Math.floor(second.uniform() * 16);
  expect(Math.abs(chiSquareDeviate(histogram(256, 1e5, cell), new Array(256).fill(1e5 / 256)))).toBeLessThan(4);
});

it('a stream never starts from a state of zeros, which it would not leave', () => {
  const zeros = new Uint8Array(32);
  expect(stateFrom(zeros)).toEqual([0, 0, 0, 1]);
  zeros[15] = 2;
  expect(stateFrom(zeros)).toEqual([0, 0, 0, 2]);
  expect(stateFrom(Uint8Array.from({ length: 32 }, (_, i) => 0xf0 + (i % 16)))).toEqual([
    0xf0f1f2f3 | 0,
    0xf4f5f6f7 | 0,
    0xf8f9fafb | 0,
    0xfcfdfeff | 0,
  ]);
});

const N = 1e5;
const even = (cells: number) => new Array<number>(cells).fill(N / cells);
const deviate = (cells: number, draw: () => number, expected = even(cells)) =>
  Math.abs(chiSquareDeviate(histogram(cells, N, draw), expected));

it('a uniform draw is even over [0, 1) in its upper bits and in its lower ones', () => {
  const stream = new RandomStream(1, 'uniform');
  expect(deviate(1000, () => Math.floor(stream.uniform() * 1000))).toBeLessThan(4);
  expect(deviate(64, () => (stream.uniform() * 2 ** 53) % 64)).toBeLessThan(4);
  const sample = take(N, () => stream.uniform());
  expect([Math.min(...sample.slice(0, 50_000)) >= 0, Math.max(...sample.slice(0, 50_000)) < 1]).toEqual([true, true]);
});

it.each([
  [0, 1],
  [0, 2],
  [1, 6],
  [-3, 3],
  [0, 63],
  [0, 64],
  [2 ** 40, 2 ** 40 + 99],
])('an integer draw gives every whole number of %d .. %d as often as the others, and no other', (min, max) => {
  const stream = new RandomStream(1, `integer ${min} ${max}`);
  const sample = take(N, () => stream.integer(min, max) - min);
  expect(sample.every((x) => Number.isInteger(x) && x >= 0 && x <= max - min)).toBe(true);
  let i = 0;
  expect(deviate(max - min + 1, () => sample[i++]!)).toBeLessThan(4);
});

it.each([
  [0, 2 ** 32 - 1],
  [0, 2 ** 32],
  [-(2 ** 33), 2 ** 33 + 12_345],
  [0, 6e15],
  [0, 2 ** 53 - 1],
  [-(2 ** 52), 2 ** 52 - 1],
])('an integer draw is spread evenly over %d .. %d', (min, max) => {
  const stream = new RandomStream(1, `wide ${min} ${max}`);
  const sample = take(N, () => stream.integer(min, max));
  expect(sample.every((x) => Number.isSafeInteger(x) && x >= min && x <= max)).toBe(true);
  let i = 0;
  expect(deviate(100, () => Math.floor(((sample[i++]! - min) / (max - min + 1)) * 100))).toBeLessThan(4);
});

it('an integer draw of the one whole number there is takes no draw of the stream', () => {
  const [stream, untouched] = [new RandomStream(1, 'one'), new RandomStream(1, 'one')];
  expect([stream.integer(5, 5), stream.integer(-7, -7), stream.uint32()]).toEqual([5, -7, untouched.uint32()]);
});

it.each([
  [1, 0],
  [0, 2 ** 53],
  [0.5, 3],
  [0, 2.5],
  [NaN, 1],
  [0, Infinity],
])('an integer draw of %d .. %d is a bug', (min, max) => {
  expect(() => new RandomStream(1, 'bug').integer(min, max)).toThrow(Bug);
});

it.each([1, 0.02, 1e6])('an exponential draw of rate %d has a uniform 1 - e^(-rate x)', (rate) => {
  const stream = new RandomStream(1, `exponential ${rate}`);
  const cell = () => Math.floor(-Math.expm1(-rate * stream.exponential(rate)) * 100);
  expect(deviate(100, cell)).toBeLessThan(4);
  const gaps = take(N, () => stream.exponential(rate));
  expect(Math.abs(meanDeviate(gaps, 1 / rate, 1 / rate))).toBeLessThan(4);
});

it.each([
  [0, 1],
  [10, 2],
  [-5, 1e-3],
])('normal draws around %d with deviation %d have the first four moments of their law', (mean, deviation) => {
  const stream = new RandomStream(1, `normal ${mean}`);
  const z = take(N, () => (stream.normal(mean, deviation) - mean) / deviation);
  const moments = [1, 2, 3, 4].map((k) => z.map((x) => x ** k));
  // E z^k = 0, 1, 0, 3; the deviation of z^k is sqrt(E z^2k - (E z^k)^2) = 1, sqrt 2, sqrt 15, sqrt 96.
  const deviates = moments.map((values, i) => meanDeviate(values, [0, 1, 0, 3][i]!, Math.sqrt([1, 2, 15, 96][i]!)));
  expect(deviates.filter((deviate) => Math.abs(deviate) >= 4)).toEqual([]);
});

it('normal draws lie in each standard deviation as often as the tables say', () => {
  const stream = new RandomStream(1, 'normal cells');
  // Abramowitz and Stegun, table 26.1: P(x) at 0, 1, 2, 3.
  const [p1, p2, p3] = [0.8413447461, 0.9772498681, 0.998650102];
  const upper = [1 - p3, p3 - p2, p2 - p1, p1 - 0.5];
  const expected = [...upper, ...upper.toReversed()].map((share) => share * N);
  const cell = () => Math.min(7, Math.max(0, Math.floor(stream.normal(0, 1)) + 4));
  expect(deviate(8, cell, expected)).toBeLessThan(4);
});

it('a normal draw without deviation is its mean', () => {
  expect(new RandomStream(1, 'flat').normal(3, 0)).toBe(3);
});

it.each([
  [1.5, 2],
  [3, 1],
  [0.8, 10],
])('a Pareto draw of shape %d and scale %d has a uniform (scale / x)^shape, never below the scale', (shape, scale) => {
  const stream = new RandomStream(1, `pareto ${shape}`);
  const sample = take(N, () => stream.pareto(shape, scale));
  expect(sample.every((x) => x >= scale && x < Infinity)).toBe(true);
  let i = 0;
  const cell = () => Math.min(99, Math.floor((scale / sample[i++]!) ** shape * 100));
  expect(deviate(100, cell)).toBeLessThan(4);
});

it('an exponential draw is never -0, nor is one of u = 0', () => {
  const stream = new RandomStream(1, 'zero');
  const zero = Object.assign(Object.create(RandomStream.prototype), { uniform: () => 0 }) as RandomStream;
  expect(zero.exponential(2)).toBe(0);
  expect(take(1000, () => stream.exponential(1)).every((gap) => gap > 0)).toBe(true);
});
