// The generators of a run, seen from the side that asks: `weir worker` processes, each of which sends its share of the schedule.
//
//   here ─► a job for each worker ─► generator: connects, warms up, reads the clock of Redis, is ready
//   here ─► go, from this cycle on ─► generator: sends request k of the schedule if k mod n is its number
//   here ◄─ rows of sent and answered requests, four times a second; merged into one log at the end
//
// Generators use the clock of Redis, which is mapped to the cycles of the target here. One that is silent for three seconds is lost.
import { randomBytes } from 'node:crypto';
import { Queue } from 'bullmq';
import { Failure } from '../../core/schema/failure.js';
import { pause } from '../../core/time/wall.js';
import { VERSION } from '../../core/version.js';
import { type ClockOffset, type Connection, movedMs, TOLERATED_MOVE } from '../../harness/live/connection.js';
import type { Generators, LoadsElsewhere, LoadTask, Merged } from '../../harness/live/elsewhere.js';
import type { RequestLogOptions } from '../../harness/live/request-log.js';
import type { Sending, Stage } from '../../harness/live/sending.js';
import type { MadeOnNode } from '../../harness/live/weir-target.js';
import { withoutFiles } from '../../harness/scenario/file-source.js';
import {
  apartMs,
  inTime,
  keysOf,
  type LoadJob,
  MOST_SILENT_MS,
  merged,
  originOf,
  type ReceivedMessage,
  type Row,
  type RunState,
  readRedisTime,
  replayRow,
  type ShareEnd,
} from './load-job.js';
import { ASKS, away, isLast, LOAD_QUEUE, openQueueClient, type QueueClient, RUN_QUEUE } from './run-queue.js';

/** Polling interval, and messages per read. */
const POLL_MS = 100;
const MOST_READ = 200;
const MOST_READY_POLLS = 30_000 / POLL_MS;

interface Generator {
  name: string;
  uncertaintyMs?: number;
  silent: number;
  readonly rows: Row[];
  end?: ShareEnd;
  isLost?: true;
}

export const openGenerators: LoadsElsewhere['openGenerators'] = async (redis, connection, task) => {
  const client = await openQueueClient(redis);
  await client.clientSetName(ASKS);
  return new LoadGenerators(client, connection, { ...task, scenario: withoutFiles(task) });
};

class LoadGenerators implements Generators {
  readonly #queue: Queue<LoadJob>;
  readonly #run = randomBytes(8).toString('hex');
  readonly #keys = keysOf(this.#run);
  readonly #all: Generator[] = [];
  readonly #over = new AbortController();
  #state: RunState = { state: 'wait' };
  #redis: ClockOffset | undefined;
  #failure: Failure | undefined;
  #stage: Stage | undefined;
  #onPoll: () => void = () => {};

  constructor(
    readonly client: QueueClient,
    readonly connection: Connection,
    readonly task: LoadTask,
  ) {
    const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
    this.#queue = new Queue(LOAD_QUEUE, { connection: client, prefix: RUN_QUEUE.prefix, defaultJobOptions });
    this.#queue.on('error', () => {});
  }

