// Figures of a simulation with clients over time. A row is complete at the end of its cycle.
//
//   waiting   __|‾|_____|‾‾‾‾‾‾     queue: maximum of the cycle
//   cycle     |   0   |   1   |     open jobs: at its end; latency: of the jobs served in it
import { nearestRank } from '../../core/math/nearest-rank.js';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import type { JobEnding } from '../clients/behaviour.js';
import type { Series } from '../outcome/series.js';

interface SeriesRecorderOptions {
  readonly clock: Clock;
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly hasService: boolean;
}

export type SeriesRecorder = ReturnType<typeof seriesRecorder>;

export function seriesRecorder({ clock, firstCycle, lastCycle, hasService }: SeriesRecorderOptions) {
  let waiting = 0;
  let mostWaiting = 0;
  let openJobs = 0;
  let retries = 0;
  const latencies: number[] = [];
  const responses: number[] = [];
  const kept = seriesRows(lastCycle - firstCycle + 1);
  let cycle = firstCycle;
  const sawWaiting = (): void => {
    if (waiting > mostWaiting) mostWaiting = waiting;
  };
  const reach = (present: number): void => {
    while (cycle < present) {
      sawWaiting();
      const counts = [mostWaiting, openJobs, retries] as const;
      kept.add([cycle, ...counts, ...quantilesOf(latencies), ...quantilesOf(responses)]);
      cycle += 1;
      mostWaiting = 0;
      retries = 0;
      latencies.length = 0;
      responses.length = 0;
    }
  };
  return {
    queued(now: number): void {
      reach(clock.cycle());
      // A change at the start of a cycle does not belong to the previous one.
      if (clock.now() > startOf(cycle, clock.cycleMs)) sawWaiting();
      waiting = now;
      sawWaiting();
    },
    responded(ms: number): void {
      reach(clock.cycle());
      responses.push(ms);
    },
    born(): void {
      reach(clock.cycle());
      openJobs += 1;
    },
    retried(): void {
      reach(clock.cycle());
      retries += 1;
    },
    ended(ending: JobEnding, ms: number): void {
      reach(clock.cycle());
      openJobs -= 1;
      if (ending === 'succeeded') latencies.push(ms);
    },
    finish(last: number): Series {
      reach(last + 1);
      const rows = kept.rows();
      const column = (index: number) => rows.map((row) => row[index]!);
      const measured = (index: number) => rows.map((row) => row[index] ?? null);
      const atService = { queue: column(1), response_ms_p50: measured(6), response_ms_p99: measured(7) };
      return {
        cycle: column(0),
        open_jobs: column(2),
        retries: column(3),
        latency_ms_p50: measured(4),
        latency_ms_p99: measured(5),
        latency_taken: 'from the first attempt until served, plotted at the cycle of completion',
        ...(hasService ? atService : {}),
      };
    },
  };
}

function quantilesOf(values: number[]): readonly [p50: number | null, p99: number | null] {
  values.sort((a, b) => a - b);
  return [toMicroseconds(nearestRank(values, 0.5)), toMicroseconds(nearestRank(values, 0.99))];
}

function toMicroseconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms * 1000) / 1000;
}

// The rows of a series that a chart needs: all rows of a short run, or the ends and extremes of each interval of a long one.
//
//   an interval of a long run    . : | .. _ ...   ->   first, last, minimum and maximum of every column

const STRETCHES = 1_000;

/** Runs with at most this many cycles per interval are kept whole. */
const CYCLES_KEPT = 8;

export type SeriesRow = readonly [cycle: number, ...values: readonly (number | null)[]];

export function seriesRows(cycles: number) {
  const kept: SeriesRow[] = [];
  let open: SeriesRow[] = [];
  const stretch = cycles <= STRETCHES * CYCLES_KEPT ? 1 : Math.ceil(cycles / STRETCHES);
  const close = (): void => {
    const rows = open;
    open = [];
    const first = rows[0];
    if (first === undefined) return;
    const indexes = new Set([0, rows.length - 1]);
    for (let column = 1; column < first.length; column += 1) {
      for (const index of extremes(rows, column)) indexes.add(index);
    }
    for (const index of [...indexes].sort((a, b) => a - b)) kept.push(rows[index]!);
  };
  return {
    add(row: SeriesRow): void {
      open.push(row);
      if (open.length === stretch) close();
    },
    rows(): readonly SeriesRow[] {
      close();
      return kept;
    },
  };
}

function extremes(rows: readonly SeriesRow[], column: number): number[] {
  let least: number | undefined;
  let most: number | undefined;
  rows.forEach(({ [column]: value }, index) => {
    if (value === null || value === undefined) return;
    if (least === undefined || value < rows[least]![column]!) least = index;
    if (most === undefined || value > rows[most]![column]!) most = index;
  });
  return least === undefined || most === undefined ? [] : [least, most];
}
