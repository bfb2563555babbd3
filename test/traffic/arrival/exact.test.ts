// Models without chance: their waves, drawn; and their sums against exact arithmetic.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRate, type Rate } from '../../../src/schema/quantity.js';
import { BurstArrival, type BurstShape } from '../../../src/traffic/arrival/burst.js';
import { ConstantArrival } from '../../../src/traffic/arrival/constant.js';
import { EdgeArrival } from '../../../src/traffic/arrival/edge.js';
import type { Placement } from '../../../src/traffic/arrival/placement.js';
import { RampArrival } from '../../../src/traffic/arrival/ramp.js';
import { CountsArrival, RecordedArrival } from '../../../src/traffic/arrival/recorded.js';
import { SineArrival } from '../../../src/traffic/arrival/sine.js';
import { SpikesArrival } from '../../../src/traffic/arrival/spikes.js';
import { countsOf, drawn, total } from './draw.js';

const nowhere: Placement = { place: () => undefined };
const rate = (value: number | string): Rate => parseRate(value, 777);

/** Any fraction from 0 to 50 with a denominator up to a thousand. */
const anyRate = fc
  .tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 50_000 }))
  .map(([cycles, requests]) => parseRate(`${requests % (50 * cycles)} per ${cycles} cycles`, 777));

describe('constant', () => {
  it.each([
    [0, 4, '0 0 0 0'],
    [3, 4, '3 3 3 3'],
    [0.5, 6, '0 1 0 1 0 1'],
    [2.5, 6, '2 3 2 3 2 3'],
    ['10 per 7 cycles', 14, '1 1 2 1 2 1 2 1 1 2 1 2 1 2'],
    ['1 per 3 cycles', 9, '0 0 1 0 0 1 0 0 1'],
    ['2.5/s', 8, '1 2 2 2 2 2 2 2'],
    [10_000_000, 2, '10000000 10000000'],
  ])('%s over %i cycles: %s', (value, cycles, counts) => {
    expect(drawn(new ConstantArrival(rate(value), nowhere), cycles)).toBe(counts);
  });

  it('has given floor(n r) after n cycles, so that any span differs from r times its length by less than one', () => {
    fc.assert(
      fc.property(anyRate, fc.integer({ min: 1, max: 3000 }), (r, cycles) => {
        const counts = countsOf(new ConstantArrival(r, nowhere), cycles);
        return total(counts) === Math.floor((cycles * r.requests) / r.cycles);
      }),
    );
  });

  it('does not drift however fine its rate is', () => {
    const fine = rate('1.00000000000123/s');
    const arrival = new ConstantArrival(fine, nowhere);
    let requests = 0;
    for (let cycle = 0; cycle < 1_000_000; cycle += 1) requests += arrival.count();
    expect(requests).toBe(Number((1_000_000n * BigInt(fine.requests)) / BigInt(fine.cycles)));
  });
});

