// A live run from end to end. Every wait is bounded; stopping ends all of them.
//
//   prepare ─► warm up ─► │ cycles with requests │ drain │ ─► answers in flight ─► rest of the event stream ─► the clock once more

import type { ApiClient } from '../../api/client/api-client.js';
import { bearer } from '../../api/client/connect.js';
import { getContract } from '../../api/contracts.js';
import { readClock } from '../../api/node.js';
import type { Plan } from '../../core/limiter/plan.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
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
import { type EventListener, type EventSeen, eventListener, type ReceivedEvent } from './event-listener.js';
import { RequestsInFlight } from './in-flight.js';
import { ObservedRows } from './observed.js';
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
  /** As `LoadOptions` has it. */
  readonly byInstants?: boolean | undefined;
  readonly top?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRow?: ((row: CycleRow<LiveRun>) => void) | undefined;
  readonly answers?: AnswerTally | undefined;
  /** As `LoadOptions` has them. */
  readonly rules?: readonly RuleDefinition[] | undefined;
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
/** A write to disk takes less, on all but the slowest disks: while a run goes on, and where the node does not say. */
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
  const { names, signal } = options;
  const weir = await WeirTarget.prepare(connection, options);
  const target = weir ?? new ForeignTarget(connection.endpoint, options.target ?? {}, names);
  if (weir !== undefined) await warmUp(connection, weir.peek, signal);
  await generators?.gather(weir?.made, signal);
  const session = new LiveSession(options, connection, target, generators);
  try {
    await session.listen();
    await session.run();
    await session.settle();
    return await session.seen();
  } finally {
    session.end();
  }
}

/** Whether the cycle in which a request is sent matters: a schedule keeps it in its cycle, and the limiter counts by cycles. */
function plansByCycle({ plan, byInstants = false, clients = [] }: LiveRunOptions): boolean {
  return plan.rule === undefined && !byInstants && clients.length === 0;
}

/** Opens missing connections. Errors are ignored here: the requests of the run will report them. */
export function warmer({ pool, timeoutMs, connections }: Connection, target: Target): Stage['warm'] {
  if (!(target instanceof WeirTarget)) return undefined;
  return (wanted) => {
    const n = Math.min(wanted, connections);
    if (n > pool.connected) pool.warm(n, target.peek, timeoutMs).catch(() => {});
  };
}

export function transitionsIn(events: readonly EventSeen[]): TransitionSeen[] {
  return events.filter(({ event }) => event === 'transition').map(seenOf);
}

function seenOf({ cycle, to, count = 0 }: EventSeen): TransitionSeen {
  return { cycle, to, count };
}

class LiveSession {
  readonly #asked: LiveRunOptions;
  readonly #connection: Connection;
  readonly #target: Target;
  readonly #generators: Generators | undefined;
  readonly #running: RunClock;
  readonly #clock: WallClock;
  readonly #firstCycle: number;
  readonly #requestLog: RequestLog;
  readonly #inFlight: RequestsInFlight;
  readonly #sending: Sending;
  readonly #events: ReceivedEvent[][];
  readonly #rows: ObservedRows<Omit<LiveRun, keyof RunShape>>;
  #api: ApiClient | undefined;
  #listener: EventListener | undefined;
  #lastCycle: number;
  #rowOfCycle: number;
  #gone: string | undefined;
  #isPartial = false;
  #stop: () => void = () => {};

