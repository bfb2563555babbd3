// A live run from end to end. Every wait is bounded; stopping ends all of them.
//
//   prepare ─► warm up ─► │ cycles with requests │ drain │ ─► answers in flight ─► rest of the event stream ─► the clock once more

import { bearer, type Reached } from '../../api/client/connect.js';
import type { Plan } from '../../core/limiter/plan.js';
import { startOf } from '../../core/time/cycle.js';
import { cycles } from '../../core/time/cycles.js';
import type { WallClock } from '../../core/time/wall.js';
import type { CycleRow, RunShape } from '../outcome/cycle-row.js';
import type { ClientFigures, TransitionSeen } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import type { AnswerTally } from './answer-tally.js';
import { type Connection, movedMs, type NodeTime, readNodeTime, warmUp } from './connection.js';
import type { Generators, Merged } from './elsewhere.js';
import { EventListener, type EventSeen, type ReceivedEvent } from './event-listener.js';
import { RequestsInFlight } from './in-flight.js';
import { ObservedRows } from './observed.js';
import type { Pacing } from './paced-sender.js';
import { RequestLog } from './request-log.js';
import { RunClock } from './run-clock.js';
import type { Sending, Stage } from './sending.js';
import { ForeignTarget, type Target } from './target.js';
import { WeirTarget } from './weir-target.js';

export interface LiveRun extends RunShape {
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly sending: (cycle: number) => { readonly planned: number; readonly sent: number };
}

type OfScenario =
  | 'name'
  | 'question'
  | 'notes'
  | 'seed'
  | 'keyed'
  | 'phases'
  | 'target'
  | 'costs'
  | 'expectations'
  | 'clients';

/** A scenario fits. `keyed`: the names are the keys of one contract. `target`: not a node. */
export interface LiveRunOptions extends Partial<Pick<LoadedScenario, OfScenario>> {
  readonly plan: Plan;
  readonly names: readonly string[];
  readonly cycles: number;
  readonly drain: number;
  readonly skippedLines?: number | undefined;
  readonly key?: string | undefined;
  readonly pacing?: Pacing | undefined;
  readonly top?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRow?: ((row: CycleRow<LiveRun>) => void) | undefined;
  readonly answers?: AnswerTally | undefined;
  readonly sending: (stage: Stage) => Sending;
}

export interface LiveSeen extends Merged {
  readonly asked: LiveRunOptions;
  readonly target: Target;
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly events: readonly (readonly ReceivedEvent[])[] | undefined;
  /** All events of earlier cycles have arrived; Infinity without a listener. */
  readonly reportedBefore: number;
  readonly streamLost: boolean;
  readonly gone: string | undefined;
  readonly isPartial: boolean;
  /** Whether requests had instants to keep. */
  readonly isScheduled: boolean;
  readonly clients: ClientFigures[] | undefined;
  readonly clientSeries: Series | undefined;
  readonly time: NodeTime;
  readonly movedMs: number;
  /** The first exception of a task of the run. */
  readonly bug: unknown;
}

const ROUNDING_MS = 2;
const RUN_UP_MS = 40;
export const LAST_WAIT_MS = 1_000;
const GRACE_MS = 1_500;
/** Generators start later by this, and their rows arrive later by this. */
const ELSEWHERE_MS = 1_000;
/** A write to disk takes less, on all but the slowest disks. */
const DISK_MS = 100;

/**
 * @param generators send in place of this process
 * @throws Failure `node_unreachable`, `answer_unreadable`, any refusal of the node; of generators `worker_failed`, `store_away`
 */
export async function runLive(
  connection: Connection,
  options: LiveRunOptions,
  generators?: Generators,
): Promise<LiveSeen> {
  const { endpoint, nodes, clock: base, time } = connection;
  const { names, signal } = options;
  const [node] = nodes;
  const weir = await WeirTarget.prepare(connection, options);
  const target = weir ?? new ForeignTarget(endpoint, options.target ?? {}, names);
  if (weir !== undefined) await warmUp(connection, weir.peek, signal);
  await generators?.gather(weir?.made, signal);
  const running = new RunClock(base, time);
  const { clock, pauses } = running;
  const warm = weir && warmer(connection, weir);
  const isElsewhere = generators !== undefined;
  const session = new LiveSession({ clock, asked: options, connection, target, isElsewhere, warm });
  try {
    await session.listen(weir);
    await session.run();
    await session.settle();
    const after = await session.timeAfter(node);
    const seen = session.seen({ lagMs: running.lagMs, pauses, movedMs: movedMs(time, after) });
    return { ...seen, ...(await generators?.merged(session.requestLog.options)), bug: running.bug };
  } finally {
    session.end();
    running.stop();
  }
}

