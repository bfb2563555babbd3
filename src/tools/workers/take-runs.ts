// A worker: makes runs from the queue of run-queue.ts on its threads; sends loads one at a time, with no run meanwhile.
import { hostname } from 'node:os';
import { Worker } from 'bullmq';
import { isJsonObject } from '../../core/schema/value-faults.js';
import { pause, wallNowMs } from '../../core/time/wall.js';
import { VERSION } from '../../core/version.js';
import { namesFiles } from '../../harness/scenario/file-source.js';
import type { ReplicationTask } from '../../harness/simulate/replication.js';
import { runThreads } from '../../harness/simulate/run-pool.js';
import {
  ASKS,
  isLast,
  LOAD_QUEUE,
  MAKES,
  MOST_STALLS,
  MOST_TOGETHER,
  openQueueClient,
  type QueueClient,
  RUN_QUEUE,
  type RunAnswer,
  type RunJob,
} from './run-queue.js';

/** In ms: silence after which another worker gets a job; interval of that check; interval of the connection check. */
const LOCK_MS = 2_000;
const STALLED_MS = 1_000;
const BEAT_MS = 500;

const first = {
  path: 'first.yaml',
  scenario: { question: 'Ready?', duration: 1, arrivals: [{ model: 'constant', rate: 1 }] },
  seed: 1,
  withPeaks: false,
};

interface TakeOptions {
  readonly threads: number;
  readonly onRun?: ((runs: number) => void) | undefined;
  readonly onAway?: ((isAway: boolean) => void) | undefined;
  /** Sends a share of a load, and reports its failures itself. Undefined: loads are left to other workers. */
  readonly onLoad: ((job: unknown, client: QueueClient) => Promise<void>) | undefined;
}

/** Takes as many runs at once as there are threads, until closed. @throws Failure `store_away`, `wrong_usage` */
export async function takeRuns(url: string, { threads, onRun, onAway, onLoad }: TakeOptions) {
  const client = await openQueueClient(url);
  await client.clientSetName(MAKES);
  const pool = runThreads(threads);
  // One run each: ending a thread while it loads its code would end the process.
  await Promise.all(Array.from({ length: threads }, () => pool.run(first)));
  let runs = 0;
  const worker = new Worker<RunJob, RunAnswer>(
    RUN_QUEUE.name,
    async ({ data }) => {
      const tasks = tasksIn(data);
      if (typeof tasks === 'string') return { refused: tasks };
      const startMs = wallNowMs();
      const made = tasks.map(async (task) => {
        const run = await pool.run({ ...task, isSent: true });
        runs += 1;
        onRun?.(runs);
        return run;
      });
      return { runs: await Promise.all(made), msEach: Math.max(1, wallNowMs() - startMs) / tasks.length };
    },
    {
      connection: client,
      prefix: RUN_QUEUE.prefix,
      concurrency: threads,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_MS,
      maxStalledCount: MOST_STALLS,
    },
  );
  // A job given to another worker is missing at its end; the watch below reports the connection.
  worker.on('error', () => {});
  const workers: Worker[] = [worker];
  if (onLoad !== undefined) workers.push(takeLoads(client, worker, onLoad));
  const ended = new AbortController();
  const watch = async () => {
    for (let isAway = false; !ended.signal.aborted; await pause(BEAT_MS, ended.signal)) {
      if (client.isReady !== isAway) continue;
      isAway = !isAway;
      onAway?.(isAway);
    }
  };
  void watch();
  await Promise.all(workers.map((one) => one.waitUntilReady()));
  return {
    /** Takes no further runs; resolves when those in progress are done. */
    async close() {
      ended.abort();
      // Without Redis, the runs in progress cannot be delivered.
      await Promise.all(workers.map((one) => one.close(!client.isReady)));
      await pool.destroy();
      if (client.isReady && (await isLast(client, ASKS, MAKES)))
        await client.del(workers.map(({ keys }) => keys['meta']!));
      client.destroy();
    },
  };
}

/** A string refuses an invalid job: anybody may write to the queue. */
function tasksIn(data: unknown): readonly ReplicationTask[] | string {
  const { weir, tasks } = (isJsonObject(data) ? data : {}) as Partial<RunJob>;
  if (weir !== VERSION) return `The worker on ${hostname()} is version ${VERSION}, and ${String(weir)} asks.`;
  if (!Array.isArray(tasks) || tasks.length > MOST_TOGETHER || !tasks.every(isTask))
    return 'The job does not hold runs of scenarios that are objects.';
  return tasks.some(({ scenario }) => namesFiles(scenario))
    ? 'The run names files, which a worker does not read.'
    : tasks;
}

function isTask(task: unknown): task is ReplicationTask {
  if (!isJsonObject(task)) return false;
  const { path, scenario, seed, withPeaks } = task as Partial<ReplicationTask>;
  const isSeed = typeof seed === 'number' || typeof seed === 'string';
  return typeof path === 'string' && isJsonObject(scenario) && isSeed && typeof withPeaks === 'boolean';
}

function takeLoads(client: QueueClient, runs: Worker, onLoad: NonNullable<TakeOptions['onLoad']>): Worker {
  const loads = new Worker(
    LOAD_QUEUE,
    async ({ data }) => {
      await runs.pause();
      try {
        await onLoad(data, client);
      } finally {
        runs.resume();
      }
    },
    {
      connection: client,
      prefix: RUN_QUEUE.prefix,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_MS,
      // A share whose generator was lost cannot be sent again: its instants are over.
      maxStalledCount: 0,
    },
  );
  loads.on('error', () => {});
  return loads;
}
