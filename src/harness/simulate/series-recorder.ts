// Figures of a simulation with clients over time. A row is complete at the end of its cycle.
//
//   waiting   __|‾|_____|‾‾‾‾‾‾     queue: maximum of the cycle
//   cycle     |   0   |   1   |     open jobs: at its end; latency: of the jobs served in it
import { nearestRank } from '../../core/math/nearest-rank.js';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import type { JobEnding } from '../clients/behaviour.js';
import type { ClientWatch } from '../clients/client-tally.js';
import type { Series } from '../outcome/series.js';
import type { ServiceWatch } from './service.js';

interface SeriesRecorderOptions {
  readonly clock: Clock;
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly hasService: boolean;
}

export class SeriesRecorder implements ClientWatch, ServiceWatch {
  readonly #clock: Clock;
  readonly #hasService: boolean;
  readonly #rows: SeriesRows;
  #cycle: number;
  #waiting = 0;
  #mostWaiting = 0;
  #openJobs = 0;
  #retries = 0;
  #latencies: number[] = [];
  #responses: number[] = [];

  constructor({ clock, firstCycle, lastCycle, hasService }: SeriesRecorderOptions) {
    this.#clock = clock;
    this.#hasService = hasService;
    this.#rows = new SeriesRows(lastCycle - firstCycle + 1);
    this.#cycle = firstCycle;
  }

  queued(waiting: number): void {
    this.#reach(this.#clock.cycle());
    // A change at the start of a cycle does not belong to the previous one.
    if (this.#clock.now() > startOf(this.#cycle, this.#clock.cycleMs)) this.#sawWaiting();
    this.#waiting = waiting;
    this.#sawWaiting();
  }

  responded(ms: number): void {
    this.#reach(this.#clock.cycle());
    this.#responses.push(ms);
  }

  born(): void {
    this.#reach(this.#clock.cycle());
    this.#openJobs += 1;
  }

  retried(): void {
    this.#reach(this.#clock.cycle());
    this.#retries += 1;
  }

  ended(ending: JobEnding, ms: number): void {
    this.#reach(this.#clock.cycle());
    this.#openJobs -= 1;
    if (ending === 'succeeded') this.#latencies.push(ms);
  }

  finish(lastCycle: number): Series {
    this.#reach(lastCycle + 1);
    const rows = this.#rows.rows();
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
      ...(this.#hasService ? atService : {}),
    };
  }

  #sawWaiting(): void {
    if (this.#waiting > this.#mostWaiting) this.#mostWaiting = this.#waiting;
  }

  #reach(cycle: number): void {
    while (this.#cycle < cycle) {
      this.#sawWaiting();
      const counts = [this.#mostWaiting, this.#openJobs, this.#retries] as const;
      this.#rows.add([this.#cycle, ...counts, ...quantilesOf(this.#latencies), ...quantilesOf(this.#responses)]);
      this.#cycle += 1;
      this.#mostWaiting = 0;
      this.#retries = 0;
      this.#latencies.length = 0;
      this.#responses.length = 0;
    }
  }
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

export class SeriesRows {
  readonly #stretch: number;
  readonly #kept: SeriesRow[] = [];
  #open: SeriesRow[] = [];

  constructor(cycles: number) {
    this.#stretch = cycles <= STRETCHES * CYCLES_KEPT ? 1 : Math.ceil(cycles / STRETCHES);
  }

  add(row: SeriesRow): void {
    this.#open.push(row);
    if (this.#open.length === this.#stretch) this.#close();
  }

  rows(): readonly SeriesRow[] {
    this.#close();
    return this.#kept;
  }

  #close(): void {
    const rows = this.#open;
    this.#open = [];
    const first = rows[0];
    if (first === undefined) return;
    const indexes = new Set([0, rows.length - 1]);
    for (let column = 1; column < first.length; column += 1) {
      for (const index of extremes(rows, column)) indexes.add(index);
    }
    for (const index of [...indexes].sort((a, b) => a - b)) this.#kept.push(rows[index]!);
  }
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
