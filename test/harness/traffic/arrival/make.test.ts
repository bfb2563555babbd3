// From what a scenario says to counts: units, defaults, refusals, and streams that do not disturb each other.
import { describe, expect, it } from 'vitest';
import { drawsOf } from '../../../../src/core/math/random.js';
import type { Arrival } from '../../../../src/harness/traffic/arrival/arrival.js';
import type { ArrivalSpec } from '../../../../src/harness/traffic/arrival/arrival-schema.js';
import { countsOfModels, requestsOfModels } from '../../../../src/harness/traffic/requests.js';
import { failureOf } from '../../../failures.js';
import { arrivalOf, countsOf, drawn, drawnInstants } from './draw.js';

const context = { draws: drawsOf(7), purpose: 'arrivals/0', cycleMs: 1000, cycles: 12, within: 4 };
const log = { cycles: Float64Array.of(100, 102), counts: Float64Array.of(3, 1), origin: 100 };

it.each<[spec: ArrivalSpec, counts: string]>([
  [{ model: 'constant', rate: '90/min' }, '1 2 1 2 1 2 1 2 1 2 1 2'],
  [{ model: 'constant', rate: '5/cycle', from: '2s', to: 4 }, '0 0 5 5 0 0 0 0 0 0 0 0'],
  [{ model: 'ramp', start_rate: 0, end_rate: 12 }, '0 2 2 4 4 6 6 8 8 10 10 12'],
  [{ model: 'ramp', start_rate: 0, end_rate: 4, from: 2, to: 6 }, '0 0 0 2 2 4 0 0 0 0 0 0'],
  [{ model: 'ramp', start_rate: 0, end_rate: 4, over: '4s', repeat: true }, '0 2 2 4 0 2 2 4 0 2 2 4'],
  [{ model: 'ramp', start_rate: 1, end_rate: 4, from: 50 }, '0 0 0 0 0 0 0 0 0 0 0 0'],
  [{ model: 'burst', burst_rate: 9 }, '9 9 9 9 9 9 9 9 9 9 9 9'],
  [{ model: 'burst', base_rate: 1, burst_rate: 9, at: 3, for: '2s', every: 5 }, '1 1 1 9 9 1 1 1 9 9 1 1'],
  [{ model: 'spikes', requests: 8, at: 1, every: '5s' }, '0 8 0 0 0 0 8 0 0 0 0 8'],
  [{ model: 'sine', rate: 5, amplitude: 5, period: '8s' }, '6 10 9 7 3 1 0 4 6 10 9 7'],
  [{ model: 'edge', requests: 6 }, '0 0 0 6 6 0 0 0 0 0 0 0'],
  [{ model: 'counts', counts: [1, 2, 3], repeat: true, from: 1 }, '0 1 2 3 1 2 3 1 2 3 1 2'],
  [{ model: 'log', file: 'access.log' }, '3 0 1 0 0 0 0 0 0 0 0 0'],
])('%j gives the counts %s', (spec, counts) => {
  expect(drawn(arrivalOf(spec, { ...context, log }), 12)).toBe(counts);
});

it.each<[spec: ArrivalSpec, instants: string]>([
  [{ model: 'constant', rate: 2 }, '25 75 | 25 75'],
  [{ model: 'constant', rate: 2, placement: 'start' }, '0 0 | 0 0'],
  [{ model: 'spikes', requests: 3 }, '0 0 0 | '],
  [{ model: 'spikes', requests: 2, placement: 'even' }, '25 75 | '],
  [{ model: 'edge', requests: 2, within: 1 }, '0 0 | 0 0'],
  [{ model: 'counts', counts: [1, 2] }, '50 | 25 75'],
])('%j places requests at %s', (spec, instants) => {
  expect(drawnInstants(arrivalOf(spec, context), 2)).toBe(instants);
});

const byChance: ArrivalSpec[] = [
  { model: 'poisson', rate: 20 },
  { model: 'ramp', start_rate: 10, end_rate: 30, law: 'poisson' },
  { model: 'burst', base_rate: 10, burst_rate: 30, at: 50, for: 100, law: 'poisson' },
  { model: 'sine', rate: 20, amplitude: 20, period: 100, law: 'poisson' },
  { model: 'onoff', on_rate: 60, off_rate: 0, on_for: 5, off_for: 10 },
  { model: 'pareto', rate: 20, shape: 1.5 },
];

