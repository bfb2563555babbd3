// A generator: a worker that sends its share of a load for generators.ts, at the instants of the whole schedule.
//
//   job ─► connect, warm up, the clock of Redis ─► ready ─► go ─► send, give rows ─► the clock once more ─► end
//
// It ends when its run no longer exists.
import { hostname } from 'node:os';
import { Failure } from '../../core/schema/failure.js';
import { startOf } from '../../core/time/cycle.js';
import { pause } from '../../core/time/wall.js';
import { VERSION } from '../../core/version.js';
import { type Connection, connectTo, movedMs, warmUp } from '../../harness/live/connection.js';
import { RequestsInFlight } from '../../harness/live/in-flight.js';
import { LAST_WAIT_MS, warmer } from '../../harness/live/live-run.js';
import { pacedSender, upTo } from '../../harness/live/paced-sender.js';
import { RunClock } from '../../harness/live/run-clock.js';
import type { Stage } from '../../harness/live/sending.js';
import { ForeignTarget, type Target } from '../../harness/live/target.js';
import { warmUpSender } from '../../harness/live/warm-up.js';
import { WeirTarget } from '../../harness/live/weir-target.js';
import { parseSent } from '../../harness/scenario/load-scenario.js';
import { scheduleOf, trafficOf } from '../../harness/simulate/scenario-traffic.js';
import type { CycleCounts } from '../../harness/traffic/requests.js';
import {
  apartMs,
  inTime,
  keysOf,
  type LoadJob,
  type Message,
  originOf,
  PackedRequests,
  type RunState,
  readRedisTime,
  type ShareEnd,
} from './load-job.js';
import type { QueueClient } from './run-queue.js';

const BEAT_MS = 250;
const POLL_MS = 50;
/** Unread messages of a generator expire after this. */
const KEPT_S = 60;

/** @param targets allowed origins: anyone with access to the queue can request a load */
export async function generate(job: LoadJob, client: QueueClient, targets: readonly string[]): Promise<void> {
  const channel = new RunChannel(client, job);
  try {
    if (job.weir !== VERSION)
      return await channel.send({
        type: 'failed',
        words: `The worker on ${hostname()} is version ${VERSION}, and ${job.weir} asks.`,
        fix: `Let all workers be of version ${job.weir}.`,
      });
    await send(job, client, channel, targets);
  } catch (error) {
    await channel.send({ type: 'failed', ...wordsOf(error) }).catch(() => {});
  }
}

function wordsOf(error: unknown): { words: string; fix?: string } {
  if (!(error instanceof Failure)) return { words: error instanceof Error ? error.message : String(error) };
  const { code, what, why = '', fix } = error;
  const words = `${what} ${why}`.trim();
  return code === 'remote_not_allowed' && fix !== undefined ? { words, fix } : { words };
}

function refuseOtherTargets({ url, connect }: LoadJob, targets: readonly string[]): void {
  for (const one of [url, ...(connect.alsoUrls ?? [])]) {
    const origin = originOf(one);
    if (targets.includes(origin)) continue;
    throw new Failure('remote_not_allowed', {
      what: `Nothing was sent to ${origin}.`,
      why: `The worker on ${hostname()} sends load only to ${targets.join(', ')}.`,
      fix: `If it is yours to test, start the workers with --url ${origin}.`,
    });
  }
}

async function send(job: LoadJob, client: QueueClient, channel: RunChannel, targets: readonly string[]): Promise<void> {
  refuseOtherTargets(job, targets);
  const scenario = parseSent(job.scenario, job.path).at(job.cycleMs);
  await warmUpSender();
  const connection = await connectTo(job.url, {
    ...job.connect,
    allowRemote: true,
    headers: scenario.target?.headers,
    cycleMs: job.made === undefined ? job.cycleMs : undefined,
  });
  try {
    const traffic = await trafficOf(scenario, job.seed);
    const weir = job.made && new WeirTarget(connection.endpoint, job.made, scenario.plan);
    if (weir !== undefined) await warmUp(connection, weir.peek);
    const target = weir ?? new ForeignTarget(connection.endpoint, scenario.target ?? {}, traffic.names);
    const before = await readRedisTime(client, connection.clock);
    await channel.send({ type: 'ready', uncertaintyMs: before.uncertaintyMs });
    const go = await channel.waitForGo();
    if (go === undefined) return;
    const schedule = upTo(job.requests, scheduleOf(traffic, scenario));
    const warm = warmer(connection, target);
    const { cycles } = traffic;
    const options = { connection, target, schedule, cycles, warm, go, offsetMs: before.offsetMs };
    const sent = await sendShare(job, options, channel);
    const after = await readRedisTime(client, connection.clock);
    const { mostConnected: connections, waited } = connection.pool;
    const [apart, moved] = [apartMs(before, after), movedMs(before, after)];
    await channel.send({ type: 'end', end: { ...sent, connections, waited, apartMs: apart, movedMs: moved } });
  } finally {
    await connection.close();
  }
}

