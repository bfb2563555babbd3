import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/harness/outcome/outcome-schema.js';
import type { Series } from '../../../src/harness/outcome/series.js';
import { Timeline } from '../../../src/harness/outcome/timeline.js';
import { parseScenario, type ScenarioObject } from '../../../src/harness/scenario/load-scenario.js';
import { figureIntervals, summarise, withReplications } from '../../../src/harness/simulate/replicate.js';
import {
  bandOf,
  drainMs,
  type FigureList,
  replicationSeed,
  stretchPeaks,
} from '../../../src/harness/simulate/replication.js';
import { forAll } from '../../draws.js';

it('seeds of replications differ, and the first is that of the scenario', () => {
  expect([0, 1, 2].map((index) => replicationSeed(7, index))).toEqual([7, '7/1', '7/2']);
});

it.each([
  [20, 20, undefined, true],
  [20, 19, undefined, false],
  [20, 19, 0.95, true],
  [20, 18, 0.95, false],
  // 0.55 * 20 is more than 11 in binary.
  [20, 11, 0.55, true],
  [100, 7, 0.07, true],
  [100, 6, 0.07, false],
])('an expectation of %i runs, of which %i held, with share %s, holds: %s', (n, held, share, isEnough) => {
  const expectation = { name: 'x', expected: 'limited == 0', actual: 0, held: true, ...(share && { share }) };
  const outcome = { expectations: [expectation], digest: '' } as unknown as Outcome;
  const replications = { n, held, held_share: { low: 0, high: 1 }, failed_seeds: [], figures: {} };
  const found = withReplications(outcome, { replications, heldIn: [held] }, n);
  expect([found.expectations[0]!.held, found.verdict]).toEqual([isEnough, isEnough ? 'held' : 'not held']);
});

it.each([
  ['before the second run ended', undefined],
  ['after 30 of 60', 30],
])('replications that were stopped %s are partial, and nothing is said to hold', (_, n) => {
  const expectation = { name: 'x', expected: 'limited == 0', actual: 0, held: true };
  const outcome = { expectations: [expectation], digest: '' } as unknown as Outcome;
  const found = n !== undefined && {
    replications: { n, held: n, held_share: { low: 0, high: 1 }, failed_seeds: [], figures: {} },
  };
  const judged = withReplications(outcome, found === false ? undefined : { ...found, heldIn: [n!] }, 60);
  expect([judged.partial, judged.verdict]).toEqual([true, 'invalid']);
});

const run = (seed: number, figures: FigureList, contracts = 1) => ({
  ...{ seed, held: [true], contracts, span: { first: 0, last: 359 } },
  figures: { requests: 900 + seed, 'clients.attempts': 90_000, ...figures },
});
const of = (name: string, values: readonly number[], contracts = 1) =>
  figureIntervals(values.map((value, seed) => run(seed, { [name]: value }, contracts)))[name]!;

it('an interval has no width where all runs are alike: nothing is left to chance', () => {
  const alike = figureIntervals([1, 2, 3].map(() => run(1, { limited: 0, limiting_cycles: 5 })));
  expect(Object.values(alike).every(({ low, mean, high }) => low === mean && mean === high)).toBe(true);
});

it('the interval of a count that is 0 in every run does not grow with the requests of a run', () => {
  expect(of('limited', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).high.toFixed(2)).toBe('0.85');
  expect(of('clients.dropped', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).high.toFixed(2)).toBe('0.85');
});

it.each<[name: string, values: number[], contracts: number, most: number]>([
  ['contracts_limited', [0, 1, 1, 0, 1], 1, 1],
  ['contracts_limited', [1, 1, 1, 0, 1], 1, 1],
  ['contracts_limited', [0, 0, 0], 4, 4],
  ['limiting_cycles', [0, 0, 0], 1, 360],
  ['limiting_cycles', [0, 340, 360], 1, 360],
  ['entries', [0, 0, 1], 1, 360],
  ['service.utilisation', [0.99, 0.9, 1], 1, 1],
  ['latency_ms', [0.1, 3, 0.2], 1, Number.POSITIVE_INFINITY],
  ['peak_count', [1, 9, 2], 1, 902],
])('%s of %j in %i contracts lies from 0 to %d', (name, values, contracts, most) => {
  const { low, mean, high } = of(name, values, contracts);
  expect([low >= 0, low <= mean, mean <= high, high <= most]).toEqual([true, true, true, true]);
});

