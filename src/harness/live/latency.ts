// Latency of answers, and lateness of sends.
//
//   intended        sent                 answered
//      |── send lag ──|────── raw ──────────|
//      |───────────── latency ──────────────|          from the intended send time
//
// A generator that falls behind sends late and measures short raw times: only the latency from the intended instant is valid ("coordinated
// omission", G. Tene).
import { Durations } from '../../core/math/durations.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { nearestRank } from '../../core/math/nearest-rank.js';
import type { LiveFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';

interface Timing {
  readonly intendedMs: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly admitted: boolean;
  readonly cycle: number;
  readonly phases: readonly string[];
}

export class Latency {
  readonly sendLag = new Durations();
  readonly latency = new Durations();
  readonly #raw = new Durations();
  readonly #byDecision = new Map<string, Durations>();
  readonly #byPhase = new Map<string, Durations>();
  readonly #byCycle = new Map<number, number[]>();

  sent(intendedMs: number, sentMs: number): void {
    this.sendLag.record(Math.max(0, sentMs - intendedMs));
  }

  answered({ intendedMs, sentMs, answeredMs, admitted, cycle, phases }: Timing): void {
    const ms = Math.max(0, answeredMs - intendedMs);
    this.latency.record(ms);
    this.#raw.record(Math.max(0, answeredMs - sentMs));
    getOrInsert(this.#byDecision, admitted ? 'admitted' : 'limited', () => new Durations()).record(ms);
    for (const phase of phases) getOrInsert(this.#byPhase, phase, () => new Durations()).record(ms);
    getOrInsert(this.#byCycle, cycle, () => []).push(ms);
  }

  figures(from: string) {
    return {
      send_lag_ms: this.sendLag.figures('from the intended instant to the request going out'),
      latency_ms: this.latency.figures(`${from} to the answer`),
      raw_latency_ms: this.#raw.figures('from the request going out to the answer'),
      by_decision: quantilesOf(this.#byDecision, from),
      by_phase: quantilesOf(this.#byPhase, from),
    };
  }

  /** By cycle; exact, by nearest rank. */
  series(cycles: readonly number[]): Required<Pick<Series, 'latency_ms_p50' | 'latency_ms_p99'>> {
    const quantile = (p: number) => (cycle: number) => {
      const values = this.#byCycle.get(cycle);
      if (values === undefined) return null;
      values.sort((a, b) => a - b);
      return nearestRank(values, p)!;
    };
    return { latency_ms_p50: cycles.map(quantile(0.5)), latency_ms_p99: cycles.map(quantile(0.99)) };
  }
}

function quantilesOf(all: ReadonlyMap<string, Durations>, from: string): LiveFigures['by_decision'] {
  return Object.fromEntries(
    [...all].flatMap(([name, durations]) => {
      const figures = durations.figures(`${from} to the answer`);
      return figures === null ? [] : [[name, figures]];
    }),
  );
}