interface ShareOptions {
  readonly connection: Connection;
  readonly target: Target;
  readonly schedule: Iterable<CycleCounts>;
  readonly cycles: number;
  readonly warm: Stage['warm'];
  readonly go: Go;
  /** Redis's unix ms at the zero of our monotonic clock. */
  readonly offsetMs: number;
}

async function sendShare(
  job: LoadJob,
  options: ShareOptions,
  channel: RunChannel,
): Promise<Pick<ShareEnd, 'rows' | 'lagMs' | 'pauses'>> {
  const { connection, target, schedule, cycles, warm, go, offsetMs } = options;
  const { pool, timeoutMs } = connection;
  const { firstCycle, uncertaintyMs } = go;
  const time = { cycleMs: job.cycleMs, offsetMs: offsetMs + go.shiftMs, uncertaintyMs };
  const running = new RunClock(connection.clock, time);
  const { clock, pauses } = running;
  const observer = new PackedRequests();
  let gone: string | undefined;
  const onGone = (words: string) => {
    gone ??= words;
  };
  const inFlight = new RequestsInFlight({ clock, pool, target, observer, timeoutMs, onGone });
  const sending = pacedSender(
    schedule,
    { clock, firstCycle, inFlight, observer, uncertaintyMs, warm },
    job.byInstants,
    job,
  );
  const over = new AbortController();
  const sendAll = async () => {
    await clock.sleepUntil(startOf(firstCycle + cycles, job.cycleMs), channel.stopped);
    sending.stop();
    const mostMs = channel.stopped.aborted ? LAST_WAIT_MS : timeoutMs + LAST_WAIT_MS;
    await Promise.race([inFlight.landed(), clock.sleep(mostMs, over.signal)]);
    inFlight.giveUp();
    over.abort();
  };
  sending.start();
  try {
    const sent = sendAll();
    let rows = 0;
    for (let isLast = false; !isLast; ) {
      await pause(BEAT_MS, over.signal);
      isLast = over.signal.aborted;
      const some = observer.take();
      rows += some.length;
      await channel.send({ type: 'rows', rows: some });
      if (gone !== undefined) await channel.send({ type: 'gone', words: gone });
      if ((await channel.readState())?.state !== 'go') channel.stop();
    }
    await sent;
    if (running.bug !== undefined) throw running.bug;
    return { rows, lagMs: running.lagMs, pauses };
  } finally {
    sending.stop();
    inFlight.giveUp();
    running.stop();
  }
}

type Go = Extract<RunState, { state: 'go' }>;

class RunChannel {
  readonly #from: Pick<LoadJob, 'index'>;
  readonly #keys: ReturnType<typeof keysOf>;
  readonly #name = `${hostname()}/${process.pid}`;
  readonly #stopped = new AbortController();
  readonly stopped = this.#stopped.signal;

  constructor(
    readonly client: QueueClient,
    job: Pick<LoadJob, 'index' | 'run'>,
  ) {
    this.#from = job;
    this.#keys = keysOf(job.run);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async send(message: Message): Promise<void> {
    const text = JSON.stringify({ from: this.#from.index, name: this.#name, ...message });
    await inTime(this.client.multi().rPush(this.#keys.messages, text).expire(this.#keys.messages, KEPT_S).exec());
  }

  /** Undefined if the run no longer exists. */
  async readState(): Promise<RunState | undefined> {
    const text = await inTime(this.client.get(this.#keys.state));
    return text === null ? undefined : (JSON.parse(text) as RunState);
  }

  /** Waits until all are ready; undefined if the run will not begin. */
  async waitForGo(): Promise<Go | undefined> {
    for (let polls = 0; ; polls += 1) {
      const state = await this.readState();
      if (state?.state === 'go') return state;
      if (state?.state !== 'wait') return undefined;
      if (polls % (BEAT_MS / POLL_MS) === 0) await this.send({ type: 'rows', rows: [] });
      await pause(POLL_MS);
    }
  }
}
