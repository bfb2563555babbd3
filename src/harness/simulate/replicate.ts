// Runs a scenario under the seeds s, s/1, s/2, … and summarises. A run is a pure function of scenario and seed: it may be made anywhere.
import { meanInterval, shareInterval } from '../../core/math/interval.js';
import type { Seed } from '../../core/math/seed.js';
import { sealed, verdictOf } from '../outcome/assemble.js';
import type { Outcome, Replications } from '../outcome/outcome-schema.js';
import type { Band } from '../outcome/series.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { bandOf, type Replicate, type RunPlace, replicationSeed } from './replication.js';
import { openRunPool } from './run-pool.js';

interface Replicated {
  readonly replications: Replications;
  readonly heldIn: readonly number[];
  readonly band?: Band;
}

/** More runs would hardly change the band, and need more memory. */
const MOST_RUNS_IN_BAND = 1_000;

interface ReplicateOptions extends RunPlace {
  readonly seed: Seed;
  readonly n: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, n: number) => void;
}

/** Undefined if it was stopped before two runs finished. */
export async function replicate(
  { source: { path }, spec }: LoadedScenario,
  { seed, n, signal, onProgress, ...place }: ReplicateOptions,
): Promise<Replicated | undefined> {
  if (signal?.aborted === true) return undefined;
  const pool = await openRunPool(place, n, signal);
  let done = 0;
  const asked = Array.from({ length: n }, async (_, index) => {
    const task = { path, scenario: spec, seed: replicationSeed(seed, index), withPeaks: index < MOST_RUNS_IN_BAND };
    try {
      const run = await pool.run(task);
      done += 1;
      onProgress?.(done, n);
      return run;
    } catch (error) {
      if (signal?.aborted === true) return undefined;
      throw error;
    }
  });
  const runs = await Promise.all(asked).finally(() => pool.close());
  const finished = runs.filter((run) => run !== undefined);
  if (finished.length < 2) return undefined;
  const band = bandIn(finished);
  const heldIn = finished[0]!.held.map((_, index) => finished.filter(({ held }) => held[index] === true).length);
  return { replications: summarise(finished), heldIn, ...(band === undefined ? {} : { band }) };
}

function bandIn(runs: readonly Replicate[]): Band | undefined {
  const peaks = runs.flatMap(({ peaks }) => (peaks === undefined ? [] : [peaks]));
  const isWhole = peaks.length > 0 && peaks.every(({ length }) => length === peaks[0]!.length);
  return isWhole ? bandOf(peaks, runs[0]!.span) : undefined;
}

const MOST_FAILED_SEEDS = 100;

export function summarise(runs: readonly Replicate[]): Replications {
  const failed = runs.filter(({ held }) => held.includes(false));
  const { low, high } = shareInterval(runs.length - failed.length, runs.length);
  return {
    n: runs.length,
    held: runs.length - failed.length,
    held_share: { low, high },
    failed_seeds: failed.slice(0, MOST_FAILED_SEEDS).map(({ seed }) => seed),
    figures: figureIntervals(runs),
  };
}

/** For each figure that all runs have: mean, its 95 % interval, minimum and maximum. At least two runs. */
export function figureIntervals(
  runs: readonly Pick<Replicate, 'figures' | 'contracts' | 'span'>[],
): Replications['figures'] {
  const names = Object.keys(runs[0]?.figures ?? {}).filter((name) =>
    runs.every(({ figures }) => Number.isFinite(figures[name])),
  );
  const isRandom = runs.some(({ figures }) => names.some((name) => figures[name] !== runs[0]!.figures[name]));
  return Object.fromEntries(
    names.map((name) => {
      const values = runs.map(({ figures }) => figures[name]!);
      if (!isRandom) return [name, exactly(values[0]!)];
      const most = mostOf(name, runs);
      const found = meanInterval(values, isCounted(name) && values.every(isCount) ? most : undefined);
      // Figures are not negative; an interval for normal values may be.
      const low = found.min < 0 ? found.low : Math.max(0, found.low);
      return [name, { ...found, low, high: Math.max(found.mean, Math.min(most, found.high)) }];
    }),
  );
}

function exactly(value: number): Replications['figures'][string] {
  return { mean: value, low: value, high: value, interval: 't', min: value, max: value };
}

/** Upper bound of a figure in one run; Infinity if it is not a count. */
function mostOf(name: string, runs: readonly Pick<Replicate, 'figures' | 'contracts' | 'span'>[]): number {
  if (/utili[sz]ation/.test(name)) return 1;
  if (!isCounted(name)) return Number.POSITIVE_INFINITY;
  return runs.reduce((most, { figures, contracts, span }) => {
    const requests = figures['requests']!;
    const cycles = contracts * (span.last - span.first + 1);
    const attempts =
      name.startsWith('clients.') || name.startsWith('service.') ? (figures['clients.attempts'] ?? 0) : 0;
    const bound: Record<string, number> = {
      contracts_limited: contracts,
      limiting_cycles: cycles,
      entries: Math.min(requests, cycles),
      restores: Math.min(requests, cycles),
      recovery_cycles: cycles / contracts,
    };
    return Math.max(most, bound[name] ?? Math.max(requests, attempts), figures[name]!);
  }, 0);
}

/** Rates and means may happen to be whole numbers in every run, for example 0. A control has bounds of its own. */
function isCounted(name: string): boolean {
  return !/^control\.|_per_second$|_amplification$|_mean\b|_ms\b|utili[sz]ation/.test(name);
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/**
 * The first outcome with the figures of all runs. An expectation holds if it held in the required share of them.
 * @param found undefined if it was stopped before two runs finished
 * @param asked runs wanted; fewer make the outcome partial
 */
export function withReplications(outcome: Outcome, found: Replicated | undefined, asked: number): Outcome {
  const { digest: _, ...rest } = outcome;
  const expectations = outcome.expectations.map((expectation, index) => {
    if (found === undefined) return expectation;
    const held_in = found.heldIn[index]!;
    return { ...expectation, held_in, held: held_in / found.replications.n >= (expectation.share ?? 1) };
  });
  const whole = {
    ...rest,
    ...((found?.replications.n ?? 1) < asked ? { partial: true } : {}),
    ...(found === undefined ? {} : { replications: found.replications }),
    expectations,
  };
  return sealed({ ...whole, verdict: verdictOf(whole) });
}