describe.each(byChance)('chance, as in $model with law $law', (spec) => {
  const long = { ...context, cycles: 200 };

  it('the counts follow from seed and purpose alone', () => {
    const again = countsOf(arrivalOf(spec, long), 200);
    expect(countsOf(arrivalOf(spec, long), 200)).toEqual(again);
    expect(countsOf(arrivalOf(spec, { ...long, draws: drawsOf(8) }), 200)).not.toEqual(again);
    expect(countsOf(arrivalOf(spec, { ...long, purpose: 'arrivals/1' }), 200)).not.toEqual(again);
  });

  it('the counts are not moved by another model beside them, nor by asking where requests come', () => {
    const alone = countsOf(arrivalOf(spec, long), 200);
    const others = () => byChance.map((one, i) => arrivalOf(one, { ...long, purpose: `arrivals/${i + 1}` }));
    const models = (arrivals: Arrival[]) => ({ arrivals, popularity: undefined, names: ['all'], cycles: 200 });
    const beside = [...requestsOfModels(models([arrivalOf(spec, long), ...others()]), 0, 1)];
    const counts: number[] = [];
    for (const { cycle, requests } of countsOfModels(models(others()), 0))
      counts.push(beside[cycle]!.contracts.length - requests[0]!);
    expect(counts).toEqual(alone);
  });
});

it('a curve drawn by chance has in each cycle the mean of its exact twin', () => {
  const shapes: ArrivalSpec[] = [
    { model: 'ramp', start_rate: 0, end_rate: 600, over: 4, repeat: true },
    { model: 'burst', base_rate: 100, burst_rate: 900, at: 1, for: 2, every: 4 },
    { model: 'sine', rate: 500, amplitude: 500, period: 4, phase: 0.25 },
  ];
  // An exact count is a whole number less than one from its mean; a mean by chance has an error of its own.
  const runs = 4_000;
  const sumsOf = (spec: ArrivalSpec) => {
    const sums = [0, 0, 0, 0];
    countsOf(arrivalOf(spec, { ...context, cycles: 4 * runs }), 4 * runs).forEach((count, cycle) => {
      sums[cycle % 4]! += count;
    });
    return sums.map((requests) => requests / runs);
  };
  const distances = shapes.map((spec) => {
    const [exact, chance] = [sumsOf(spec), sumsOf({ ...spec, law: 'poisson' } as ArrivalSpec)];
    return exact.every((mean, cycle) => Math.abs(mean - chance[cycle]!) < 1 + 3.3 * Math.sqrt(900 / runs));
  });
  expect(distances).toEqual([true, true, true]);
});

// biome-ignore format: one case a line
it.each<[spec: ArrivalSpec, path: string, message: RegExp]>([
  [{ model: 'constant', rate: '5/mim' }, '/rate', /"5\/mim" is no rate: "mim" is no unit of time/],
  [{ model: 'constant', rate: '1e8/s' }, '/rate', /comes to 100000000 requests in one cycle/],
  [{ model: 'poisson', rate: '20000000/s' }, '/rate', /more than 10000000 are not simulated/],
  [{ model: 'ramp', start_rate: 0, end_rate: '1e8/s' }, '/end_rate', /more than 10000000/],
  [{ model: 'ramp', start_rate: 0, end_rate: 1, over: '0.4s' }, '/over', /0 cycles of 1000 ms, and at least 1 is needed/],
  [{ model: 'burst', burst_rate: 5, for: 10, every: 5 }, '/for', /no longer than every/],
  [{ model: 'burst', burst_rate: 5, every: 5 }, '/for', /must be given/],
  [{ model: 'spikes', requests: 1, every: 0 }, '/every', /at least 1 is needed/],
  [{ model: 'sine', rate: 1, amplitude: 2, period: 10 }, '/amplitude', /not be above the mean rate, 1 per cycle/],
  [{ model: 'sine', rate: 9e6, amplitude: 9e6, period: 10 }, '/amplitude', /comes to 18000000 requests/],
  [{ model: 'onoff', on_rate: 1, on_for: '1ms', off_for: 1 }, '/on_for', /at least 0.01 are needed/],
  [{ model: 'pareto', rate: 1e6, shape: 1.1 }, '/rate', /comes to 11000000 requests in one cycle/],
  [{ model: 'constant', rate: 1, from: 'noon' }, '/from', /is no time/],
  [{ model: 'constant', rate: 1, from: 5, to: '5s' }, '/to', /must lie after from, which is cycle 5/],
  [{ model: 'log', file: 'access.log' }, '/model', /has nothing to play/],
])('%j is refused at its place', (spec, path, message) => {
  const failure = failureOf(() => arrivalOf(spec, { ...context, place: '/arrivals/3' }));
  expect(failure).toMatchObject({
    code: 'invalid_input',
    what: 'The arrival cannot be made.',
    faults: [{ path: `/arrivals/3${path}`, message: expect.stringMatching(message) }],
  });
  expect(failure?.why).toContain(`/arrivals/3${path} `);
  expect(failure?.fix).toBeDefined();
});
