// A sweep: variants of one scenario, each under the same seeds, on all cores.
//
//   scenario ── axes ──► cells ── x replications ──► runs ──► a row for each cell, in order
//
// Cells share their seeds, so that they differ by what they set and not by their draws (common random numbers). A run is a pure function
// of cell and seed: rows and digest depend neither on the number of threads nor on the order of completion.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { shareInterval } from '../../core/math/interval.js';
import type { Seed } from '../../core/math/seed.js';
import { Failure } from '../../core/schema/failure.js';
import { type Cell, type Grid, type Json, withFields, wrongSweep } from '../../harness/scenario/grid.js';
import type { ScenarioObject } from '../../harness/scenario/load-scenario.js';
import { figureIntervals } from '../../harness/simulate/replicate.js';
import { type Replicate, type RunPlace, replicationSeed, runReplication } from '../../harness/simulate/replication.js';
import { openRunPool } from '../../harness/simulate/run-pool.js';
import type { Interval } from '../../report/run-table.js';
import { planSweep, type SweepOptions, type SweepPlan, scenarioOf } from './plan-sweep.js';

export type SweepRun = Omit<CellRun, 'peaks'>;

/** Over the runs of a cell. */
export type SweptFigure = Interval;

export interface SweepRow {
  readonly cell: number;
  readonly set: Readonly<Record<string, Json>>;
  readonly n: number;
  /** Runs in which every expectation held, and the 95 % interval of their share; null without expectations. */
  readonly held: number | null;
  readonly held_share: { readonly low: number; readonly high: number } | null;
  /** Figures that every run of the cell has, for example `limited` or `clients.retries`. */
  readonly figures: Readonly<Record<string, SweptFigure>>;
}

export interface RunSweepOptions extends RunPlace {
  readonly signal?: AbortSignal | undefined;
  /** Runs of an earlier call that was stopped. */
  readonly known?: Iterable<SweepRun> | undefined;
  readonly onRun?: ((run: SweepRun) => void) | undefined;
}

/**
 * One row per cell, in order; `from(sweep(…))` of RxJS makes an Observable of them.
 *
 *     for await (const { set, figures } of sweep('burst.yaml', { set: ['limiter.threshold=50..200:10'] }))
 *       console.log(set['limiter.threshold'], figures['limited'].mean);
 *
 * A scenario with functions runs in this thread: functions cannot be sent to another.
 * @throws Failure as `planSweep`, when the first row is requested
 */
export async function* sweep(
  source: string | ScenarioObject,
  grid: Grid,
  options: SweepOptions & RunSweepOptions = {},
): AsyncGenerator<SweepRow, void, undefined> {
  yield* runSweep(await planSweep(source, grid, options), options);
}

export async function* runSweep(
  plan: SweepPlan,
  { signal, known = [], onRun, ...place }: RunSweepOptions = {},
): AsyncGenerator<SweepRow, void, undefined> {
  const { cells, replications } = plan;
  const runs = new Map<number, SweepRun[]>();
  let next = 0;
  const complete = function* () {
    for (; next < cells.length && (runs.get(next)?.length ?? 0) === replications; next += 1) {
      yield rowOf(cells[next]!, runs.get(next)!);
      runs.delete(next);
    }
  };
  const runner = await openRunner(plan, place, { signal, runs: cells.length * replications, known, onRun });
  try {
    const underWay = new Set<Promise<void>>();
    for (const { cell } of cells) {
      for (let replication = 0; replication < replications; replication += 1) {
        while (underWay.size >= runner.most) await Promise.race(underWay);
        if (signal?.aborted === true) return;
        const ended = runner.run(cells[cell]!, replication).then((run) => {
          underWay.delete(ended);
          if (run !== undefined) getOrInsert(runs, cell, () => []).push(run);
        });
        // The caller awaits it too, and fails there.
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

export function rowOf({ cell, set }: Cell, unordered: readonly SweepRun[]): SweepRow {
  const runs = unordered.toSorted((a, b) => a.replication - b.replication);
  const n = runs.length;
  const asks = (runs[0]?.held.length ?? 0) > 0;
  const figures = figuresOf(runs);
  if (!asks) return { cell, set, n, held: null, held_share: null, figures };
  const held = runs.filter((run) => !run.held.includes(false)).length;
  const { low, high } = shareInterval(held, n);
  return { cell, set, n, held, held_share: { low, high }, figures };
}

function figuresOf(runs: readonly SweepRun[]): Readonly<Record<string, SweptFigure>> {
  const figures: [string, SweptFigure][] =
    runs.length > 1
      ? Object.entries(figureIntervals(runs)).map(([name, { mean, low, high }]) => [name, { mean, low, high }])
      : Object.entries(runs[0]?.figures ?? {}).map(([name, mean]) => [name, exactly(mean)]);
  return Object.fromEntries(figures);
}

export const exactly = (mean: number): SweptFigure => ({ mean, low: null, high: null });

interface CellRun extends Replicate {
  readonly cell: number;
  readonly replication: number;
}

export interface Runner {
  readonly most: number;
  run(cell: Cell, replication: number): Promise<CellRun | undefined>;
  close(): Promise<void>;
}

interface RunnerOptions {
  readonly signal: AbortSignal | undefined;
  readonly runs: number;
  readonly known?: Iterable<CellRun> | undefined;
  readonly onRun?: ((run: CellRun) => void) | undefined;
}

// The runs of one scenario: of its cells, and of each cell under the seeds s, s/1, s/2, …
//
//   cell, replication ─► threads of this process          ─┐
//                    └─► queue ─► weir worker, weir worker ┴─► the same results
/** To be closed by the caller. @throws Failure `store_away`, `wrong_usage`: of workers */
export async function openRunner(
  plan: Pick<SweepPlan, 'path' | 'scenario' | 'seed'>,
  place: RunPlace,
  { signal, runs, known = [], onRun }: RunnerOptions,
): Promise<Runner> {
  const { path, scenario } = plan;
  const isHere = !isPlain(scenario);
  if (isHere && place.workers !== undefined)
    throw wrongSweep('A scenario with functions cannot be sent to workers.', 'Leave `workers` out.');
  const keyOf = ({ cell, replication }: Pick<CellRun, 'cell' | 'replication'>) => `${cell}/${replication}`;
  const before = new Map([...known].map((run) => [keyOf(run), run]));
  const left = runs - before.size;
  const pool = isHere || left <= 0 ? undefined : await openRunPool(place, left, signal);
  const make = async (cell: Cell, seed: Seed) => {
    if (pool === undefined) return runReplication(scenarioOf(plan, cell.set), seed);
    const value = withFields(scenario, cell.set);
    try {
      return await pool.run({ path, scenario: value, seed, withPeaks: false });
    } catch (error) {
      if (signal?.aborted === true) return undefined;
      if (error instanceof Failure) throw error;
      // An error loses its class between threads: parsing again gives the Failure of a refused scenario.
      scenarioOf(plan, cell.set);
      throw error;
    }
  };
  return {
    most: pool?.most ?? 1,
    async run(cell, replication) {
      const earlier = before.get(keyOf({ cell: cell.cell, replication }));
      if (earlier !== undefined) return earlier;
      const seed = (cell.set['seed'] as Seed | undefined) ?? plan.seed;
      const made = await make(cell, replicationSeed(seed, replication));
      if (made === undefined) return undefined;
      const run = { cell: cell.cell, replication, ...made };
      onRun?.(run);
      return run;
    },
    close: async () => pool?.close(),
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
