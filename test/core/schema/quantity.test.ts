import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  cycleMsFor,
  MAX_CYCLES,
  MOST_WITHIN,
  nearestWindow,
  parseMeanTime,
  parseMs,
  parseRate,
  parseTime,
  parseTimeMs,
} from '../../../src/core/schema/quantity.js';
import { forAll } from '../../draws.js';
import { failureOf } from '../../failures.js';

it.each<[value: number | string, cycleMs: number, requests: number, cycles: number]>([
  [0, 777, 0, 1],
  [5, 777, 5, 1],
  [0.1, 777, 1, 10],
  [2.5, 777, 5, 2],
  [1e-7, 777, 1, 10_000_000],
  [1.5e3, 777, 1500, 1],
  ['5', 777, 5, 1],
  ['5/cycle', 777, 5, 1],
  ['5 / cycles', 777, 5, 1],
  ['10/7 cycles', 777, 10, 7],
  ['10 per 7 cycles', 777, 10, 7],
  ['10/7', 777, 10, 7],
  ['20 per 14cycles', 777, 10, 7],
  ['130/s', 777, 10_101, 100],
  ['130/sec', 1000, 130, 1],
  ['130 PER Second', 1000, 130, 1],
  ['300/min', 777, 777, 200],
  ['300/5m', 777, 777, 1000],
  ['1/ms', 777, 777, 1],
  ['1/h', 777, 259, 1_200_000],
  ['1000/day', 777, 259, 28_800],
  ['1/0.5s', 1000, 2, 1],
  ['1e3/s', 1000, 1000, 1],
  ['  +7/s ', 1000, 7, 1],
  ['0/s', 777, 0, 1],
  ['5r/s', 1000, 5, 1],
  ['5 rps', 1000, 5, 1],
  ['300 requests per min', 1000, 5, 1],
  ['100 in 60s', 1000, 5, 3],
  ['10 per 1h30m', 1000, 1, 540],
])('the rate %j at %i ms is exactly %i requests in %i cycles', (value, cycleMs, requests, cycles) => {
  expect(parseRate(value, cycleMs)).toEqual({ requests, cycles });
});

it('a rate whose fraction is too fine for doubles is the nearest that is not', () => {
  expect([
    parseRate('0.3000000000000000000000000001', 777),
    parseRate('0.33333333333333333333333333/s', 1000),
    parseRate(1e-300, 777),
  ]).toEqual([
    { requests: 3, cycles: 10 },
    { requests: 1, cycles: 3 },
    { requests: 0, cycles: 1 },
  ]);
});

it('a rate is within 2^-52, of a request or of itself, of what its text says, in lowest terms, both parts exact', () => {
  const digits = fc.tuple(fc.bigInt(0n, 10n ** 7n), fc.bigInt(0n, 10n ** 20n - 1n));
  forAll([digits, fc.integer({ min: 1, max: 100_000 })], ([whole, part], cycleMs) => {
    const text = `${whole}.${part.toString().padStart(20, '0')}/s`;
    const { requests, cycles } = parseRate(text, cycleMs);
    const [over, under] = [(whole * 10n ** 20n + part) * BigInt(cycleMs), 10n ** 23n];
    const apart = over * BigInt(cycles) - BigInt(requests) * under;
    const size = apart < 0n ? -apart : apart;
    return (
      Number.isSafeInteger(requests) &&
      cycles >= 1 &&
      cycles <= 2 ** 52 &&
      commonDivisor(requests, cycles) === 1 &&
      size << 52n <= (under + over) * BigInt(cycles)
    );
  });
});

it.each<[value: number | string, why: string]>([
  ['', 'it is not a number of requests'],
  ['many', 'it is not a number of requests'],
  ['5/', 'it is not a number of requests'],
  ['5 s', 'it is not a number of requests'],
  ['1,000/s', 'it is not a number of requests'],
  [Number.NaN, 'it is not a number of requests'],
  [Number.POSITIVE_INFINITY, 'it is not a number of requests'],
  ['5/mim', '"mim" is no unit of time (did you mean "min"?)'],
  ['5/fortnight', '"fortnight" is no unit of time (there are ms, s, m, h, d, w and cycles)'],
  ['5/constructor', '"constructor" is no unit of time (there are ms, s, m, h, d, w and cycles)'],
  [-1, 'it is negative'],
  ['-0.5/s', 'it is negative'],
  ['5/-2s', 'it is negative'],
  ['5/0s', 'nothing can be counted per 0 of a time'],
  ['1e30/s', 'it is too large'],
  [`1${'0'.repeat(64)}`, 'it is longer than 64 characters'],
])('the rate %j is refused: %s', (value, why) => {
  expect(failureOf(() => parseRate(value, 777, '/arrivals/0/rate'))).toMatchObject({
    code: 'invalid_input',
    fix: expect.stringContaining('130/s'),
    faults: [{ path: '/arrivals/0/rate', message: expect.stringContaining(`is no rate: ${why}`) }],
  });
});

