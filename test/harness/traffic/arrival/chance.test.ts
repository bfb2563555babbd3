// Models of chance, with fixed seeds, against the moments of their laws: within 3.3 standard errors of the closed form.
import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../../../src/harness/traffic/arrival/arrival.js';
import { arrivalOf, countsOf, drawn, instantsOf } from './draw.js';

const steady = (rate: number) => arrivalOf({ model: 'poisson', rate });
const around = (rate: number) => arrivalOf({ model: 'ramp', start_rate: rate, end_rate: rate, law: 'poisson' });

describe.each([0.05, 1, 7.3, 60, 199, 201, 5_000])('Poisson of mean %d', (mean) => {
  const cycles = 20_000;
  it.each<[name: string, arrival: Arrival]>([
    ['of a steady rate', steady(mean)],
    ['around a curve', around(mean)],
  ])('a Poisson model %s has its mean, a variance as large, and no memory', (_, arrival) => {
    const counts = countsOf(arrival, cycles);
    const { mean: seen, variance } = momentsOf(counts);
    const next = counts.slice(1).map((count, cycle) => (count - mean) * (counts[cycle]! - mean));
    // The fourth central moment of the law is 3 m^2 + m, so its sample variance has the variance (2 m^2 + m) / n.
    expect({
      mean: errors(seen, mean, Math.sqrt(mean / cycles)),
      variance: errors(variance, mean, Math.sqrt((2 * mean * mean + mean) / cycles)),
      memory: errors(momentsOf(next).mean, 0, mean / Math.sqrt(cycles)),
    }).toEqual({ mean: 'held', variance: 'held', memory: 'held' });
  });
});

it('Poisson requests placed at random have exponential gaps, across cycles too', () => {
  const arrival = steady(2.5);
  const gaps = gapsOf(arrival, 20_000);
  const longer = gaps.filter((gap) => gap > 1 / 2.5).length / gaps.length;
  const share = Math.exp(-1);
  expect({
    mean: errors(momentsOf(gaps).mean, 1 / 2.5, 1 / 2.5 / Math.sqrt(gaps.length)),
    longer: errors(longer, share, Math.sqrt((share * (1 - share)) / gaps.length)),
  }).toEqual({ mean: 'held', longer: 'held' });
});

it.each([0, 1e-9])('Poisson of mean %d is silent', (mean) => {
  const arrivals = [steady(mean), around(mean)];
  expect(arrivals.map((arrival) => drawn(arrival, 5))).toEqual(['0 0 0 0 0', '0 0 0 0 0']);
});

const onoff = (on_rate: number, off_rate: number, on_for: number, off_for: number, purpose = 'onoff') =>
  arrivalOf({ model: 'onoff', on_rate, off_rate, on_for, off_for }, { purpose });

// Counts of a span t have the mean m t and the variance m t + 2 d^2 (ab / s^2) (t / s - (1 - e^(-s t)) / s^2), with
// d = on - off, a = 1 / T_on, b = 1 / T_off, s = a + b (Fischer and Meier-Hellstern, The MMPP cookbook, 1993).
const momentsOfLaw = (on: number, off: number, onFor: number, offFor: number, t: number) => {
  const [a, b] = [1 / onFor, 1 / offFor];
  const s = a + b;
  const mean = t * ((on * onFor + off * offFor) / (onFor + offFor));
  const bursts = 2 * (on - off) ** 2 * ((a * b) / s ** 2) * (t / s - (1 - Math.exp(-s * t)) / s ** 2);
  return { mean, variance: mean + bursts };
};

it.each([
  [20, 0, 10, 30],
  [20, 2, 3, 1],
  [8, 1, 0.3, 0.2],
  [40, 0, 0.05, 0.4],
  [0, 5, 1, 2],
  [3, 3, 1, 1],
])(
  'cycles and halves of on-off have the moments of its law: %d and %d for %d and %d cycles',
  (on, off, onFor, offFor) => {
    const cycles = 30_000;
    const arrival = onoff(on, off, onFor, offFor);
    const wholes: number[] = [];
    const halves: number[] = [];
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const count = arrival.count(cycle);
      const early = instantsOf(arrival, count).filter((at) => at < 0.5).length;
      wholes.push(count);
      halves.push(early);
    }
    expect([...heldBy(wholes, momentsOfLaw(on, off, onFor, offFor, 1))]).toEqual(['held', 'held']);
    expect([...heldBy(halves, momentsOfLaw(on, off, onFor, offFor, 0.5))]).toEqual(['held', 'held']);
  },
);

