import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cycleMsFor,
  MOST_WITHIN,
  nearestWindow,
  parseMeanTime,
  parseMs,
  parseRate,
  parseTime,
  parseTimeMs,
} from '../../../src/core/schema/quantity.js';
import { failureOf } from '../../failures.js';
import { tablesBeside } from '../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

describe('a rate', () => {
  it.each<[value: number | string, cycleMs: number, requests: number, cycles: number]>(tables.rates)(
    '%j at %i ms is exactly %i requests in %i cycles',
    (value, cycleMs, requests, cycles) => {
      expect(parseRate(value, cycleMs)).toEqual({ requests, cycles });
    },
  );

  it('whose fraction is too fine for doubles is the nearest that is not', () => {
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

  it('is within 2^-52, of a request or of itself, of what the text says, in lowest terms, both parts exact', () => {
    const digits = fc.tuple(fc.bigInt(0n, 10n ** 7n), fc.bigInt(0n, 10n ** 20n - 1n));
    fc.assert(
      fc.property(digits, fc.integer({ min: 1, max: 100_000 }), ([whole, part], cycleMs) => {
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
      }),
    );
  });

  it.each<[value: number | string, why: string]>([
    ...tables.refused_rates,
    [`1${'0'.repeat(64)}`, 'it is longer than 64 characters'],
  ])('%j is refused: %s', (value, why) => {
    expect(failureOf(() => parseRate(value, 777, '/arrivals/0/rate'))).toMatchObject({
      code: 'invalid_input',
      fix: expect.stringContaining('130/s'),
      faults: [{ path: '/arrivals/0/rate', message: expect.stringContaining(`is no rate: ${why}`) }],
    });
  });
});

describe('a time', () => {
  it.each<[value: number | string, cycleMs: number, cycles: number]>(tables.times)(
    '%j at %i ms is %i cycles',
    (value, cycleMs, cycles) => {
      expect(parseTime(value, cycleMs)).toBe(cycles);
    },
  );

  it('that is a mean keeps its fraction, and one in ms needs no whole cycles', () => {
    expect([
      parseMeanTime('388.5ms', 777),
      parseMeanTime(0.3, 777),
      parseTimeMs('60s', 777),
      parseTimeMs(60, 777),
      parseTimeMs('1.5ms', 777),
    ]).toEqual([0.5, 0.3, 60_000, 46_620, 1.5]);
  });

  it.each<[value: number | string, least: number, why: string]>(tables.refused_times)(
    '%j is refused where at least %i is needed: %s',
    (value, least, why) => {
      expect(failureOf(() => parseTime(value, 777, '/to', least))).toMatchObject({
        code: 'invalid_input',
        fix: expect.stringContaining('90s'),
        faults: [{ path: '/to', message: expect.stringContaining(`is no time: ${why}`) }],
      });
    },
  );
});

it('a time of a rule may be as long as ten thousand years, whatever its unit', () => {
  expect([parseMs('30d', 1), parseMs('1.5', 1000), parseMs('0.5ms', 1000)]).toEqual([2_592_000_000, 1_500, 0.5]);
  expect(failureOf(() => parseMs('1e7 d', 1))?.why).toBe('It is longer than 10000 years.');
});

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

describe('the cycle for windows', () => {
  it.each<[windows: (number | string | undefined)[], cycleMs: number]>([...tables.cycle_lengths, [[undefined], 777]])(
    '%j is %i ms',
    (windows, cycleMs) => {
      expect(cycleMsFor(windows, 777)).toBe(cycleMs);
    },
  );

  it('is 500 ms where all are multiples of it, else the longest up to 777 ms of which all are whole', () => {
    const window = fc.integer({ min: 1, max: 90_000 });
    fc.assert(
      fc.property(fc.array(window, { minLength: 1, maxLength: 3 }), (windows) => {
        const all = [500, ...Array.from({ length: 777 }, (_, ms) => 777 - ms)];
        const longest = all.find((cycleMs) => windows.every((ms) => ms % cycleMs === 0))!;
        const fits = windows.every((ms) => ms / longest <= MOST_WITHIN);
        return (
          cycleMsFor(
            windows.map((ms) => `${ms}ms`),
            777,
          ) === (fits ? longest : 777)
        );
      }),
    );
  });

  it.each<[window: number | string | undefined, cycleMs: number, said: string | undefined]>([
    ['10s', 500, undefined],
    ['60', 777, undefined],
    [60, 777, undefined],
    [undefined, 777, undefined],
    [' 10s ', 777, 'A window of 10s is no whole number of cycles of 777 ms. The nearest is used: 10.101 s, 13 cycles.'],
    ['1s', 777, 'A window of 1s is no whole number of cycles of 777 ms. The nearest is used: 0.777 s, 1 cycle.'],
  ])('of %j at %i ms it is said if it is not that time', (window, cycleMs, said) => {
    expect(nearestWindow(window, window === undefined ? 60 : parseTime(window, cycleMs), cycleMs)).toBe(said);
  });
});