  constructor(asked: LiveRunOptions, connection: Connection, target: Target, generators: Generators | undefined) {
    this.#asked = asked;
    this.#connection = connection;
    this.#target = target;
    this.#generators = generators;
    const { time, nodes, pool, timeoutMs } = connection;
    this.#running = new RunClock(connection.clock, time);
    const { clock } = this.#running;
    this.#clock = clock;
    const { plan, names, phases = {}, answers } = asked;
    const { cycleMs, uncertaintyMs } = time;
    const runUpMs = Math.max(RUN_UP_MS, 2 * uncertaintyMs, generators === undefined ? 0 : ELSEWHERE_MS);
    const firstCycle = clock.cycle() + 1 + Math.ceil(runUpMs / cycleMs);
    const endCycle = firstCycle + asked.cycles;
    const lastCycle = endCycle - 1 + asked.drain;
    [this.#firstCycle, this.#lastCycle, this.#rowOfCycle] = [firstCycle, lastCycle, firstCycle];
    this.#events = names.map(() => []);
    const slackMs = uncertaintyMs + ROUNDING_MS;
    const observer = new RequestLog({ cycleMs, phases, firstCycle, slackMs, plansByCycle: plansByCycle(asked) });
    this.#requestLog = observer;
    this.#rows = new ObservedRows(
      { plan, names, reports: nodes.length > 0 },
      { firstCycle, lastCycle, sending: (cycle) => observer.of(cycle) },
    );
    const left = (words: string) => this.#left(words);
    this.#inFlight = new RequestsInFlight({ clock, pool, target, observer, timeoutMs, answers, onGone: left });
    const stage = { clock, uncertaintyMs, observer, left, firstCycle, endCycle, lastCycle, inFlight: this.#inFlight };
    this.#sending = asked.sending({ ...stage, warm: warmer(connection, target) });
    // Before any await, so that no cycle is missed.
    this.#sending.start();
  }

  async listen(): Promise<void> {
    const [node] = this.#connection.nodes;
    const weir = this.#target;
    if (node === undefined || !(weir instanceof WeirTarget)) return;
    const clock = this.#clock;
    this.#api = node.as(bearer(weir.made.key));
    this.#listener = eventListener({
      api: this.#api,
      slug: weir.made.slug,
      clock,
      onEvent: (event) => this.#receive(weir.indexOf(event.contractId, event.key), event),
      prove: () => this.#connection.prove(),
      onUnproved: (words) => this.#left(words),
    });
    const opened = this.#listener.open();
    await Promise.race([opened, clock.sleepUntil(startOf(this.#firstCycle, clock.cycleMs))]);
  }

  async run(): Promise<void> {
    const clock = this.#clock;
    const { signal } = this.#asked;
    const stopped = new AbortController();
    const stop = () => {
      this.#isPartial = true;
      stopped.abort();
    };
    this.#stop = () => stopped.abort();
    if (signal?.aborted === true || this.#gone !== undefined) stop();
    signal?.addEventListener('abort', stop);
    const behind = this.#generators === undefined ? 0 : Math.ceil(ELSEWHERE_MS / clock.cycleMs);
    const ticks = cycles(clock, { from: this.#firstCycle + 1 }).subscribe(({ cycle }) => this.#rowsTo(cycle - behind));
    await clock.sleepUntil(startOf(this.#lastCycle + 1, clock.cycleMs), stopped.signal);
    ticks.unsubscribe();
    signal?.removeEventListener('abort', stop);
    this.#sending.stop();
    if (stopped.signal.aborted) this.#lastCycle = Math.min(this.#lastCycle, clock.cycle());
  }

  async settle(): Promise<void> {
    const clock = this.#clock;
    const isShort = this.#isPartial || this.#gone !== undefined;
    const landed = Promise.all([this.#inFlight.landed(), this.#sending.landed?.()]);
    const waited = new AbortController();
    // Timeouts of requests end this wait; a little more for their handlers.
    const elsewhereMs = this.#generators === undefined ? 0 : 2 * ELSEWHERE_MS;
    const mostMs = (isShort ? LAST_WAIT_MS : this.#connection.timeoutMs + LAST_WAIT_MS) + elsewhereMs;
    await Promise.race([landed, clock.sleep(mostMs, waited.signal)]);
    waited.abort();
    this.#inFlight.giveUp();
    for (const [cycle, { answered }] of this.#requestLog.byCycle)
      if (answered.length > 0) this.#lastCycle = Math.max(this.#lastCycle, cycle);
    if (this.#listener !== undefined && this.#gone === undefined) {
      const end = this.#lastCycle + 1;
      await this.#receiveUpTo(end, this.#listener);
      const settledIn = await this.#settledIn(isShort ? LAST_WAIT_MS : this.#connection.timeoutMs);
      await this.#receiveUpTo(Math.max(end + this.#diskCycles, settledIn + 1), this.#listener);
    }
    this.#rowsTo(Math.max(this.#firstCycle, this.#lastCycle) + 1);
  }

  #receiveUpTo(cycle: number, listener: EventListener): Promise<void> {
    const { cycleMs } = this.#clock;
    return listener.receivedUpTo(cycle, Math.max(this.#clock.now(), startOf(cycle + 1, cycleMs)) + GRACE_MS);
  }

  /** The cycle after which all that was due is published: a node that shows a contract has fired it, and has it on disk. 0 if it does not answer. */
  async #settledIn(timeoutMs: number): Promise<number> {
    const weir = this.#target;
    if (this.#api === undefined || !(weir instanceof WeirTarget)) return 0;
    const { slug, places } = weir.made;
    try {
      await this.#api.call(getContract, { params: { slug, contract_id: places[0]!.id } }, { timeoutMs });
      return (await this.#api.call(readClock, undefined, { timeoutMs })).cycle;
    } catch {
      return 0;
    }
  }

  get #diskCycles(): number {
    return 1 + Math.ceil(DISK_MS / this.#clock.cycleMs);
  }

  async seen(): Promise<LiveSeen> {
    const { time, pool } = this.#connection;
    const after = await this.#timeAfter();
    const { lagMs, pauses } = this.#running;
    const [last, sending, listener] = [this.#lastCycle, this.#sending, this.#listener];
    const here = {
      ...{ lagMs, pauses, requestLog: this.#requestLog, apartMs: 0, sentBy: [], unsound: undefined, behind: undefined },
      connections: sending.connections ?? pool.mostConnected,
      waited: pool.waited,
    };
    return {
      ...here,
      asked: this.#asked,
      target: this.#target,
      time,
      movedMs: movedMs(time, after),
      firstCycle: this.#firstCycle,
      lastCycle: last,
      events: listener && this.#events.map((all) => all.filter(({ cycle }) => cycle <= last)),
      // The stream may report the start of a cycle while transitions of the previous one are still being written.
      reportedBefore: (listener?.cycle ?? Number.POSITIVE_INFINITY) - this.#diskCycles,
      streamLost: listener?.isLost ?? false,
      gone: this.#gone,
      isPartial: this.#isPartial,
      isScheduled: sending.isScheduled,
      clients: sending.figures?.(),
      clientSeries: sending.series?.(last),
      ...(await this.#generators?.merged(this.#requestLog.options)),
      bug: this.#running.bug,
    };
  }

  end(): void {
    this.#sending.stop();
    this.#listener?.close();
    this.#running.stop();
  }

  async #timeAfter(): Promise<NodeTime> {
    const { nodes, clock, timeoutMs, time } = this.#connection;
    const [node] = nodes;
    if (node === undefined || this.#gone !== undefined) return time;
    try {
      return await readNodeTime(node, clock, { timeoutMs: Math.min(timeoutMs, LAST_WAIT_MS) });
    } catch (error) {
      this.#left(error instanceof Error ? error.message : String(error));
      return time;
    }
  }

  #left(words: string): void {
    this.#gone ??= words;
    this.#isPartial = true;
    this.#stop();
  }

  #receive(contract: number | undefined, event: ReceivedEvent): void {
    if (contract === undefined) return;
    this.#events[contract]!.push(event);
    if (event.event === 'transition') this.#rows.moved(contract, seenOf(event));
    else if (event.event === 'rate_limited') this.#sending.moved?.(contract, false);
    else if (event.event === 'rate_restored') this.#sending.moved?.(contract, true);
  }

  #rowsTo(cycle: number): void {
    for (; this.#rowOfCycle < cycle; this.#rowOfCycle += 1) {
      const row = this.#rows.close(this.#rowOfCycle, this.#requestLog.of(this.#rowOfCycle).answered);
      this.#asked.onRow?.(row);
    }
  }
}