it('an on-off model is on at the start as often as ever after', () => {
  const first = Array.from({ length: 2_000 }, (_, run) => onoff(10, 0, 100, 300, `run ${run}`).count(0));
  expect(heldBy(first, { mean: 2.5, variance: momentsOfLaw(10, 0, 100, 300, 1).variance })).toEqual(['held', 'held']);
});

it('an on-off model brings the same bursts whatever the rates are', () => {
  const silent = (on: number) => countsOf(onoff(on, 0, 5, 5), 200).map((count) => count === 0);
  // At 200 a cycle and at 400, a silent cycle is one that was off throughout.
  expect(silent(400)).toEqual(silent(200));
});

it('an on-off model places requests in order, in the cycle', () => {
  const arrival = onoff(50, 1, 0.1, 0.1);
  const disorder = Array.from({ length: 500 }, (_, cycle) => instantsOf(arrival, arrival.count(cycle))).filter(
    (instants) => instants.some((at, k) => !(at >= 0 && at < 1 && (k === 0 || at >= instants[k - 1]!))),
  );
  expect(disorder).toEqual([]);
});

const pareto = (rate: number, shape: number) => arrivalOf({ model: 'pareto', rate, shape });

it.each([
  [2, 3],
  [0.1, 5],
  [50, 2.5],
])('Pareto of rate %d and shape %d has the mean gap, least gap and tail of the law', (r, shape) => {
  const gaps = gapsOf(pareto(r, shape), Math.ceil(40_000 / r));
  const least = (shape - 1) / (shape * r);
  const deviation = Math.sqrt((least ** 2 * shape) / ((shape - 1) ** 2 * (shape - 2)));
  const tail = 2 ** -shape;
  const longer = gaps.filter((gap) => gap > 2 * least).length / gaps.length;
  expect({
    mean: errors(momentsOf(gaps).mean, 1 / r, deviation / Math.sqrt(gaps.length)),
    longer: errors(longer, tail, Math.sqrt((tail * (1 - tail)) / gaps.length)),
    least: Math.min(...gaps.slice(0, 10_000)) > least * (1 - 1e-9),
  }).toEqual({ mean: 'held', longer: 'held', least: true });
});

it('Pareto with a tail of no variance has crowds and long silences', () => {
  const counts = countsOf(pareto(1, 1.2), 20_000);
  const quiet = longestRun(counts, (count) => count === 0);
  expect({ crowded: Math.max(...counts) >= 5, silent: quiet > 100 }).toEqual({ crowded: true, silent: true });
});

it('Pareto of rate 0 is silent', () => {
  expect(drawn(pareto(0, 2), 4)).toBe('0 0 0 0');
});

/** Said of a figure: whether it lies within 3.3 standard errors of what is expected. */
function errors(seen: number, expected: number, standardError: number): string {
  const off = Math.abs(seen - expected) / standardError;
  return off <= 3.3 ? 'held' : `${seen} is ${off.toFixed(1)} standard errors from ${expected}`;
}

/** Mean and variance of correlated counts: standard errors from a hundred batches. */
function heldBy(counts: readonly number[], law: { mean: number; variance: number }): string[] {
  const batches = 100;
  const length = counts.length / batches;
  const means = Array.from({ length: batches }, (_, b) => momentsOf(counts.slice(b * length, (b + 1) * length)).mean);
  const squares = counts.map((count) => (count - law.mean) ** 2);
  const spreads = Array.from(
    { length: batches },
    (_, b) => momentsOf(squares.slice(b * length, (b + 1) * length)).mean,
  );
  return [
    errors(momentsOf(means).mean, law.mean, Math.sqrt(momentsOf(means).variance / batches)),
    errors(momentsOf(spreads).mean, law.variance, Math.sqrt(momentsOf(spreads).variance / batches)),
  ];
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, variance };
}

function gapsOf(arrival: Arrival, cycles: number): number[] {
  const gaps: number[] = [];
  let last = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    for (const at of instantsOf(arrival, arrival.count(cycle))) {
      gaps.push(cycle + at - last);
      last = cycle + at;
    }
  }
  return gaps;
}

function longestRun(counts: readonly number[], holds: (count: number) => boolean): number {
  let longest = 0;
  let run = 0;
  for (const count of counts) {
    run = holds(count) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
