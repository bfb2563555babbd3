import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Series } from '../../../src/harness/outcome/series.js';
import { type SeriesRow, seriesRecorder, seriesRows } from '../../../src/harness/simulate/series-recorder.js';
import { forAll, forAllAsync } from '../../draws.js';
import { run } from './running.js';

const CYCLE_MS = 100;
type Happening = readonly [ms: number, tell: (recorder: ReturnType<typeof seriesRecorder>) => void];

/** What a recorder makes of happenings at their instants. */
function recorded(happenings: readonly Happening[], lastCycle: number, hasService = true): Series {
  const clock = new VirtualClock(0, CYCLE_MS);
  const recorder = seriesRecorder({ clock, firstCycle: 0, lastCycle, hasService });
  for (const [ms, tell] of happenings) clock.agenda.at(ms, Rank.client, () => tell(recorder));
  clock.run();
  return recorder.finish(lastCycle);
}

const queued = (ms: number, waiting: number): Happening => [ms, (recorder) => recorder.queued(waiting)];
const born = (ms: number): Happening => [ms, (recorder) => recorder.born()];
const served = (ms: number, tookMs: number): Happening => [ms, (recorder) => recorder.ended('succeeded', tookMs)];

it.each<[what: string, happenings: Happening[], queue: number[]]>([
  ['nobody', [], [0, 0, 0, 0]],
  ['up and down within a cycle', [queued(110, 3), queued(120, 1), queued(130, 0)], [0, 3, 0, 0]],
  ['one that stays', [queued(110, 2)], [0, 2, 2, 2]],
  ['one that goes within a later cycle', [queued(110, 2), queued(250, 1)], [0, 2, 2, 1]],
  ['what ends with a cycle is no part of the next', [queued(110, 2), queued(200, 0)], [0, 2, 0, 0]],
  ['what comes for no time at all', [queued(150, 4), queued(150, 0)], [0, 4, 0, 0]],
])('the queue of a cycle is the most that waited in it: %s', (_, happenings, queue) =>
  expect(recorded(happenings, 3).queue).toEqual(queue),
);

it('a recorder fills every column of a run, cycle by cycle', () => {
  const retry: Happening = [170, (recorder) => recorder.retried()];
  const response: Happening = [180, (recorder) => recorder.responded(12.3456)];
  const lost: Happening = [250, (recorder) => recorder.ended('given_up', 90)];
  const happenings = [born(0), born(10), born(20), retry, served(180, 4), served(190, 8), response, lost];
  expect(recorded(happenings, 2)).toEqual({
    cycle: [0, 1, 2],
    open_jobs: [3, 1, 0],
    retries: [0, 1, 0],
    latency_ms_p50: [null, 4, null],
    latency_ms_p99: [null, 8, null],
    latency_taken: 'from the first attempt until served, plotted at the cycle of completion',
    queue: [0, 0, 0],
    response_ms_p50: [null, 12.346, null],
    response_ms_p99: [null, 12.346, null],
  });
});

it('without a service there are no columns of one', () => {
  const { queue, response_ms_p50, response_ms_p99 } = recorded([born(0)], 1, false);
  expect([queue, response_ms_p50, response_ms_p99]).toEqual([undefined, undefined, undefined]);
});

const storm = (more = '') => `question: Q?
duration: 40
limiter: { threshold: 60, within: 20 }
arrivals: [{ model: poisson, rate: 8/s }]
clients: [{ kind: retrying, timeout: 500ms, max_attempts: 4, backoff: { policy: none } }]
service: { servers: 1, time: { law: exponential, mean: 150ms } }
drain: 40
${more}`;

it('the series of a run agrees with the figures of its outcome, and with its own schema', async () => {
  await forAllAsync([fc.integer({ min: 0, max: 1_000 })], { numRuns: 15 }, async (seed) => {
    const { outcome, series } = await run(storm(), { seed });
    const { clients, service } = outcome;
    const all = clients![0]!;
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect({
      cycles: series!.cycle.length,
      queue: Math.max(...series!.queue!),
      retries: sum(series!.retries!),
      open: series!.open_jobs!.at(-1),
      faults: Compile(Series).Errors(JSON.parse(JSON.stringify(series))),
    }).toEqual({
      cycles: outcome.last_cycle! - outcome.first_cycle! + 1,
      queue: service!.queue_max,
      retries: all.retries,
      open: all.jobs - all.succeeded - all.given_up - all.dropped,
      faults: [],
    });
  });
});

it('the series of a run follows from its seed, ends where it was stopped, and shows the warm-up too', async () => {
  const [one, again, stopped, warm] = await Promise.all([
    run(storm()),
    run(storm()),
    run(storm(), { untilCycle: 30 }),
    run(storm('warm_up: 20\n')),
  ]);
  expect(again!.series).toEqual(one!.series);
  expect(stopped!.series!.retries).toEqual(one!.series!.retries!.slice(0, 31));
  expect(warm!.series).toEqual(one!.series);
});

it('a run in which nobody reacts and nothing waits has no series', async () => {
  expect((await run('question: Q?\nduration: 5\narrivals: [{ model: constant, rate: 1 }]\n')).series).toBeUndefined();
});

it('the series of a run stays small however long the run is', async () => {
  const text = `question: Q?
duration: 30000
arrivals: [{ model: poisson, rate: 0.5 }]
clients: [{ kind: obedient }]
service: { servers: 1, time: { law: exponential, mean: 900ms } }
`;
  const { outcome, series } = await run(text);
  expect(series!.cycle.length).toBeLessThanOrEqual(16_000);
  expect(Math.max(...series!.queue!)).toBe(outcome.service!.queue_max);
});

const keep = (rows: readonly SeriesRow[], cycles = rows.length) => {
  const kept = seriesRows(cycles);
  for (const row of rows) kept.add(row);
  return kept.rows();
};
const value = fc.option(fc.integer({ min: 0, max: 50 }));

it('all rows of a series of up to 8,000 cycles are kept', () => {
  const rows = Array.from({ length: 8_000 }, (_, cycle): SeriesRow => [cycle, cycle % 7]);
  expect(keep(rows)).toEqual(rows);
});

it('a series of more cycles keeps the first and last row of each stretch, and the extremes of each column', () => {
  // 10,000 cycles are 1,000 stretches of ten.
  const quiet = (cycle: number): SeriesRow => [cycle, 3, null];
  const rows = Array.from({ length: 20 }, (_, cycle) => quiet(cycle));
  rows[2] = [2, 9, null];
  rows[4] = [4, 1, null];
  rows[7] = [7, 3, 5];
  expect(keep(rows, 10_000)).toEqual([quiet(0), rows[2], rows[4], rows[7], quiet(9), quiet(10), quiet(19)]);
});

it('kept rows lose no extreme of any column, stay in order, and are few', () => {
  forAll(
    [fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 60_000 })],
    (columns, cycles) => {
      const rows = columns.map((values, cycle): SeriesRow => [cycle, ...values]);
      const kept = keep(rows, cycles);
      const extremes = (of: readonly SeriesRow[], column: number) => {
        const values = of.flatMap(({ [column]: one }) => (one === null || one === undefined ? [] : [one]));
        return [Math.min(...values), Math.max(...values)];
      };
      const stretches = Math.ceil(rows.length / Math.max(1, Math.ceil(cycles / 1_000)));
      expect([1, 2].map((column) => extremes(kept, column))).toEqual([1, 2].map((column) => extremes(rows, column)));
      expect(kept).toEqual(rows.filter((row) => kept.includes(row)));
      if (cycles > 8_000) expect(kept.length).toBeLessThanOrEqual(6 * stretches);
    },
  );
});