it('a summary of replications covers only figures that every run has', () => {
  const run = (seed: number, figures: FigureList) => ({
    seed,
    held: [true],
    figures: { requests: 9, ...figures },
    contracts: 1,
    span: { first: 0, last: 9 },
  });
  const { n, figures } = summarise([
    run(1, { limited: 1, 'service.utilisation': 0.5, recovery_cycles: 3, 'clients.mean': Number.NaN }),
    run(2, { limited: 3, 'service.utilisation': 0.7, 'clients.mean': 1, later: 4 }),
  ]);
  expect([n, Object.keys(figures)]).toEqual([2, ['requests', 'limited', 'service.utilisation']]);
  expect(figures['limited']).toMatchObject({ mean: 2, min: 1, max: 3 });
});

/** A timeline from the count of each cycle: as a run writes it, with a row where the count changes. */
function timelineOf(counts: readonly number[], first: number): Timeline {
  const timeline = new Timeline(['all']);
  counts.forEach((count, index) => {
    if (count !== (counts[index - 1] ?? 0)) timeline.add(first + index, 0, 0, 0, count, 'allowing');
  });
  return timeline;
}

it('the peaks of a run of up to 400 cycles are the counts themselves', () => {
  const counts = [0, 2, 2, 5, 0, 0, 1];
  expect(stretchPeaks(timelineOf(counts, 10), { first: 10, last: 16 })).toEqual(counts);
});

it('the peaks of a run of more than 400 cycles are the largest count of each stretch', () => {
  const spans = fc.integer({ min: 401, max: 2_000 });
  forAll(
    [spans, fc.integer({ min: 0, max: 1e9 }), fc.infiniteStream(fc.integer({ min: 0, max: 4 }))],
    (cycles, first, draws) => {
      const counts = [...draws.take(cycles)].map((draw) => (draw > 2 ? 0 : draw));
      const stretch = Math.ceil(cycles / 400);
      const naive = Array.from({ length: Math.ceil(cycles / stretch) }, (_, index) =>
        Math.max(...counts.slice(index * stretch, (index + 1) * stretch)),
      );
      expect(stretchPeaks(timelineOf(counts, first), { first, last: first + cycles - 1 })).toEqual(naive);
    },
  );
});

it('the band holds nine of ten runs, whatever their order', () => {
  const runs = Array.from({ length: 20 }, (_, run) => [run, 100 - run, 7]);
  const expected = {
    runs: 20,
    stretch_cycles: 1,
    cycle: [5, 6, 7],
    low: [0, 81, 7],
    middle: [9, 90, 7],
    high: [18, 99, 7],
  };
  expect(bandOf(runs, { first: 5, last: 7 })).toEqual(expected);
  expect(bandOf([...runs].reverse(), { first: 5, last: 7 })).toEqual(expected);
});

const steady = { model: 'poisson', rate: '5/s' };
const spike = { model: 'spikes', requests: 9, from: '2s', to: '3s' };
const scenario = (more: object) =>
  parseScenario(
    {
      ...{ question: 'Q?', cycle_ms: 1000, duration: '8s', limiter: 'none', arrivals: [steady] },
      ...{ clients: [{ kind: 'retrying' }], ...more },
    } as unknown as ScenarioObject,
    'drain.yaml',
  );
/** Open jobs at the ends of cycles, of a run that begins in `first`. */
const series = (open: number[], first = 0) =>
  ({ cycle: open.map((_, n) => first + n), open_jobs: open }) as unknown as Series;

// biome-ignore format: one case a line
it.each<[name: string, more: object, open: number[], ms: number | undefined]>([
  ['from the end of a spike, down to what was open before', { arrivals: [steady, spike] }, [1, 1, 9, 5, 2, 1], 3000],
  ['0 where nothing is left in its last cycle', { arrivals: [steady, spike] }, [1, 1, 1, 1], 0],
  ['down to the mean before, rounded up', { arrivals: [steady, spike] }, [1, 2, 9, 5, 2, 1], 2000],
  ['undefined where it lasts', { arrivals: [steady, spike] }, [0, 0, 9, 9, 9, 9], undefined],
  ['from the end of a fault', { faults: [{ kind: 'pause', from: '1s', to: '4s' }] }, [0, 5, 5, 5, 5, 0, 0], 2000],
  ['from the end of the last of them',
    { arrivals: [steady, spike], faults: [{ kind: 'pause', from: '1s', to: '4s' }] }, [0, 0, 0, 9, 0], 1000],
  ['undefined where nothing disturbs', {}, [1, 5, 1, 1], undefined],
  ['undefined where the load only begins late', { arrivals: [{ ...steady, from: '2s' }] }, [0, 0, 3, 0], undefined],
  ['undefined where the trigger lasts to the end', { arrivals: [steady, { ...steady, from: '2s' }] }, [0, 0, 3, 0], undefined],
])('the time to drain is %s', (_name, more, open, ms) => {
  const one = scenario(more);
  expect(drainMs(one, series(open, one.startCycle))).toBe(ms);
});