  async gather(made: MadeOnNode | undefined, signal: AbortSignal | undefined): Promise<void> {
    this.#redis = await this.#answerOf(readRedisTime(this.client, this.connection.clock));
    const of = await this.#answerOf(this.#queue.getWorkersCount());
    if (of === 0)
      throw cannotSend(
        'Nothing was sent.',
        'There is no worker that sends load.',
        `Start some with weir worker --url ${originOf(this.task.url)}.`,
      );
    await this.#publish({ state: 'wait' });
    const job = { ...this.task, made, weir: VERSION, run: this.#run, of };
    const jobs = Array.from({ length: of }, (_, index) => ({ name: 'load', data: { ...job, index } }));
    for (const { data } of jobs) this.#all.push({ name: `${data.index + 1}`, silent: 0, rows: [] });
    await this.#answerOf(this.#queue.addBulk(jobs));
    const missing = () => this.#all.filter(({ uncertaintyMs }) => uncertaintyMs === undefined).length;
    for (let polls = 0; missing() > 0; polls += 1) {
      if (polls === MOST_READY_POLLS)
        throw cannotSend(
          `${missing()} of ${of} workers did not get ready to send.`,
          'They send for somebody else, or make runs that take long.',
          'Give the same command again later.',
        );
      await pause(POLL_MS, signal);
      signal?.throwIfAborted();
      await this.#poll();
      if (this.#failure !== undefined) throw this.#failure;
    }
    void this.#watch();
  }

  sending(stage: Stage): Sending {
    const { time } = this.connection;
    this.#stage = stage;
    const redis = this.#redis!;
    const most = this.#all.reduce((all, { uncertaintyMs = 0 }) => Math.max(all, uncertaintyMs), 0);
    const uncertaintyMs = time.uncertaintyMs + redis.uncertaintyMs + most;
    const shiftMs = time.offsetMs - redis.offsetMs;
    return {
      isScheduled: true,
      start: () => void this.#publish({ state: 'go', firstCycle: stage.firstCycle, shiftMs, uncertaintyMs }),
      stop: () => void this.#publish({ state: 'stop' }),
      landed: async () => {
        while (!this.#isDone()) await new Promise<void>((resolve) => (this.#onPoll = resolve));
      },
    };
  }

  async merged(options: RequestLogOptions): Promise<Merged> {
    if (this.#failure !== undefined) throw this.#failure;
    const before = this.#redis!;
    const after = await this.#answerOf(readRedisTime(this.client, this.connection.clock));
    const found = merged(this.#all, { ...options, slackMs: options.slackMs + apartMs(before, after) });
    const moved = movedMs(before, after);
    if (moved <= TOLERATED_MOVE * options.cycleMs) return found;
    return { ...found, unsound: `The clock of Redis moved against ours by ${moved.toFixed(1)} ms during the run.` };
  }

  async close(): Promise<void> {
    this.#over.abort();
    if (this.client.isReady) await Promise.race([this.#tidy().catch(() => {}), pause(MOST_SILENT_MS)]);
    await this.#queue.close().catch(() => {});
    this.client.destroy();
  }

  /** Removes jobs not yet taken. A generator that still sends ends at its next poll. */
  async #tidy(): Promise<void> {
    await this.#publish({ state: 'stop' });
    const jobs = await this.#queue.getJobs(['wait']);
    await Promise.all(jobs.filter(({ data }) => data.run === this.#run).map((job) => job.remove()));
    await this.client.del(this.#keys.messages);
    if (await isLast(this.client, ASKS)) await this.#queue.obliterate({ force: true });
  }

  #isDone(): boolean {
    return this.#failure !== undefined || this.#all.every(({ end, isLost }) => end !== undefined || isLost);
  }

  async #publish(state: RunState): Promise<void> {
    this.#state = state;
    await this.#refresh().catch(() => {});
  }

  async #refresh(): Promise<void> {
    const text = JSON.stringify(this.#state);
    await this.#answerOf(this.client.sendCommand(['SET', this.#keys.state, text, 'PX', String(MOST_SILENT_MS)]));
  }

  async #poll(): Promise<void> {
    await this.#refresh();
    for (const one of this.#all) one.silent += 1;
    for (let isMore = true; isMore; ) {
      const read = (await this.#answerOf(this.client.lPopCount(this.#keys.messages, MOST_READ))) ?? [];
      for (const text of read) this.#receive(JSON.parse(text) as ReceivedMessage);
      isMore = read.length === MOST_READ;
    }
    this.#onPoll();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted && !this.#isDone()) {
      await pause(POLL_MS, signal);
      try {
        await this.#poll();
      } catch (error) {
        this.#leave('Redis does not answer.', error as Failure);
      }
      for (const one of this.#all) {
        if (one.isLost || one.end !== undefined || one.silent <= MOST_SILENT_MS / POLL_MS) continue;
        one.isLost = true;
        this.#leave(`Generator ${one.name} was lost.`);
      }
    }
  }

  #receive(message: ReceivedMessage): void {
    const one = this.#all[message.from]!;
    one.silent = 0;
    one.name = message.name;
    switch (message.type) {
      case 'ready':
        one.uncertaintyMs = message.uncertaintyMs;
        return;
      case 'rows':
        for (const row of message.rows) {
          one.rows.push(row);
          if (this.#stage !== undefined) replayRow(row, this.#stage.observer);
        }
        return;
      case 'gone':
        this.#stage?.left(message.words);
        return;
      case 'end':
        one.end = message.end;
        return;
      case 'failed':
        this.#leave(message.words, cannotSend(`Generator ${one.name} cannot send.`, message.words, message.fix));
    }
  }

  #leave(words: string, failure?: Failure): void {
    this.#failure ??= failure;
    void this.#publish({ state: 'stop' });
    this.#stage?.left(words);
    this.#onPoll();
  }

  /** @throws Failure `store_away` if Redis does not answer in time */
  #answerOf<T>(answer: Promise<T>): Promise<T> {
    return inTime(answer).catch((error: Error) => {
      throw away(error.message);
    });
  }
}

function cannotSend(what: string, why: string, fix = 'See what the workers say, or send from this machine.'): Failure {
  return new Failure('worker_failed', { what, why, fix });
}
