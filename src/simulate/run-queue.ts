// Runs by the workers of a queue: BullMQ over one Redis, from which each `weir worker` takes as many runs at once as it has threads.
//
//   here:    task ─► job, its id the digest of its tasks ─► Redis                   Redis ─► what is kept of the runs, once
//   worker:                                                Redis ─► job ─► threads ─► Redis
//
// A job whose worker was killed is given to another after two seconds. One that Redis lost is asked for again: a run is a pure function of its task,
// so it may be made twice, and counts once. At the end of a run its keys are removed, and with the last run those of the queue.
import { Queue, QueueEvents } from 'bullmq';
import { sha256Hex } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import { redisPlace } from '../store/redis/place.js';
import { openClient } from '../store/redis/wire.js';
import { pause } from '../time/wall.js';
import { VERSION } from '../version.js';
import type { Replicate, ReplicationTask } from './replication.js';
import type { RunPlace, RunPool } from './run-pool.js';
import { withoutFiles } from './without-files.js';

/** How the connections of those who ask for runs and of those who make them are called. */
export const ASKS = 'weir-asks-for-runs';
export const MAKES = 'weir-makes-runs';

/** The queue, and what its keys begin with. */
export const RUN_QUEUE = { name: 'runs', prefix: 'weir' } as const;

/** The queue of shares of a load, one for each worker. */
export const LOAD_QUEUE = 'loads';

/** What a worker is given. */
export interface RunJob {
  /** The version that asks. */
  readonly weir: string;
  /** One, or several that take little time. */
  readonly tasks: readonly ReplicationTask[];
}

/** What it gives back, and how long it took for a run, in ms; `refused`: why it does not make them. */
export type RunAnswer = { readonly runs: readonly Replicate[]; readonly msEach: number } | { readonly refused: string };

/** A run that ended its worker so often is given to no other. */
export const MOST_STALLS = 3;

/** How many runs are in the queue at once, at most. */
const MOST_IN_QUEUE = 200;

/** A job costs some ms beside its runs. Short ones are put together: as many as take so long, in ms, and no more than so many. */
const TOGETHER_MS = 40;
export const MOST_TOGETHER = 16;

/** How often the queue is looked at, for how long Redis may be silent, and after which silence of the workers lost jobs are looked for; in ms. */
const BEAT_MS = 500;
const MOST_AWAY_MS = 5_000;
const LOST_AFTER_MS = 2_000;

export type QueueClient = Awaited<ReturnType<typeof openClient>>;

/**
 * A client for BullMQ. To be destroyed by the caller.
 * @throws Failure `store_away`, `wrong_usage`
 */
export async function openQueueClient(url: string): Promise<QueueClient> {
  const place = redisPlace(url);
  if (place.kind !== 'single')
    throw new Failure('wrong_usage', {
      what: 'Workers take runs from one server of Redis.',
      why: `${place.kind === 'cluster' ? 'A cluster' : 'A sentinel'} was given.`,
      fix: 'Give for example redis://127.0.0.1:6379.',
    });
  try {
    return await openClient(place, () => {});
  } catch (error) {
    throw away(`${(error as Error).message}.`);
  }
}

/** Whether no other connection to Redis has one of these names. */
export async function isLast(client: QueueClient, ...names: readonly string[]): Promise<boolean> {
  const lines = String(await client.sendCommand(['CLIENT', 'LIST'])).split('\n');
  return lines.filter((line) => names.some((name) => line.includes(` name=${name} `))).length <= 1;
}

export function away(why: string): Failure {
  return new Failure('store_away', {
    what: 'The workers cannot be asked.',
    why: `Redis does not answer: ${why}`,
    fix: 'Start it, and give the same command again.',
  });
}

interface RunQueueOptions extends Pick<RunPlace, 'onNotice'> {
  readonly signal?: AbortSignal | undefined;
}

