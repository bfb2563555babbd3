// Where in its cycle each request comes; models begun and ended; models added up.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Arrival } from '../../../../src/harness/traffic/arrival/arrival.js';
import { between } from '../../../../src/harness/traffic/arrival/make.js';
import type { PlacementName } from '../../../../src/harness/traffic/arrival/placement.js';
import { countsOfModels, requestsOfModels } from '../../../../src/harness/traffic/requests.js';
import { forAll } from '../../../draws.js';
import { arrivalOf, drawn, drawnInstants, instantsOf } from './draw.js';

const counts = (list: readonly number[], placement: PlacementName = 'even'): Arrival =>
  arrivalOf({ model: 'counts', counts: [...list], placement });

it.each<[PlacementName, instants: string]>([
  ['even', '50 | 25 75 |  | 10 30 50 70 90'],
  ['start', '0 | 0 0 |  | 0 0 0 0 0'],
])('%s places 1, 2, 0 and 5 requests at %s', (placement, instants) => {
  expect(drawnInstants(counts([1, 2, 0, 5], placement), 4)).toBe(instants);
});

it('random places requests in order, all over the cycle', () => {
  const arrival = counts([1000], 'random');
  const instants = instantsOf(arrival, arrival.count(0));
  const mean = instants.reduce((total, at) => total + at, 0) / 1000;
  expect({
    inOrder: instants.every((at, k) => k === 0 || at >= instants[k - 1]!),
    inCycle: instants.every((at) => at >= 0 && at < 1),
    // Three standard errors of the mean of 1000 uniform numbers: 3 / sqrt(12,000).
    centred: Math.abs(mean - 0.5) < 0.0274,
  }).toEqual({ inOrder: true, inCycle: true, centred: true });
});

it('an arrival writes only as many instants as it has, at the start of what it is given', () => {
  const rest = (['even', 'start', 'random'] as const).map((placement) => {
    const out = new Float64Array(5).fill(-1);
    const arrival = counts([3], placement);
    arrival.instants(out, arrival.count(0));
    return [...out].map((at) => (at < 0 ? 'free' : 'taken')).join(' ');
  });
  expect(rest).toEqual(Array(3).fill('taken taken taken free free'));
});

it.each([
  [0, Infinity, '1 2 3 4 0 0 0 0'],
  [0, 2, '1 2 0 0 0 0 0 0'],
  [2, Infinity, '0 0 1 2 3 4 0 0'],
  [2, 5, '0 0 1 2 3 0 0 0'],
  [7, 8, '0 0 0 0 0 0 0 1'],
  [9, 10, '0 0 0 0 0 0 0 0'],
])('between %d and %d a model lives, by its own time, and is silent else', (from, to, expected) => {
  expect(drawn(between(counts([1, 2, 3, 4]), from, to), 8)).toBe(expected);
});

it('a model between two cycles places requests as it would alone, and none in silence', () => {
  expect(drawnInstants(between(counts([1, 2, 3, 4]), 1, 3), 4)).toBe(' | 50 | 25 75 | ');
});

it.each([
  [3, 3],
  [3, 2],
])('a stretch from %i to %i is refused: no cycle lies between', (from, to) => {
  expect(() => between(counts([1]), from, to)).toThrow('to must lie after from, which is cycle 3.');
});

const together = (arrivals: readonly Arrival[], cycles: number) => {
  return { arrivals, popularity: undefined, names: ['all'], cycles };
};

it('no models are silent', () => {
  expect([...countsOfModels(together([], 3), 0)].map(({ requests }) => requests[0])).toEqual([0, 0, 0]);
});

it('models beside each other add their counts and merge their instants in order', () => {
  const three = () => [counts([2, 0, 1, 0]), counts([1, 0, 0, 3], 'start'), between(counts([3, 1]), 2, 4)];
  const seen: number[] = [];
  for (const { requests } of countsOfModels(together(three(), 6), 0)) seen.push(requests[0]!);
  expect(seen).toEqual([3, 0, 4, 4, 0, 0]);
  const instants = [...requestsOfModels(together(three(), 6), 0, 100)].map(({ cycle, instants }) =>
    [...instants!].map((ms) => Math.round(ms - 100 * cycle)).join(' '),
  );
  expect(instants.join(' | ')).toBe('0 25 75 |  | 17 50 50 83 | 0 0 0 50 |  | ');
});

it('models beside each other have in every cycle the requests of each, whatever they are', () => {
  const lists = fc.array(fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }), { maxLength: 4 });
  forAll([lists], (parts) => {
    const models = parts.map((list) => counts(list));
    const merged = [...requestsOfModels(together(models, 5), 0, 1)].map(({ instants }) => [...instants!]);
    const expected = Array.from({ length: 5 }, (_, cycle) =>
      parts.flatMap((list) => Array.from({ length: list[cycle]! }, (_, k) => cycle + (k + 0.5) / list[cycle]!)),
    );
    expect(merged).toEqual(expected.map((instants) => instants.sort((a, b) => a - b)));
  });
});
