// Runs by the workers of a queue: BullMQ over one Redis, from which each `weir worker` takes as many runs at once as it has threads.
//
//   here:    task ─► job, its id the digest of the task ─► Redis                    Redis ─► what is kept of the run, once
//   worker:                                                Redis ─► job ─► thread ─► Redis
//
// A job whose worker was killed is given to another after two seconds. One that Redis lost is asked for again: a run is a pure function of its task,
// so it may be made twice, and counts once. At the end of a run its keys are removed, and with the last run those of the queue.
import { Queue, QueueEvents } from 'bullmq';
import { readDocument } from '../scenario/document.js';
import { FileSource } from '../scenario/file-source.js';
import type { Scenario } from '../scenario/scenario-schema.js';
import { sha256Hex } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import { redisPlace } from '../store/redis/place.js';
import { openClient } from '../store/redis/wire.js';
import { pause } from '../time/wall.js';
import { VERSION } from '../version.js';
import type { Replicate, ReplicationTask } from './replication.js';
import type { RunPlace, RunPool } from './run-pool.js';

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
  readonly task: ReplicationTask;
}

/** What it gives back; `refused`: why it does not make this run. */
export type RunAnswer = { readonly run: Replicate } | { readonly refused: string };

/** A run that ended its worker so often is given to no other. */
export const MOST_STALLS = 3;

/** How many jobs are in the queue at once, at most. */
const MOST_IN_QUEUE = 200;

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
  readonly data: RunJob;
  readonly answer: Promise<Replicate>;
  readonly done: (run: Replicate) => void;
  readonly failed: (error: unknown) => void;
}

class RunQueue implements RunPool {
  readonly most = MOST_IN_QUEUE;
  readonly #client: QueueClient;
  readonly #queue: Queue<RunJob, RunAnswer>;
  readonly #events: QueueEvents;
  readonly #options: RunQueueOptions;
  /** By the id of the job: what was asked for and has not come. */
  readonly #asked = new Map<string, Asked>();
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
    events.on('failed', ({ jobId, failedReason }) => this.#end(jobId)?.failed(failure(failedReason)));
    options.signal?.addEventListener('abort', this.#stop);
    void this.#watch();
  }

  async run(task: ReplicationTask): Promise<Replicate> {
    const data: RunJob = { weir: VERSION, task: { ...task, scenario: withoutFiles(task) } };
    const id = sha256Hex(JSON.stringify(data));
    // Cells that are the same are one job.
    const known = this.#asked.get(id);
    if (known !== undefined) return known.answer;
    while (this.#asked.size >= MOST_IN_QUEUE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#ended.signal.throwIfAborted();
    let done!: Asked['done'];
    let failed!: Asked['failed'];
    const answer = new Promise<Replicate>((resolve, reject) => {
      done = resolve;
      failed = reject;
    });
    this.#asked.set(id, { data, answer, done, failed });
    this.#add(id, data);
    return answer;
  }

  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#stop);
    const left = [...this.#asked.keys()];
    this.#fail(new Error('closed'));
    if (this.#client.isReady) await Promise.race([this.#tidy(left).catch(() => {}), pause(MOST_AWAY_MS)]);
    await Promise.allSettled([this.#events.close(), this.#queue.close()]);
    this.#client.destroy();
  }

  readonly #stop = (): void => this.#fail(this.#options.signal?.reason);

  /** Ends everything that was asked for. */
  #fail(error: unknown): void {
    if (!this.#ended.signal.aborted) this.#ended.abort(error);
    for (const id of this.#asked.keys()) this.#end(id)?.failed(error);
  }

  #add(jobId: string, data: RunJob): void {
    // What is lost on the way is found out by the watch.
    this.#queue.add('run', data, { jobId }).catch(() => {});
  }

  #answered(id: string, answer: RunAnswer): void {
    const asked = this.#end(id);
    if (asked === undefined) return;
    this.#answers += 1;
    if ('run' in answer) asked.done(answer.run);
    else asked.failed(refusal(answer.refused));
  }

  #end(id: string): Asked | undefined {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    this.#waiting.shift()?.();
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
    for (const [id, { data }] of this.#asked)
      if ((await this.#queue.getJobState(id)) === 'unknown' && this.#asked.has(id)) this.#add(id, data);
  }

  /** Removes what this run left: its jobs, and if no other run uses the queue, the queue. */
  async #tidy(left: readonly string[]): Promise<void> {
    await Promise.all(left.map((id) => this.#queue.remove(id).catch(() => 0)));
    if (await isLast(this.#client, ASKS)) await this.#queue.obliterate({ force: true });
  }
}

/** The scenario with the definition that it names in it: a worker does not have its files. @throws Failure `wrong_usage` for logs */
export function withoutFiles({ path, scenario }: Pick<ReplicationTask, 'path' | 'scenario'>): unknown {
  const { limiter } = scenario as Scenario;
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  const read = (name: string) => readDocument(new FileSource(path).definition(name), name).value;
  const value =
    typeof definition === 'string'
      ? { ...(scenario as object), limiter: { ...limiter, definition: read(definition) } }
      : scenario;
  if (namesFiles(value))
    throw new Failure('wrong_usage', {
      what: 'The scenario cannot be sent to workers.',
      why: `${path} reads a log, which workers do not have.`,
      fix: 'Leave --workers out.',
    });
  return value;
}

/** Whether a scenario names files: a worker reads none, whatever is in its queue. */
export function namesFiles(scenario: unknown): boolean {
  const { arrivals, limiter } = (scenario ?? {}) as { readonly arrivals?: unknown; readonly limiter?: unknown };
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  return typeof definition === 'string' || (Array.isArray(arrivals) && arrivals.some((one) => one?.model === 'log'));
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