/** Whether the cycle in which a request is sent matters: a schedule keeps it in its cycle, and the limiter counts by cycles. */
export function plansByCycle({ plan, pacing, clients = [] }: LiveRunOptions): boolean {
  return plan.rule === undefined && pacing !== 'instant' && clients.length === 0;
}

/** Opens missing connections. Errors are ignored here: the requests of the run will report them. */
export function warmer({ pool, timeoutMs, connections }: Connection, weir: WeirTarget): (wanted: number) => void {
  return (wanted) => {
    const n = Math.min(wanted, connections);
    if (n > pool.connected) pool.warm(n, weir.peek, timeoutMs).catch(() => {});
  };
}

export function transitionsIn(events: readonly EventSeen[]): TransitionSeen[] {
  return events.filter(({ event }) => event === 'transition').map(seenOf);
}

function seenOf({ cycle, to, count = 0 }: EventSeen): TransitionSeen {
  return { cycle, to, count };
}

interface SessionGiven {
  readonly clock: WallClock;
  readonly asked: LiveRunOptions;
  readonly connection: Connection;
  readonly target: Target;
  readonly isElsewhere: boolean;
  readonly warm: Stage['warm'];
}

class LiveSession {
  readonly #given: SessionGiven;
  #gone: string | undefined;
  readonly #firstCycle: number;
  readonly requestLog: RequestLog;
  readonly #inFlight: RequestsInFlight;
  readonly #sending: Sending;
  readonly #events: ReceivedEvent[][];
  readonly #rows: ObservedRows<Omit<LiveRun, keyof RunShape>>;
  #listener: EventListener | undefined;
  #lastCycle: number;
  #rowOfCycle: number;
  #isPartial = false;
  #stop: () => void = () => {};

