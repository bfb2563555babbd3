// Threads of this process, or workers that take runs from a queue.
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { packageFile } from '../../core/files/package-file.js';
import { toolNamed } from '../../core/schema/optional-package.js';
import type { Replicate, ReplicationTask, RunPlace, RunPool, RunsElsewhere } from './replication.js';

/** Runs queued per thread, so that none is idle. */
const WAITING = 4;

/** To be closed by the caller. `runs` is the most to expect. @throws Failure `store_away`, `wrong_usage`: of workers */
export async function openRunPool(
  { threads = availableParallelism(), workers, onNotice }: RunPlace,
  runs: number,
  signal?: AbortSignal,
): Promise<RunPool> {
  if (workers !== undefined) {
    const { openRunQueue } = await toolNamed<RunsElsewhere>('workers');
    return openRunQueue(workers, { onNotice, ...(signal && { signal }) });
  }
  const n = Math.max(1, Math.min(threads, runs));
  const pool = runThreads(n);
  return {
    most: WAITING * n,
    run: (task) => pool.run(task, signal === undefined ? {} : { signal }),
    close: () => pool.destroy(),
  };
}

export function runThreads(n: number): Piscina<ReplicationTask, Replicate> {
  return new Piscina<ReplicationTask, Replicate>({
    filename: packageFile('dist/worker/replicate.js'),
    minThreads: n,
    maxThreads: n,
    // The next run is already at its thread, which does not wait for the main thread.
    concurrentTasksPerWorker: 2,
    // In MB. Runs create many short-lived objects: with the default size, garbage collection takes ten times as long.
    resourceLimits: { maxYoungGenerationSizeMb: 96 },
  });
}
