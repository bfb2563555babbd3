// Runs by workers: BullMQ over one Redis, from which each `weir worker` takes as many runs at once as it has threads.
//
//   here:    task ─► job, its id the digest of its tasks ─► Redis                   Redis ─► results, each counted once
//   worker:                                                Redis ─► job ─► threads ─► Redis
//
// A job of a killed worker goes to another after two seconds. A job that Redis lost is added again: a run is a pure function of its task
// and may be repeated. The keys of a run are removed at its end, those of the queue with the last run.

import { Queue, QueueEvents } from 'bullmq';
import { redisPlace } from '../../core/redis/place.js';
import { openClient } from '../../core/redis/wire.js';
import { sha256Hex } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import { pause } from '../../core/time/wall.js';
import { VERSION } from '../../core/version.js';
import { withoutFiles } from '../../harness/scenario/file-source.js';
import type { Replicate, ReplicationTask, RunPlace, RunPool } from '../../harness/simulate/replication.js';

export const ASKS = 'weir-asks-for-runs';
export const MAKES = 'weir-makes-runs';

export const RUN_QUEUE = { name: 'runs', prefix: 'weir' } as const;

export const LOAD_QUEUE = 'loads';

export interface RunJob {
  readonly weir: string;
  readonly tasks: readonly ReplicationTask[];
}

/** `msEach`: ms per run. `refused`: why the worker makes none. */
export type RunAnswer = { readonly runs: readonly Replicate[]; readonly msEach: number } | { readonly refused: string };

export const MOST_STALLS = 3;

const MOST_IN_QUEUE = 200;

/** A job has some ms of overhead, so short runs share one: up to this many ms and MOST_TOGETHER runs. */
const TOGETHER_MS = 40;
export const MOST_TOGETHER = 16;

/** In ms: interval of checks, longest absence of Redis, and silence after which lost jobs are looked for. */
const BEAT_MS = 500;
const MOST_AWAY_MS = 5_000;
const LOST_AFTER_MS = 2_000;

export type QueueClient = Awaited<ReturnType<typeof openClient>>;

/** To be destroyed by the caller. @throws Failure `store_away`, `wrong_usage` */
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

export async function openRunQueue(url: string, options: RunQueueOptions = {}): Promise<RunPool> {
  const client = await openQueueClient(url);
  await client.clientSetName(ASKS);
  const queue = new Queue<RunJob, RunAnswer>(RUN_QUEUE.name, {
    connection: client,
    prefix: RUN_QUEUE.prefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', () => {});
  // From the last entry on: no event is missed before the connection listens.
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
  /** Runs in progress by the digest of their task: equal cells share one run. */
  readonly #known = new Map<string, Promise<Replicate>>();
  #next: Asked[] = [];
  readonly #jobs = new Map<string, Job>();
  #together = 1;
  readonly #waiting: (() => void)[] = [];
  readonly #ended = new AbortController();
  #answers = 0;

  constructor(
    readonly client: QueueClient,
    readonly queue: Queue<RunJob, RunAnswer>,
    readonly events: QueueEvents,
    readonly options: RunQueueOptions,
  ) {
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
    this.options.signal?.removeEventListener('abort', this.#stop);
    const left = [...this.#jobs.keys()];
    this.#fail(new Error('closed'));
    if (this.client.isReady) await Promise.race([this.#tidy(left).catch(() => {}), pause(MOST_AWAY_MS)]);
    await Promise.allSettled([this.events.close(), this.queue.close()]);
    this.client.destroy();
  }

  readonly #stop = (): void => this.#fail(this.options.signal?.reason);

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

  #fail(error: unknown): void {
    if (!this.#ended.signal.aborted) this.#ended.abort(error);
    this.#send();
    for (const id of this.#jobs.keys()) this.#failed(id, error);
  }

  #add(jobId: string, data: RunJob): void {
    // The watch finds jobs that are lost on the way.
    if (!this.#ended.signal.aborted) this.queue.add('run', data, { jobId }).catch(() => {});
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

  #end(id: string): readonly Asked[] {
    const asked = this.#jobs.get(id)?.asked ?? [];
    this.#jobs.delete(id);
    for (const { key } of asked) {
      this.#known.delete(key);
      this.#waiting.shift()?.();
    }
    return asked;
  }

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
      const isTaken = await this.queue.getWorkersCount().then(
        (n) => n > 0,
        () => true,
      );
      if (!isTaken && hasWorkers) this.options.onNotice?.('No worker takes runs now. Start one with weir worker.');
      hasWorkers = isTaken;
      await this.#findLost().catch(() => {});
    }
  }

  async #isThere(): Promise<boolean> {
    while (!this.#ended.signal.aborted) {
      try {
        await this.client.ping();
        return true;
      } catch {
        await pause(BEAT_MS, this.#ended.signal);
      }
    }
    return false;
  }

  async #findLost(): Promise<void> {
    for (const [id, { data }] of this.#jobs)
      if ((await this.queue.getJobState(id)) === 'unknown' && this.#jobs.has(id)) this.#add(id, data);
  }

  async #tidy(left: readonly string[]): Promise<void> {
    await Promise.all(left.map((id) => this.queue.remove(id).catch(() => 0)));
    if (await isLast(this.client, ASKS)) await this.queue.obliterate({ force: true });
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
