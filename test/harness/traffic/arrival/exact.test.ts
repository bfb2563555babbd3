// Models without chance: their waves, drawn; and their sums against exact arithmetic.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseRate, type Rate } from '../../../../src/core/schema/quantity.js';
import type { ArrivalSpec } from '../../../../src/harness/traffic/arrival/arrival-schema.js';
import { forAll } from '../../../draws.js';
import { arrivalOf, countsOf, drawn, total } from './draw.js';

const said = ({ requests, cycles }: Rate) => `${requests} per ${cycles} cycles`;

/** Any fraction from 0 to 50 with a denominator up to a thousand. */
const anyRate = fc
  .tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 50_000 }))
  .map(([cycles, requests]) => parseRate(`${requests % (50 * cycles)} per ${cycles} cycles`, 777));

const burst = { model: 'burst', base_rate: 1, burst_rate: 9 } as const;
const sine = { model: 'sine', rate: 5, amplitude: 5, period: 8 } as const;

it.each<[spec: ArrivalSpec, counts: string]>([
  [{ model: 'constant', rate: 0 }, '0 0 0 0'],
  [{ model: 'constant', rate: 10_000_000 }, '10000000 10000000'],
  [{ ...burst, for: 2 }, '9 9 1 1 1 1 1 1 1 1'],
  [{ ...burst, at: 3, for: 2 }, '1 1 1 9 9 1 1 1 1 1'],
  [{ ...burst, at: 7 }, '1 1 1 1 1 1 1 9 9 9'],
  [{ ...burst, at: 1, for: 2, every: 4 }, '1 9 9 1 1 9 9 1 1 9'],
  [{ ...burst, at: 2, for: 3, every: 3 }, '1 1 9 9 9 9 9 9 9 9'],
  [{ ...burst, at: 20, for: 3 }, '1 1 1 1 1 1 1 1 1 1'],
  // What is left over from one rate goes into the other. Sixths so far: 2 4 13 22 31 33 | 35 37 46 55 64 66
  [
    { model: 'burst', base_rate: '1 per 3 cycles', burst_rate: 1.5, at: 2, for: 3, every: 6 },
    '0 0 2 1 2 0 0 1 1 2 1 1',
  ],
  [{ model: 'spikes', requests: 5 }, '5 0 0 0 0 0 0 0'],
  [{ model: 'spikes', requests: 5, at: 3 }, '0 0 0 5 0 0 0 0'],
  [{ model: 'spikes', requests: 5, every: 3 }, '5 0 0 5 0 0 5 0'],
  [{ model: 'spikes', requests: 5, at: 2, every: 1 }, '0 0 5 5 5 5 5 5'],
  [{ model: 'edge', requests: 7, within: 3 }, '0 0 7 7 0 0 0 0 0'],
  [{ model: 'edge', requests: 7, within: 3, boundary: 2 }, '0 0 0 0 0 7 7 0 0'],
  [{ model: 'edge', requests: 7, within: 1 }, '7 7 0 0 0 0 0 0 0'],
  [{ model: 'counts', counts: [3, 0, 1] }, '3 0 1 0 0 0 0 0'],
  [{ model: 'counts', counts: [3, 0, 1], repeat: true }, '3 0 1 3 0 1 3 0'],
  [sine, '6 10 9 7 3 1 0 4 6 10 9 7 3 1 0 4'],
  [{ ...sine, phase: 0.25 }, '9 7 3 1 0 3 7 10'],
  [{ ...sine, phase: 0.75 }, '0 3 7 10 9 7 3 1'],
])('%j gives the counts %s', (spec, counts) => {
  const cycles = counts.split(' ').length;
  expect(drawn(arrivalOf(spec, { cycles }), cycles)).toBe(counts);
});

it('a constant model of rate r has given floor(n r) requests after n cycles', () => {
  forAll([anyRate, fc.integer({ min: 1, max: 3000 })], (r, cycles) => {
    const counts = countsOf(arrivalOf({ model: 'constant', rate: said(r) }), cycles);
    return total(counts) === Math.floor((cycles * r.requests) / r.cycles);
  });
});

it('a constant model does not drift however fine its rate is', () => {
  const fine = parseRate('1.00000000000123/s', 777);
  const arrival = arrivalOf({ model: 'constant', rate: '1.00000000000123/s' });
  let requests = 0;
  for (let cycle = 0; cycle < 1_000_000; cycle += 1) requests += arrival.count(cycle);
  expect(requests).toBe(Number((1_000_000n * BigInt(fine.requests)) / BigInt(fine.cycles)));
});

it('a ramp has given the whole part of its integral after every cycle', () => {
  forAll([anyRate, anyRate, fc.integer({ min: 1, max: 200 }), fc.boolean()], (start, end, over, repeat) => {
    const spec = { model: 'ramp', start_rate: said(start), end_rate: said(end), over, repeat } as const;
    const counts = countsOf(arrivalOf(spec), 3 * over);
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
  });
});

it('a ramp of rates too fine for one denominator is less than one request from its integral', () => {
  const [start_rate, end_rate] = ['1.23456789012345/s', '0.98765432109877/s'];
  const arrival = arrivalOf({ model: 'ramp', start_rate, end_rate, over: 1_000_000 });
  const [start, end] = [parseRate(start_rate, 777), parseRate(end_rate, 777)];
  let requests = 0;
  for (let cycle = 0; cycle < 1_000_000; cycle += 1) requests += arrival.count(cycle);
  expect(Math.abs(requests - 500_000 * (start.requests / start.cycles + end.requests / end.cycles))).toBeLessThan(1);
});

const log = {
  cycles: Float64Array.of(2_305_120_007, 2_305_120_009, 2_305_120_010),
  counts: Float64Array.of(4, 1, 2),
};

it.each([
  [2_305_120_005, '0 0 4 0 1 2 0 0'],
  [2_305_120_007, '4 0 1 2 0 0 0 0'],
  [2_305_120_008, '0 1 2 0 0 0 0 0'],
  [2_305_120_010, '2 0 0 0 0 0 0 0'],
  [2_305_120_020, '0 0 0 0 0 0 0 0'],
])('a log from origin %i gives the counts %s', (origin, expected) => {
  expect(drawn(arrivalOf({ model: 'log', file: 'a.log' }, { log: { ...log, origin } }), 8)).toBe(expected);
});

it('an empty log is silent', () => {
  const empty = { cycles: new Float64Array(), counts: new Float64Array(), origin: 0 };
  expect(drawn(arrivalOf({ model: 'log', file: 'a.log' }, { log: empty }), 3)).toBe('0 0 0');
});

it('a sine stays within one request of its integral, and gives whole periods exactly', () => {
  forAll(
    [
      anyRate,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ],
    (mean, share, period, phase) => {
      const m = mean.requests / mean.cycles;
      const amplitude = parseRate((m * share).toFixed(6), 777);
      fc.pre(amplitude.requests / amplitude.cycles <= m);
      const a = amplitude.requests / amplitude.cycles;
      const counts = countsOf(
        arrivalOf({ model: 'sine', rate: said(mean), amplitude: said(amplitude), period, phase }),
        3 * period,
      );
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
  );
});

it('a sine takes no request back where rounding is larger than a rate that leaves 0 as slowly as can be', () => {
  const lowest = Array.from({ length: 300 }, (_, k) => {
    const period = 300_000_000 + 224_999 * k;
    return Math.min(...countsOf(arrivalOf({ model: 'sine', rate: 5, amplitude: 5, period, phase: 0.75 }), 5));
  });
  expect(lowest).toEqual(Array(300).fill(0));
});