it.each<[value: number | string, cycleMs: number, cycles: number]>([
  [0, 777, 0],
  [60, 777, 60],
  [1.5, 777, 2],
  [1.49, 777, 1],
  ['60', 777, 60],
  ['60 cycles', 777, 60],
  ['1 cycle', 777, 1],
  ['46.62s', 777, 60],
  ['77.7s', 777, 100],
  ['777 ms', 777, 1],
  [' 5m ', 1000, 300],
  ['90s', 777, 116],
  ['388ms', 777, 0],
  ['389ms', 777, 1],
  ['2m', 1000, 120],
  ['2 min', 1000, 120],
  ['1h30m', 1000, 5400],
  ['1h 30m 15s', 1000, 5415],
  ['1 day', 777, 111_197],
  ['1e3s', 1000, 1000],
  [MAX_CYCLES, 777, MAX_CYCLES],
])('the time %j at %i ms is %i cycles', (value, cycleMs, cycles) => {
  expect(parseTime(value, cycleMs)).toBe(cycles);
});

it('a time that is a mean keeps its fraction, and one in ms needs no whole cycles', () => {
  expect([
    parseMeanTime('388.5ms', 777),
    parseMeanTime(0.3, 777),
    parseTimeMs('60s', 777),
    parseTimeMs(60, 777),
    parseTimeMs('1.5ms', 777),
  ]).toEqual([0.5, 0.3, 60_000, 46_620, 1.5]);
});

it.each<[value: number | string, least: number, why: string]>([
  ['', 0, 'it is empty'],
  ['soon', 0, 'it is not a number with a unit of time'],
  ['5s?', 0, 'it is not a number with a unit of time'],
  ['5 secs', 0, '"secs" is no unit of time (did you mean "sec"?)'],
  ['1h30', 0, '"30" stands without a unit'],
  ['5 parsecs', 0, '"parsecs" is no unit of time (there are ms, s, m, h, d, w and cycles)'],
  [-1, 0, 'it is negative'],
  ['-1', 0, 'it is negative'],
  ['NaN', 0, 'it is not a number with a unit of time'],
  ['1e400', 0, 'it is longer than 1000000000 cycles'],
  ['0', 1, 'it comes to 0 cycles of 777 ms, and at least 1 is needed'],
  ['1e999 d', 0, 'it is longer than 1000000000 cycles'],
  [MAX_CYCLES + 1, 0, 'it is longer than 1000000000 cycles'],
  ['100ms', 1, 'it comes to 0 cycles of 777 ms, and at least 1 is needed'],
])('the time %j is refused where at least %i is needed: %s', (value, least, why) => {
  expect(failureOf(() => parseTime(value, 777, '/to', least))).toMatchObject({
    code: 'invalid_input',
    fix: expect.stringContaining('90s'),
    faults: [{ path: '/to', message: expect.stringContaining(`is no time: ${why}`) }],
  });
});

it('a time of a rule may be as long as ten thousand years, whatever its unit', () => {
  expect([parseMs('30d', 1), parseMs('1.5', 1000), parseMs('0.5ms', 1000)]).toEqual([2_592_000_000, 1_500, 0.5]);
  expect(failureOf(() => parseMs('1e7 d', 1))?.why).toBe('It is longer than 10000 years.');
});

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

it.each<[windows: (number | string | undefined)[], cycleMs: number]>([
  [['15h'], 750],
  [['10s', '5m'], 500],
  [['10s', '750ms'], 250],
  [['1h30m'], 500],
  [['0.5s'], 500],
  // Windows in cycles keep theirs, and what cannot be a window is refused where it is read.
  [['60'], 777],
  [[60], 777],
  [['60 cycles'], 777],
  [['10s', '60'], 777],
  [['5s 2 cycles'], 777],
  [[undefined], 777],
  [[], 777],
  [['0s'], 777],
  [['0.5ms'], 777],
  [['soon'], 777],
  [[''], 777],
  [['-5s'], 777],
  // With so many cycles of 777 ms, more than a window may hold.
  [['1d'], 1000],
  [['2d'], 2000],
  [['2d', '10s'], 2000],
  [['1 week'], 10_000],
  [['30d'], 30_000],
  [['30d', '10s'], 777],
  [['100003ms'], 777],
  [['100003s'], 777],
])('the cycle for windows of %j is %i ms', (windows, cycleMs) => {
  expect(cycleMsFor(windows, 777)).toBe(cycleMs);
});

it('the cycle for windows is 500 ms where all are multiples, else the longest up to 777 ms of which all are whole', () => {
  const window = fc.integer({ min: 1, max: 90_000 });
  forAll([fc.array(window, { minLength: 1, maxLength: 3 })], (windows) => {
    const all = [500, ...Array.from({ length: 777 }, (_, ms) => 777 - ms)];
    const longest = all.find((cycleMs) => windows.every((ms) => ms % cycleMs === 0))!;
    const fits = windows.every((ms) => ms / longest <= MOST_WITHIN);
    return (
      cycleMsFor(
        windows.map((ms) => `${ms}ms`),
        777,
      ) === (fits ? longest : 777)
    );
  });
});

it.each<[window: number | string | undefined, cycleMs: number, said: string | undefined]>([
  ['10s', 500, undefined],
  ['60', 777, undefined],
  [60, 777, undefined],
  [undefined, 777, undefined],
  [' 10s ', 777, 'A window of 10s is no whole number of cycles of 777 ms. The nearest is used: 10.101 s, 13 cycles.'],
  ['1s', 777, 'A window of 1s is no whole number of cycles of 777 ms. The nearest is used: 0.777 s, 1 cycle.'],
])('the note on a window of %j in cycles of %i ms says if it is not that time', (window, cycleMs, said) => {
  expect(nearestWindow(window, window === undefined ? 60 : parseTime(window, cycleMs), cycleMs)).toBe(said);
});