describe('ramp', () => {
  it.each([
    [0, 10, 10, false, 14, '0 2 2 4 4 6 6 8 8 10 10 10 10 10'],
    [10, 0, 10, false, 12, '9 9 7 7 5 5 3 3 1 1 0 0'],
    [0, 4, 4, true, 12, '0 2 2 4 0 2 2 4 0 2 2 4'],
    [5, 5, 3, false, 6, '5 5 5 5 5 5'],
    [0, 1, 1, false, 4, '0 1 1 1'],
    [0, 0.5, 8, false, 12, '0 0 0 0 0 1 0 1 0 1 0 1'],
  ])('from %d to %d over %i cycles, repeated %s', (start, end, over, repeat, cycles, counts) => {
    const shape = { start: rate(start), end: rate(end), over, repeat };
    expect(drawn(new RampArrival(shape, nowhere), cycles)).toBe(counts);
  });

  it('has given the whole part of its integral after every cycle', () => {
    fc.assert(
      fc.property(anyRate, anyRate, fc.integer({ min: 1, max: 200 }), fc.boolean(), (start, end, over, repeat) => {
        const counts = countsOf(new RampArrival({ start, end, over, repeat }, nowhere), 3 * over);
        const [a, b] = [start, end].map(({ requests, cycles }) => [BigInt(requests), BigInt(cycles)] as const);
        const T = BigInt(over);
        // 2 T qa qb times the integral, from the antiderivative a t + (b - a) t^2 / 2T.
        const under = 2n * T * a![1] * b![1];
        const within = (t: bigint) => 2n * T * t * a![0] * b![1] + (b![0] * a![1] - a![0] * b![1]) * t * t;
        const integral = (t: bigint) => {
          if (repeat) return (t / T) * within(T) + within(t % T);
          return t <= T ? within(t) : within(T) + 2n * T * (t - T) * b![0] * a![1];
        };
        const expected = counts.map((_, c) => Number(integral(BigInt(c) + 1n) / under - integral(BigInt(c)) / under));
        expect(counts).toEqual(expected);
      }),
    );
  });

  it('of rates too fine for one denominator differs from its integral by less than one request', () => {
    const [start, end] = [rate('1.23456789012345/s'), rate('0.98765432109877/s')];
    const arrival = new RampArrival({ start, end, over: 1_000_000, repeat: false }, nowhere);
    let requests = 0;
    for (let cycle = 0; cycle < 1_000_000; cycle += 1) requests += arrival.count(cycle);
    expect(Math.abs(requests - 500_000 * (start.requests / start.cycles + end.requests / end.cycles))).toBeLessThan(1);
  });
});

describe('burst', () => {
  it.each<[shape: Omit<BurstShape, 'base' | 'burst'>, counts: string]>([
    [{ at: 0, lasts: 2 }, '9 9 1 1 1 1 1 1 1 1'],
    [{ at: 3, lasts: 2 }, '1 1 1 9 9 1 1 1 1 1'],
    [{ at: 7 }, '1 1 1 1 1 1 1 9 9 9'],
    [{ at: 1, lasts: 2, every: 4 }, '1 9 9 1 1 9 9 1 1 9'],
    [{ at: 2, lasts: 3, every: 3 }, '1 1 9 9 9 9 9 9 9 9'],
    [{ at: 20, lasts: 3 }, '1 1 1 1 1 1 1 1 1 1'],
  ])('%j: %s', (shape, counts) => {
    expect(drawn(new BurstArrival({ base: rate(1), burst: rate(9), ...shape }, nowhere), 10)).toBe(counts);
  });

  it('carries what is left over from one rate into the other', () => {
    const shape = { base: rate('1 per 3 cycles'), burst: rate(1.5), at: 2, lasts: 3, every: 6 };
    // Sixths so far: 2 4 13 22 31 33 | 35 37 46 55 64 66
    expect(drawn(new BurstArrival(shape, nowhere), 12)).toBe('0 0 2 1 2 0 0 1 1 2 1 1');
  });

  it.each<[shape: Omit<BurstShape, 'base' | 'burst'>]>([[{ at: 0, lasts: 5, every: 4 }], [{ at: 0, every: 4 }]])(
    '%j is refused: bursts would overlap',
    (shape) => {
      expect(() => new BurstArrival({ base: rate(1), burst: rate(9), ...shape }, nowhere)).toThrow(
        /no longer than every/,
      );
    },
  );
});

it.each([
  [{ requests: 5, at: 0 }, '5 0 0 0 0 0 0 0'],
  [{ requests: 5, at: 3 }, '0 0 0 5 0 0 0 0'],
  [{ requests: 5, at: 0, every: 3 }, '5 0 0 5 0 0 5 0'],
  [{ requests: 5, at: 2, every: 1 }, '0 0 5 5 5 5 5 5'],
])('spikes %j: %s', (shape, counts) => {
  expect(drawn(new SpikesArrival(shape, nowhere), 8)).toBe(counts);
});

it.each([
  [{ requests: 7, within: 3, boundary: 1 }, '0 0 7 7 0 0 0 0 0'],
  [{ requests: 7, within: 3, boundary: 2 }, '0 0 0 0 0 7 7 0 0'],
  [{ requests: 7, within: 1, boundary: 1 }, '7 7 0 0 0 0 0 0 0'],
])('edge burst %j: %s', (shape, counts) => {
  expect(drawn(new EdgeArrival(shape, nowhere), 9)).toBe(counts);
});