/** @throws Failure `store_away`, `wrong_usage` */
export async function openRunQueue(url: string, options: RunQueueOptions = {}): Promise<RunPool> {
  const client = await openQueueClient(url);
  await client.clientSetName(ASKS);
  const queue = new Queue<RunJob, RunAnswer>(RUN_QUEUE.name, {
    connection: client,
    prefix: RUN_QUEUE.prefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', () => {});
  // What comes after the last entry is heard, also before the connection waits for it.
  const [last] = (await client.xRevRange(queue.keys['events']!, '+', '-', { COUNT: 1 })) ?? [];
  const events = new QueueEvents(RUN_QUEUE.name, {
    connection: client,
    prefix: RUN_QUEUE.prefix,
    lastEventId: last?.id ?? '0',
  });
  events.on('error', () => {});
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  return new RunQueue(client, queue, events, options);
}

interface Asked {
  readonly key: string;
  readonly task: ReplicationTask;
  readonly done: (run: Replicate) => void;
  readonly failed: (error: unknown) => void;
}

interface Job {
  readonly data: RunJob;
  readonly asked: readonly Asked[];
}

class RunQueue implements RunPool {
  readonly most = MOST_IN_QUEUE;
  readonly #client: QueueClient;
  readonly #queue: Queue<RunJob, RunAnswer>;
  readonly #events: QueueEvents;
  readonly #options: RunQueueOptions;
  /** By the digest of the task: what was asked for and has not come. Cells that are the same are one run. */
  readonly #known = new Map<string, Promise<Replicate>>();
  /** What was asked for in this turn of the event loop. */
  #next: Asked[] = [];
  /** By its id: what is in the queue. */
  readonly #jobs = new Map<string, Job>();
  #together = 1;
  /** Those that wait for a place in the queue. */
  readonly #waiting: (() => void)[] = [];
  readonly #ended = new AbortController();
  /** Answers so far. */
  #answers = 0;

  constructor(client: QueueClient, queue: Queue<RunJob, RunAnswer>, events: QueueEvents, options: RunQueueOptions) {
    this.#client = client;
    this.#queue = queue;
    this.#events = events;
    this.#options = options;
    events.on('completed', ({ jobId, returnvalue }) => this.#answered(jobId, returnvalue as unknown as RunAnswer));
    events.on('failed', ({ jobId, failedReason }) => this.#failed(jobId, failure(failedReason)));
    options.signal?.addEventListener('abort', this.#stop);
    void this.#watch();
  }

  async run(given: ReplicationTask): Promise<Replicate> {
    const task = { ...given, scenario: withoutFiles(given) };
    const key = sha256Hex(JSON.stringify(task));
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    while (this.#known.size >= MOST_IN_QUEUE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#ended.signal.throwIfAborted();
    const answer = new Promise<Replicate>((done, failed) => void this.#next.push({ key, task, done, failed }));
    this.#known.set(key, answer);
    if (this.#next.length === 1) setImmediate(this.#send);
    return answer;
  }

  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#stop);
    const left = [...this.#jobs.keys()];
    this.#fail(new Error('closed'));
    if (this.#client.isReady) await Promise.race([this.#tidy(left).catch(() => {}), pause(MOST_AWAY_MS)]);
    await Promise.allSettled([this.#events.close(), this.#queue.close()]);
    this.#client.destroy();
  }

  readonly #stop = (): void => this.#fail(this.#options.signal?.reason);

  readonly #send = (): void => {
    const all = this.#next;
    this.#next = [];
    for (let from = 0; from < all.length; from += this.#together) {
      const asked = all.slice(from, from + this.#together);
      const data = { weir: VERSION, tasks: asked.map(({ task }) => task) };
      const id = sha256Hex(asked.map(({ key }) => key).join());
      this.#jobs.set(id, { data, asked });
      this.#add(id, data);
    }
  };

  /** Ends everything that was asked for. */
  #fail(error: unknown): void {
    if (!this.#ended.signal.aborted) this.#ended.abort(error);
    this.#send();
    for (const id of this.#jobs.keys()) this.#failed(id, error);
  }

  #add(jobId: string, data: RunJob): void {
    // What is lost on the way is found out by the watch.
    if (!this.#ended.signal.aborted) this.#queue.add('run', data, { jobId }).catch(() => {});
  }

  #answered(id: string, answer: RunAnswer): void {
    if ('refused' in answer) {
      this.#failed(id, refusal(answer.refused));
      return;
    }
    const asked = this.#end(id);
    if (asked.length === 0) return;
    this.#answers += 1;
    this.#together = Math.max(1, Math.min(Math.floor(TOGETHER_MS / answer.msEach), MOST_TOGETHER));
    for (const [k, { done }] of asked.entries()) done(answer.runs[k]!);
  }

  #failed(id: string, error: unknown): void {
    for (const { failed } of this.#end(id)) failed(error);
  }

  /** What was asked for with a job that is over. */
  #end(id: string): readonly Asked[] {
    const asked = this.#jobs.get(id)?.asked ?? [];
    this.#jobs.delete(id);
    for (const { key } of asked) {
      this.#known.delete(key);
      this.#waiting.shift()?.();
    }
    return asked;
  }

  /** While it is open: whether Redis answers, whether there are workers, and whether every job is there. */
  async #watch(): Promise<void> {
    const { signal } = this.#ended;
    let [hasWorkers, answers, silentMs] = [true, 0, 0];
    while (!signal.aborted) {
      await pause(BEAT_MS, signal);
      const over = new AbortController();
      const isThere = await Promise.race([this.#isThere(), pause(MOST_AWAY_MS, over.signal).then(() => false)]);
      over.abort();
      if (!isThere) {
        if (!signal.aborted) this.#fail(away(`it was away for ${MOST_AWAY_MS / 1000} s.`));
        return;
      }
      silentMs = this.#answers === answers ? silentMs + BEAT_MS : 0;
      answers = this.#answers;
      if (silentMs < LOST_AFTER_MS) continue;
      silentMs = 0;
      const isTaken = await this.#queue.getWorkersCount().then(
        (n) => n > 0,
        () => true,
      );
      if (!isTaken && hasWorkers) this.#options.onNotice?.('No worker takes runs now. Start one with weir worker.');
      hasWorkers = isTaken;
      await this.#findLost().catch(() => {});
    }
  }

  /** Resolves once Redis answers. */
  async #isThere(): Promise<boolean> {
    while (!this.#ended.signal.aborted) {
      try {
        await this.#client.ping();
        return true;
      } catch {
        await pause(BEAT_MS, this.#ended.signal);
      }
    }
    return false;
  }

  async #findLost(): Promise<void> {
    for (const [id, { data }] of this.#jobs)
      if ((await this.#queue.getJobState(id)) === 'unknown' && this.#jobs.has(id)) this.#add(id, data);
  }

  /** Removes what this run left: its jobs, and if no other run uses the queue, the queue. */
  async #tidy(left: readonly string[]): Promise<void> {
    await Promise.all(left.map((id) => this.#queue.remove(id).catch(() => 0)));
    if (await isLast(this.#client, ASKS)) await this.#queue.obliterate({ force: true });
  }
}

function refusal(why: string): Failure {
  return new Failure('worker_failed', {
    what: 'A worker refused a run.',
    why,
    fix: `Let all workers be of version ${VERSION}.`,
  });
}

function failure(reason: string): Error {
  if (!reason.includes('stalled')) return new Error(`a worker could not make a run: ${reason}`);
  return new Failure('worker_failed', {
    what: `A run ended its worker ${MOST_STALLS + 1} times.`,
    why: 'Perhaps the machine has too little memory for it.',
    fix: 'Look at what the workers say, or run it on this machine without --workers.',
  });
}
