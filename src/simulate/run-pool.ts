// Who makes the runs of replications, sweeps and maps: threads of this process, or workers that take them from a queue.
//
//   task ─► threads here                     ─┐
//       └─► queue ─► weir worker, weir worker ┴─► what is kept of the run; the same from either
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { Replicate, ReplicationTask } from './replication.js';

/** Where runs are made. */
export interface RunPlace {
  /** Threads of this process. Default: one for each core. */
  readonly threads?: number | undefined;
  /** Instead of threads: the Redis from which `weir worker` takes runs, for example `redis://127.0.0.1:6379`. */
  readonly workers?: string | undefined;
  /** Called with what a person should know meanwhile, a sentence: for example that there is no worker yet. */
  readonly onNotice?: ((words: string) => void) | undefined;
}

export interface RunPool {
  /** How many runs should be asked for at once, at most. */
  readonly most: number;
  /** Rejects when the run fails, and with any error once the signal of the pool is aborted. */
  run(task: ReplicationTask): Promise<Replicate>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** So many runs wait for each thread, so that none is idle while the next is sent. */
const WAITING = 4;

/**
 * To be closed by the caller.
 * @param runs how many there are to make, at most
 * @throws Failure `store_away`, `wrong_usage`: of workers
 */
export async function openRunPool(
  { threads = availableParallelism(), workers, onNotice }: RunPlace,
  runs: number,
  signal?: AbortSignal,
): Promise<RunPool> {
  if (workers !== undefined) return (await import('./run-queue.js')).openRunQueue(workers, { signal, onNotice });
  const n = Math.max(1, Math.min(threads, runs));
  const pool = runThreads(n);
  return {
    most: WAITING * n,
    run: (task) => pool.run(task, signal === undefined ? {} : { signal }),
    close: () => pool.destroy(),
  };
}

/** Threads that make runs. To be destroyed by the caller. */
export function runThreads(n: number): Piscina<ReplicationTask, Replicate> {
  return new Piscina<ReplicationTask, Replicate>({
    filename: new URL('../simulate/replicate-worker.js', import.meta.url).href,
    minThreads: n,
    maxThreads: n,
    // The next run waits at its thread: a thread does not stand still while this one sums up.
    concurrentTasksPerWorker: 2,
    // In MB. Runs make much that is short-lived: with what a thread has by itself, collecting it takes a tenth of the time.
    resourceLimits: { maxYoungGenerationSizeMb: 96 },
  });
}