  constructor(given: SessionGiven) {
    this.#given = given;
    const { clock, connection, target, isElsewhere, warm } = given;
    const { plan, names, phases = {}, cycles, drain, sending, answers } = given.asked;
    const { uncertaintyMs } = connection.time;
    const runUpMs = Math.max(RUN_UP_MS, 2 * uncertaintyMs, isElsewhere ? ELSEWHERE_MS : 0);
    this.#firstCycle = clock.cycle() + 1 + Math.ceil(runUpMs / clock.cycleMs);
    this.#lastCycle = this.#firstCycle + cycles - 1 + drain;
    this.#rowOfCycle = this.#firstCycle;
    this.#events = names.map(() => []);
    this.requestLog = new RequestLog({
      cycleMs: clock.cycleMs,
      phases,
      firstCycle: this.#firstCycle,
      slackMs: uncertaintyMs + ROUNDING_MS,
      plansByCycle: plansByCycle(given.asked),
    });
    const observer = this.requestLog;
    const reports = connection.nodes.length > 0;
    this.#rows = new ObservedRows(
      { plan, names, reports },
      {
        firstCycle: this.#firstCycle,
        lastCycle: this.#lastCycle,
        sending: (cycle) => this.requestLog.of(cycle),
      },
    );
    const left = (words: string) => this.left(words);
    const { pool, timeoutMs } = connection;
    this.#inFlight = new RequestsInFlight({ clock, pool, target, observer, timeoutMs, answers, onGone: left });
    this.#sending = sending({
      ...{ clock, uncertaintyMs, observer, warm, left },
      firstCycle: this.#firstCycle,
      lastCycle: this.#lastCycle,
      inFlight: this.#inFlight,
    });
    // Before any await, so that no cycle is missed.
    this.#sending.start();
  }

  async listen(weir: WeirTarget | undefined): Promise<void> {
    const { clock, connection } = this.#given;
    const [node] = connection.nodes;
    if (weir === undefined || node === undefined) return;
    this.#listener = new EventListener({
      api: node.as(bearer(weir.made.key)),
      slug: weir.made.slug,
      clock,
      onEvent: (event) => this.#receive(weir.indexOf(event.contractId, event.key), event),
      prove: () => connection.prove(),
      onUnproved: (words) => this.left(words),
    });
    const opened = this.#listener.open();
    await Promise.race([opened, clock.sleepUntil(startOf(this.#firstCycle, clock.cycleMs))]);
  }

  async run(): Promise<void> {
    const { clock, isElsewhere, asked } = this.#given;
    const { signal } = asked;
    const stopped = new AbortController();
    const stop = () => {
      this.#isPartial = true;
      stopped.abort();
    };
    this.#stop = () => stopped.abort();
    if (signal?.aborted === true || this.#gone !== undefined) stop();
    signal?.addEventListener('abort', stop);
    const behind = isElsewhere ? Math.ceil(ELSEWHERE_MS / clock.cycleMs) : 0;
    const ticks = cycles(clock, { from: this.#firstCycle + 1 }).subscribe(({ cycle }) => this.#rowsTo(cycle - behind));
    await clock.sleepUntil(startOf(this.#lastCycle + 1, clock.cycleMs), stopped.signal);
    ticks.unsubscribe();
    signal?.removeEventListener('abort', stop);
    this.#sending.stop();
    if (stopped.signal.aborted) this.#lastCycle = Math.min(this.#lastCycle, clock.cycle());
  }

  async settle(): Promise<void> {
    const { clock, connection, isElsewhere } = this.#given;
    const isShort = this.#isPartial || this.#gone !== undefined;
    const landed = Promise.all([this.#inFlight.landed(), this.#sending.landed?.()]);
    const waited = new AbortController();
    // Timeouts of requests end this wait; a little more for their handlers.
    const elsewhereMs = isElsewhere ? 2 * ELSEWHERE_MS : 0;
    const mostMs = (isShort ? LAST_WAIT_MS : connection.timeoutMs + LAST_WAIT_MS) + elsewhereMs;
    await Promise.race([landed, clock.sleep(mostMs, waited.signal)]);
    waited.abort();
    this.#inFlight.giveUp();
    for (const [cycle, { answered }] of this.requestLog.byCycle)
      if (answered.length > 0) this.#lastCycle = Math.max(this.#lastCycle, cycle);
    if (this.#listener !== undefined && this.#gone === undefined) {
      // A transition is published when it is on disk, which may take longer than a short cycle.
      const untilMs = startOf(this.#lastCycle + 2, clock.cycleMs) + GRACE_MS;
      await this.#listener.receivedUpTo(this.#lastCycle + 1 + this.#diskCycles, untilMs);
    }
    this.#rowsTo(Math.max(this.#firstCycle, this.#lastCycle) + 1);
  }

  /** The stream may report the start of a cycle while transitions of the previous one are still being written. */
  get #reportedBefore(): number {
    return this.#listener === undefined ? Number.POSITIVE_INFINITY : this.#listener.cycle - this.#diskCycles;
  }

  get #diskCycles(): number {
    return 1 + Math.ceil(DISK_MS / this.#given.clock.cycleMs);
  }

  async timeAfter(node: Reached | undefined): Promise<NodeTime> {
    const { clock, timeoutMs, time } = this.#given.connection;
    if (node === undefined || this.#gone !== undefined) return time;
    try {
      return await readNodeTime(node, clock, { timeoutMs: Math.min(timeoutMs, LAST_WAIT_MS) });
    } catch (error) {
      this.left(error instanceof Error ? error.message : String(error));
      return time;
    }
  }

  seen(measured: Pick<LiveSeen, 'lagMs' | 'pauses' | 'movedMs'>): Omit<LiveSeen, 'bug'> {
    const { asked, connection, target } = this.#given;
    const last = this.#lastCycle;
    return {
      ...measured,
      asked,
      time: connection.time,
      apartMs: 0,
      sentBy: [],
      unsound: undefined,
      behind: undefined,
      target,
      firstCycle: this.#firstCycle,
      lastCycle: last,
      requestLog: this.requestLog,
      events:
        this.#listener === undefined ? undefined : this.#events.map((all) => all.filter(({ cycle }) => cycle <= last)),
      reportedBefore: this.#reportedBefore,
      streamLost: this.#listener?.isLost ?? false,
      connections: this.#sending.connections ?? connection.pool.mostConnected,
      waited: connection.pool.waited,
      gone: this.#gone,
      isPartial: this.#isPartial,
      isScheduled: this.#sending.isScheduled,
      clients: this.#sending.figures?.(),
      clientSeries: this.#sending.series?.(last),
    };
  }

  left(words: string): void {
    this.#gone ??= words;
    this.#isPartial = true;
    this.#stop();
  }

  end(): void {
    this.#sending.stop();
    this.#listener?.close();
  }

  #receive(contract: number | undefined, event: ReceivedEvent): void {
    if (contract === undefined) return;
    this.#events[contract]!.push(event);
    if (event.event === 'transition') this.#rows.moved(contract, seenOf(event));
    else if (event.event === 'rate_limited') this.#sending.rateLimited?.(contract);
    else if (event.event === 'rate_restored') this.#sending.rateRestored?.(contract);
  }

  #rowsTo(cycle: number): void {
    for (; this.#rowOfCycle < cycle; this.#rowOfCycle += 1) {
      const row = this.#rows.close(this.#rowOfCycle, this.requestLog.of(this.#rowOfCycle).answered);
      this.#given.asked.onRow?.(row);
    }
  }
}
