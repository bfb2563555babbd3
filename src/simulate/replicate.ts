// Many runs of one scenario under successive seeds, on all cores, and their summary. The figures do not depend on how the runs were spread:
// each is a pure function of the scenario and its seed.
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { meanInterval, shareInterval } from '../math/interval.js';
import type { Seed } from '../math/random.js';
import { verdictOf } from '../outcome/assemble.js';
import { digestOf } from '../outcome/digest.js';
import type { Outcome, Replications } from '../outcome/outcome-schema.js';
import type { Band } from '../outcome/series.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { bandOf, type Span, stretchPeaks } from './band.js';
import { simulate } from './simulate.js';

/** What a worker is asked for: one run of a scenario. */
export interface ReplicationTask {
  /** The file of the scenario. */
  readonly path: string;
  /** The scenario as a value, for a cell of a sweep; default: what the file says. */
  readonly cell?: { readonly cell: number; readonly scenario: unknown } | undefined;
  readonly seed: Seed;
}

/** Figures of one run by name, for example `limited` or `clients.retries`. */
export type FigureList = Readonly<Record<string, number>>;

/** What a worker gives back of one run. */
export interface Replicate {
  readonly seed: Seed;
  /** Which expectations held, in the order of the scenario. */
  readonly held: readonly boolean[];
  readonly figures: FigureList;
  readonly contracts: number;
  /** Of a run of one contract the largest count of its window in each stretch. */
  readonly peaks?: readonly number[] | undefined;
  readonly span: Span;
}

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

export interface ReplicateOptions {
  readonly seed: Seed;
  /** How many runs, at least 2. */
  readonly n: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, n: number) => void;
  /** Default: one for each core. */
  readonly threads?: number;
}

/** The seed of replication `index`; that of the first is the seed itself. */
export function replicationSeed(seed: Seed, index: number): Seed {
  return index === 0 ? seed : `${seed}/${index}`;
}

/** Threads that run scenarios. To be destroyed by the caller. */
export function replicationPool(workers: number): Piscina<ReplicationTask, Replicate> {
  return new Piscina<ReplicationTask, Replicate>({
    filename: new URL('../simulate/replicate-worker.js', import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    // The next run waits at its thread: a thread does not stand still while this one sums up.
    concurrentTasksPerWorker: 2,
  });
}

/** One run, and what replications keep of it; its peaks where a band is drawn of them. */
export async function runReplication(scenario: LoadedScenario, seed: Seed, withPeaks: boolean): Promise<Replicate> {
  const { outcome, timeline } = await simulate(scenario, { seed, top: 0 });
  const span = { first: outcome.first_cycle ?? 0, last: outcome.last_cycle ?? 0 };
  const held = outcome.expectations.map((expectation) => expectation.held);
  const kept = { seed, held, figures: figureList(outcome), span, contracts: outcome.contracts };
  if (!withPeaks || timeline === undefined || outcome.contracts > 1) return kept;
  return { ...kept, peaks: stretchPeaks(timeline, span) };
}

/**
 * Runs the scenario of a file `n` times.
 * @returns undefined when it was stopped before two runs were done; else the figures of those that were
 */
export async function replicate(
  path: string,
  { seed, n, signal, onProgress, threads }: ReplicateOptions,
): Promise<Replicated | undefined> {
  const workers = Math.min(n, threads ?? availableParallelism());
  const pool = replicationPool(workers);
  const runs = new Array<Replicate | undefined>(n);
  let done = 0;
  try {
    await Promise.all(
      Array.from({ length: n }, async (_, index) => {
        try {
          const task = { path, seed: replicationSeed(seed, index) };
          const run = await pool.run(task, signal === undefined ? {} : { signal });
          runs[index] = index < MOST_RUNS_IN_BAND ? run : { ...run, peaks: undefined };
          done += 1;
          onProgress?.(done, n);
        } catch (error) {
          if (signal?.aborted !== true) throw error;
        }
      }),
    );
  } finally {
    await pool.destroy();
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
  return Object.fromEntries(
    names.map((name) => {
      const values = runs.map(({ figures }) => figures[name]!);
      return [name, meanInterval(values, isCounted(name) && values.every(isCount) ? mostOf(name, runs) : undefined)];
    }),
  );
}

/** What a count can reach in one run: no more than there are requests or attempts; limiting cycles, no more than there are. */
function mostOf(name: string, runs: readonly Pick<Replicate, 'figures' | 'contracts' | 'span'>[]): number {
  return runs.reduce((most, { figures, contracts, span }) => {
    const bound = name === 'limiting_cycles' ? contracts * (span.last - span.first + 1) : figures['requests']!;
    return Math.max(most, bound, figures['clients.attempts'] ?? 0);
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
 * @param asked how many runs there should have been; fewer make the outcome partial
 */
export function withReplications(outcome: Outcome, { replications, heldIn }: Replicated, asked: number): Outcome {
  const { digest: _, ...rest } = outcome;
  const expectations = outcome.expectations.map((expectation, index) => {
    const held_in = heldIn[index]!;
    return { ...expectation, held_in, held: held_in / replications.n >= (expectation.share ?? 1) };
  });
  const whole = {
    ...rest,
    ...(replications.n < asked ? { partial: true } : {}),
    replications,
    expectations,
    verdict: verdictOf(expectations, outcome.comparison),
  };
  return { ...whole, digest: digestOf(whole) };
}

/** Parts of an outcome whose figures replications report. */
const PARTS = ['service', 'clients'] as const;

/** Every number of an outcome that a seed determines, by name. */
function figureList(outcome: Outcome): FigureList {
  const list: Record<string, number> = {};
  const { requests, admitted, limited, contracts_limited, entries, restores, limiting_cycles, peak_count } = outcome;
  Object.assign(list, {
    requests,
    admitted,
    limited,
    contracts_limited,
    entries,
    restores,
    limiting_cycles,
    peak_count,
  });
  const recoveries = (outcome.reactions ?? []).flatMap(({ recovery_cycles }) =>
    recovery_cycles === null ? [] : [recovery_cycles],
  );
  if (recoveries.length > 0) list['recovery_cycles'] = Math.max(...recoveries);
  for (const part of PARTS) {
    const figures = part === 'clients' ? outcome.clients?.[0] : outcome[part];
    if (figures !== undefined) collect(list, part, figures);
  }
  return list;
}

function collect(list: Record<string, number>, prefix: string, value: object): void {
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === 'number') list[`${prefix}.${name}`] = entry;
    else if (typeof entry === 'object' && entry !== null) collect(list, `${prefix}.${name}`, entry);
  }
}