it.each([
  [[3, 0, 1], false, '3 0 1 0 0 0 0 0'],
  [[3, 0, 1], true, '3 0 1 3 0 1 3 0'],
])('counts %j, repeated %s: %s', (list, repeat, counts) => {
  expect(drawn(new CountsArrival(list, repeat, nowhere), 8)).toBe(counts);
});

describe('recorded', () => {
  const cycles = Float64Array.of(2_305_120_007, 2_305_120_009, 2_305_120_010);
  const counts = Float64Array.of(4, 1, 2);

  it.each([
    [2_305_120_005, '0 0 4 0 1 2 0 0'],
    [2_305_120_007, '4 0 1 2 0 0 0 0'],
    [2_305_120_008, '0 1 2 0 0 0 0 0'],
    [2_305_120_010, '2 0 0 0 0 0 0 0'],
    [2_305_120_020, '0 0 0 0 0 0 0 0'],
  ])('from origin %i: %s', (origin, expected) => {
    expect(drawn(new RecordedArrival({ cycles, counts, origin }, nowhere), 8)).toBe(expected);
  });

  it('of an empty log is silent', () => {
    const empty = { cycles: new Float64Array(), counts: new Float64Array(), origin: 0 };
    expect(drawn(new RecordedArrival(empty, nowhere), 3)).toBe('0 0 0');
  });
});

describe('sine', () => {
  it.each([
    [5, 5, 8, 0, 16, '6 10 9 7 3 1 0 4 6 10 9 7 3 1 0 4'],
    [5, 5, 8, 0.25, 8, '9 7 3 1 0 3 7 10'],
    [5, 5, 8, 0.75, 8, '0 3 7 10 9 7 3 1'],
    [5, 0, 8, 0, 8, '5 5 5 5 5 5 5 5'],
    [5, 5, 1, 0.3, 4, '5 5 5 5'],
  ])('mean %d, amplitude %d, period %i, phase %d', (mean, amplitude, period, phase, cycles, counts) => {
    const shape = { mean: rate(mean), amplitude: rate(amplitude), period, phase };
    expect(drawn(new SineArrival(shape, nowhere), cycles)).toBe(counts);
  });

  it('stays within one request of its integral, and gives whole periods exactly', () => {
    fc.assert(
      fc.property(
        anyRate,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (mean, share, period, phase) => {
          const m = mean.requests / mean.cycles;
          const amplitude = parseRate((m * share).toFixed(6), 777);
          fc.pre(amplitude.requests / amplitude.cycles <= m);
          const a = amplitude.requests / amplitude.cycles;
          const counts = countsOf(new SineArrival({ mean, amplitude, period, phase }, nowhere), 3 * period);
          const turns = (x: number) => Math.cos(2 * Math.PI * x);
          let sum = 0;
          let furthest = 0;
          const periods: number[] = [];
          counts.forEach((count, cycle) => {
            sum += count;
            const t = cycle + 1;
            const integral = m * t + ((a * period) / (2 * Math.PI)) * (turns(phase) - turns(t / period + phase));
            furthest = Math.max(furthest, Math.abs(sum - integral));
            if (t % period === 0) periods.push(sum);
          });
          expect(furthest).toBeLessThan(1 + 1e-6);
          expect(periods).toEqual([1, 2, 3].map((n) => Math.floor((n * period * mean.requests) / mean.cycles)));
          expect(Math.min(...counts)).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  it('takes no request back where rounding is larger than a rate that leaves 0 as slowly as can be', () => {
    const lowest = Array.from({ length: 300 }, (_, k) => {
      const shape = { mean: rate(5), amplitude: rate(5), period: 300_000_000 + 224_999 * k, phase: 0.75 };
      return Math.min(...countsOf(new SineArrival(shape, nowhere), 5));
    });
    expect(lowest).toEqual(Array(300).fill(0));
  });

  it('refuses an amplitude above its mean', () => {
    const shape = { mean: rate(1), amplitude: rate(1.1), period: 10, phase: 0 };
    expect(() => new SineArrival(shape, nowhere)).toThrow(/must not be above the mean rate/);
  });
});
