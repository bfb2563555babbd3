// Many runs of one scenario under the seeds s, s/1, s/2, …, and their summary. The figures do not depend on where the runs were made:
// each is a pure function of the scenario and its seed.
import { meanInterval, shareInterval } from '../math/interval.js';
import type { Seed } from '../math/seed.js';
import { verdictOf } from '../outcome/assemble.js';
import { digestOf } from '../outcome/digest.js';
import type { Outcome, Replications } from '../outcome/outcome-schema.js';
import type { Band } from '../outcome/series.js';
import { readDocument } from '../scenario/document.js';
import { readSource } from '../scenario/file-source.js';
import { bandOf } from './band.js';
import type { Replicate } from './replication.js';
import { openRunPool, type RunPlace } from './run-pool.js';

/** What many runs say together. */
export interface Replicated {
  readonly replications: Replications;
  /** By expectation: in how many runs it held. */
  readonly heldIn: readonly number[];
  /** Undefined where there are several contracts. */
  readonly band?: Band;
}

/** A band of more runs would hardly look different, and its memory grows with them. */
const MOST_RUNS_IN_BAND = 1_000;

export interface ReplicateOptions extends RunPlace {
  readonly seed: Seed;
  /** How many runs, at least 2. */
  readonly n: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, n: number) => void;
}

/** The seed of replication `index`; that of the first is the seed itself. */
export function replicationSeed(seed: Seed, index: number): Seed {
  return index === 0 ? seed : `${seed}/${index}`;
}

/**
 * Runs the scenario of a file `n` times.
 * @returns undefined when it was stopped before two runs were done; else the figures of those that were
 */
export async function replicate(
  path: string,
  { seed, n, signal, onProgress, ...place }: ReplicateOptions,
): Promise<Replicated | undefined> {
  if (signal?.aborted === true) return undefined;
  const scenario = readDocument(await readSource(path), path).value;
  const pool = await openRunPool(place, n, signal);
  const runs = new Array<Replicate | undefined>(n);
  let done = 0;
  try {
    await Promise.all(
      Array.from({ length: n }, async (_, index) => {
        try {
          const run = await pool.run({ path, scenario, seed: replicationSeed(seed, index), withPeaks: true });
          runs[index] = index < MOST_RUNS_IN_BAND ? run : { ...run, peaks: undefined };
          done += 1;
          onProgress?.(done, n);
        } catch (error) {
          if (signal?.aborted !== true) throw error;
        }
      }),
    );
  } finally {
    await pool.close();
  }
  const finished = runs.filter((run) => run !== undefined);
  if (finished.length < 2) return undefined;
  const band = bandIn(finished);
  const heldIn = finished[0]!.held.map((_, index) => finished.filter(({ held }) => held[index] === true).length);
  return { replications: summarise(finished), heldIn, ...(band === undefined ? {} : { band }) };
}

function bandIn(runs: readonly Replicate[]): Band | undefined {
  const told = runs.flatMap(({ peaks }) => (peaks === undefined ? [] : [peaks]));
  const isWhole = told.length > 0 && told.every(({ length }) => length === told[0]!.length);
  return isWhole ? bandOf(told, runs[0]!.span) : undefined;
}

/** At most so many seeds are named. */
const MOST_FAILED_SEEDS = 100;

/** How many runs held, and every figure that all of them have. */
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

/** Of every figure that all runs have: the mean with its 95 % interval, the smallest and the largest. At least two runs. */
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
      // No figure of a run is below 0, and a method that takes it to be normal does not know that.
      const low = found.min < 0 ? found.low : Math.max(0, found.low);
      return [name, { ...found, low, high: Math.max(found.mean, Math.min(most, found.high)) }];
    }),
  );
}

/** Of runs that are alike in every figure: nothing in them is left to chance. */
function exactly(value: number): Replications['figures'][string] {
  return { mean: value, low: value, high: value, interval: 't', min: value, max: value };
}

/**
 * The most that a figure can reach in one run: contracts that were limited, no more than there are; cycles, no more than all contracts have;
 * other counts, no more than there are requests or attempts. Infinity for what is no count.
 */
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

/** Rates and means may happen to be whole numbers in every run: 0, for example. */
function isCounted(name: string): boolean {
  return !/_per_second$|_amplification$|_mean\b|_ms\b|utili[sz]ation/.test(name);
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/**
 * The outcome of the first run with what all of them say: an expectation holds if it held in the wanted share of them.
 * @param found undefined where it was stopped before two runs were done
 * @param asked how many runs there should have been; fewer make the outcome partial
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
  const judged = { ...whole, verdict: verdictOf(whole) };
  return { ...judged, digest: digestOf(judged) };
}
