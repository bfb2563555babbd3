// A sweep: one scenario in many variants, each under the same seeds, on all cores.
//
//   scenario ── axes ──► cells ── x replications ──► runs ──► a row for each cell, in order
//
// Every cell has the same seeds, so that cells differ by what they set and not by their draws (common random numbers). A run is a pure
// function of cell and seed: rows and digest do not depend on the number of threads or on the order in which runs end.

import { shareInterval } from '../../math/interval.js';
import type { ScenarioObject } from '../../scenario/load-scenario.js';
import { Failure } from '../../schema/failure.js';
import { figureIntervals, replicationSeed } from '../replicate.js';
import { type Replicate, runReplication } from '../replication.js';
import { openRunPool, type RunPlace } from '../run-pool.js';
import type { Json } from './axis.js';
import { type Cell, type Grid, withFields } from './grid.js';
import { planSweep, type SweepOptions, type SweepPlan, scenarioOf } from './plan-sweep.js';

/** One run of a cell. */
export interface SweepRun extends Omit<Replicate, 'peaks'> {
  readonly cell: number;
  /** From 0. */
  readonly replication: number;
}

/** A figure over the runs of a cell: the mean with its 95 % interval; of a single run the value, without an interval. */
export interface SweptFigure {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** What the runs of one cell say together. */
export interface SweepRow {
  readonly cell: number;
  /** The fields that were set, by path. */
  readonly set: Readonly<Record<string, Json>>;
  /** Runs. */
  readonly n: number;
  /** In how many of them every expectation held, and the 95 % interval of the share; null without expectations. */
  readonly held: number | null;
  readonly held_share: { readonly low: number; readonly high: number } | null;
  /** By name, for example `limited` or `clients.retries`: what every run of the cell has. */
  readonly figures: Readonly<Record<string, SweptFigure>>;
}

export interface RunSweepOptions extends RunPlace {
  /** Stops the sweep: rows of cells that are complete were emitted. */
  readonly signal?: AbortSignal | undefined;
  /** Runs that are known already, from an earlier call that was stopped. */
  readonly known?: Iterable<SweepRun> | undefined;
  /** Called with each run that was made, in the order in which they end. */
  readonly onRun?: ((run: SweepRun) => void) | undefined;
}

/**
 * A sweep as an AsyncIterable of rows, one for each cell, in the order of the cells; `from(sweep(…))` of RxJS makes an Observable of it.
 *
 *     for await (const { set, figures } of sweep('burst.yaml', { set: ['limiter.threshold=50..200:10'] }))
 *       console.log(set['limiter.threshold'], figures['limited'].mean);
 *
 * A scenario with functions runs in this thread, since functions cannot be sent to another.
 * @throws Failure as `planSweep`, when the first row is asked for
 */
export async function* sweep(
  source: string | ScenarioObject,
  grid: Grid,
  options: SweepOptions & RunSweepOptions = {},
): AsyncGenerator<SweepRow, void, undefined> {
  yield* runSweep(await planSweep(source, grid, options), options);
}

/** Runs what is not known of a plan. */
export async function* runSweep(
  plan: SweepPlan,
  { signal, known = [], onRun, ...place }: RunSweepOptions = {},
): AsyncGenerator<SweepRow, void, undefined> {
  const { cells, replications } = plan;
  /** By cell: the runs that are done. Cells whose rows were emitted are dropped. */
  const runs = new Map<number, SweepRun[]>();
  const isKnown = new Set<string>();
  const keep = (run: SweepRun) => {
    const ofCell = runs.get(run.cell) ?? [];
    ofCell.push(run);
    runs.set(run.cell, ofCell);
  };
  let left = cells.length * replications;
  for (const run of known) {
    if (run.replication < replications && !isKnown.has(keyOf(run))) {
      keep(run);
      left -= 1;
    }
    isKnown.add(keyOf(run));
  }
  let next = 0;
  const complete = function* () {
    for (; next < cells.length && (runs.get(next)?.length ?? 0) === replications; next += 1) {
      yield rowOf(cells[next]!, runs.get(next)!);
      runs.delete(next);
    }
  };
  const runner = await openRunner(plan, place, { signal, runs: left });
  try {
    const underWay = new Set<Promise<void>>();
    for (const { cell } of cells) {
      for (let replication = 0; replication < replications; replication += 1) {
        if (isKnown.has(keyOf({ cell, replication }))) continue;
        while (underWay.size >= runner.most) await Promise.race(underWay);
        if (signal?.aborted === true) return;
        const ended = runner.run(cells[cell]!, replication).then((run) => {
          underWay.delete(ended);
          if (run === undefined) return;
          keep(run);
          onRun?.(run);
        });
        // Where it is waited for, it fails.
        ended.catch(() => {});
        underWay.add(ended);
        yield* complete();
      }
    }
    while (underWay.size > 0) {
      await Promise.race(underWay);
      yield* complete();
    }
    yield* complete();
  } finally {
    await runner.close();
  }
}

async function runHere(
  plan: Pick<SweepPlan, 'path' | 'scenario' | 'seed'>,
  cell: Cell,
  replication: number,
): Promise<SweepRun> {
  const seed = replicationSeed(plan.seed, replication);
  return asSweepRun(cell, replication, await runReplication(scenarioOf(plan, cell), seed, false));
}

function asSweepRun({ cell }: Cell, replication: number, run: Replicate): SweepRun {
  return { cell, replication, ...run };
}

function keyOf({ cell, replication }: Pick<SweepRun, 'cell' | 'replication'>): string {
  return `${cell}/${replication}`;
}

interface Runner {
  /** How many runs are asked for at once, at most. */
  readonly most: number;
  /** Undefined for a run that was stopped. */
  run(cell: Cell, replication: number): Promise<SweepRun | undefined>;
  close(): Promise<void>;
}

interface RunnerOptions {
  readonly signal: AbortSignal | undefined;
  /** How many runs there are to do. */
  readonly runs: number;
}

/**
 * To be closed by the caller.
 * @throws Failure `store_away`, `wrong_usage`: of workers
 */
export async function openRunner(
  plan: Pick<SweepPlan, 'path' | 'scenario' | 'seed'>,
  place: RunPlace,
  { signal, runs }: RunnerOptions,
): Promise<Runner> {
  const { path, scenario, seed } = plan;
  const isHere = !isPlain(scenario);
  if (isHere && place.workers !== undefined)
    throw new Failure('wrong_usage', {
      what: 'A scenario with functions cannot be sent to workers.',
      fix: 'Leave `workers` out.',
    });
  // A sweep whose runs are all known needs no threads.
  if (isHere || runs === 0) {
    return { most: 1, run: (cell, replication) => runHere(plan, cell, replication), close: async () => {} };
  }
  const pool = await openRunPool(place, runs, signal);
  return {
    most: pool.most,
    async run(cell, replication) {
      const value = withFields(scenario, cell.set);
      try {
        const run = await pool.run({
          path,
          scenario: value,
          seed: replicationSeed(seed, replication),
          withPeaks: false,
        });
        return asSweepRun(cell, replication, run);
      } catch (error) {
        if (signal?.aborted === true) return undefined;
        if (error instanceof Failure) throw error;
        // An error loses its class on the way from a thread: what the scenario refuses is found out again here.
        scenarioOf(plan, cell);
        throw error;
      }
    },
    close: () => pool.close(),
  };
}

function isPlain(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

export function rowOf({ cell, set }: Cell, unordered: readonly SweepRun[]): SweepRow {
  const runs = unordered.toSorted((a, b) => a.replication - b.replication);
  const n = runs.length;
  const asks = (runs[0]?.held.length ?? 0) > 0;
  const held = asks ? runs.filter((run) => !run.held.includes(false)).length : null;
  return { cell, set, n, held, held_share: held === null ? null : heldShare(held, n), figures: figuresOf(runs) };
}

function heldShare(held: number, n: number): { readonly low: number; readonly high: number } {
  const { low, high } = shareInterval(held, n);
  return { low, high };
}

function figuresOf(runs: readonly SweepRun[]): Readonly<Record<string, SweptFigure>> {
  const [only] = runs;
  if (runs.length > 1) {
    return Object.fromEntries(
      Object.entries(figureIntervals(runs)).map(([name, { mean, low, high }]) => [name, { mean, low, high }]),
    );
  }
  return Object.fromEntries(
    Object.entries(only?.figures ?? {}).map(([name, mean]) => [name, { mean, low: null, high: null }]),
  );
}
