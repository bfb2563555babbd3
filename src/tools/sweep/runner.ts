// The runs of one scenario: of its cells, and of each cell under the seeds s, s/1, s/2, …
//
//   cell, replication ─► threads of this process          ─┐
//                    └─► queue ─► weir worker, weir worker ┴─► the same results
import type { Seed } from '../../core/math/seed.js';
import { Failure } from '../../core/schema/failure.js';
import { type Cell, withFields, wrongSweep } from '../../harness/scenario/grid.js';
import { type Replicate, type RunPlace, replicationSeed, runReplication } from '../../harness/simulate/replication.js';
import { openRunPool } from '../../harness/simulate/run-pool.js';
import { type SweepPlan, scenarioOf } from './plan-sweep.js';

export interface CellRun extends Replicate {
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
