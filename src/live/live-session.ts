// The session of one live run: starts the senders, listens, waits, and keeps what was observed. Every wait is
// bounded; a stop ends all of them.
//
//   │ cycles with requests │ drain │ ─► answers under way ─► what the stream still has to tell

import type { Plan } from '../limiter/plan.js';
import type { ClientFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { Stretch } from '../outcome/stretch.js';
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import type { Target as TargetSpec } from '../scenario/scenario-schema.js';
import { startOf } from '../time/cycle.js';
import { cycles } from '../time/cycles.js';
import type { WallClock } from '../time/wall.js';
import type { Connection } from './connection.js';
import { EventListener, type Heard } from './event-listener.js';
import { type EvidenceOptions, LoggedEvidence } from './evidence.js';
import { RequestsInFlight } from './in-flight.js';
import { Latency } from './latency.js';
import { RequestLog } from './request-log.js';
import type { Sending, Stage } from './stage.js';
import type { Target } from './target.js';
import type { WeirTarget } from './weir-target.js';

/** Told once a cycle, when it is over. */
export interface CycleLine {
  readonly cycle: number;
  /** Cycles since the start, and in all. */
  readonly elapsed: number;
  readonly cycles: number;
  readonly planned: number;
  readonly sent: number;
  readonly admitted: number;
  readonly limited: number;
  /** State of the one contract, or how many of several do not admit. */
  readonly state: string;
  readonly sendLagMsP99: number;
  readonly latencyMsP99: number;
}

export interface LiveRunOptions {
  readonly plan: Plan;
  readonly names: readonly string[];
  /** Whether the names are the keys of one contract, and how that keeps them. */
  readonly keyed?: KeyedSpec | undefined;
  readonly phases: Readonly<Record<string, Stretch>>;
  /** Cycles in which requests come, and cycles to look on afterwards. */
  readonly cycles: number;
  readonly drain: number;
  /** How to ask a target that is no node. */
  readonly foreign: TargetSpec | undefined;
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onCycle?: ((line: CycleLine) => void) | undefined;
  /** Makes who sends. */
  readonly sending: (stage: Stage) => Sending;
  /** Whether the requests are sent by other processes. */
  readonly isElsewhere?: boolean | undefined;
}

/** What was seen of the session of a run. */
export interface SessionSeen {
  readonly target: Target;
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly requestLog: RequestLog;
  readonly latency: Latency;
  /** How far instants may be off, in ms. */
  readonly slackMs: number;
  /** How what was seen went into the log. */
  readonly evidence: EvidenceOptions;
  /** By contract; undefined where the target has no events. */
  readonly heard: readonly (readonly Heard[])[] | undefined;
  /** All events of the cycles before this one have arrived; Infinity without a listener. */
  readonly toldBefore: number;
  readonly streamLost: boolean;
  readonly connections: number;
  /** Why the target is gone, if it is. */
  readonly gone: string | undefined;
  readonly isPartial: boolean;
  /** Figures of the clients; undefined where a schedule says what is sent. */
  readonly clients: ClientFigures[] | undefined;
  readonly clientSeries: Series | undefined;
}

/** Two clocks that are read in fractions of a millisecond may still differ by so much, in ms. */
const ROUNDING_MS = 2;
/** Before the first cycle begins there is at least so much time, in ms. */
const RUN_UP_MS = 40;
/** How long a run that is stopped waits for what is under way, in ms. */
export const LAST_WAIT_MS = 1_000;
/** How long the stream may lag behind at the end, in ms. */
const GRACE_MS = 1_500;
/** What is sent elsewhere starts so much later, and is heard of by so much later; in ms. */
const ELSEWHERE_MS = 1_000;
/** A write to disk takes less than this, on all but the slowest, in ms. */
const DISK_MS = 100;

/** One run, from its first cycle to its last answer. */
export class LiveSession {
  readonly #clock: WallClock;
  readonly #options: LiveRunOptions;
  readonly #connection: Connection;
  readonly #target: Target;
  gone: string | undefined;
  readonly #requestLog = new RequestLog();
  readonly #latency = new Latency();
  readonly #firstCycle: number;
  readonly #evidence: EvidenceOptions;
  readonly #inFlight: RequestsInFlight;
  readonly #sending: Sending;
  readonly #heard: Heard[][];
  readonly #states: string[];
  #listener: EventListener | undefined;
  #lastCycle: number;
  /** The next cycle of which a line is due. */
  #lineOfCycle: number;
  #isPartial = false;
  #stop: () => void = () => {};

  constructor(clock: WallClock, options: LiveRunOptions, connection: Connection, target: Target, warm?: Stage['warm']) {
    this.#clock = clock;
    this.#options = options;
    this.#connection = connection;
    this.#target = target;
    const { plan, names, phases, cycles, drain, sending, isElsewhere = false } = options;
    const { uncertaintyMs } = connection.time;
    const runUpMs = Math.max(RUN_UP_MS, 2 * uncertaintyMs, isElsewhere ? ELSEWHERE_MS : 0);
    this.#firstCycle = clock.cycle() + 1 + Math.ceil(runUpMs / clock.cycleMs);
    this.#lastCycle = this.#firstCycle + cycles - 1 + drain;
    this.#lineOfCycle = this.#firstCycle;
    this.#heard = names.map(() => []);
    this.#states = names.map(() => plan.states[plan.initial]!.name);
    this.#evidence = {
      requestLog: this.#requestLog,
      latency: this.#latency,
      cycleMs: clock.cycleMs,
      phases,
      firstCycle: this.#firstCycle,
      slackMs: uncertaintyMs + ROUNDING_MS,
      decidesByMs: plan.rule !== undefined,
    };
    const evidence = new LoggedEvidence(this.#evidence);
    const left = (words: string) => this.left(words);
    const { pool, timeoutMs } = connection;
    this.#inFlight = new RequestsInFlight({ clock, pool, target, evidence, timeoutMs, onGone: left });
    const { firstCycle } = this.#evidence;
    this.#sending = sending({ clock, firstCycle, inFlight: this.#inFlight, evidence, uncertaintyMs, warm, left });
    // Before anything else is awaited, so that no cycle is missed.
    this.#sending.start();
  }

  /** Begins to listen to the events of a node. */
  async listen(weir: WeirTarget | undefined): Promise<void> {
    if (weir === undefined) return;
    const { endpoint, pool } = this.#connection;
    const path = `${endpoint.basePath}/api/chain/${weir.made.slug}/stream`;
    const headers = { authorization: `Bearer ${weir.made.key}`, accept: 'text/event-stream' };
    this.#listener = new EventListener({
      pool,
      request: { method: 'GET', path, headers },
      clock: this.#clock,
      onHeard: (heard) => this.#hear(weir.indexOf(heard.contractId, heard.key), heard),
      prove: () => this.#connection.prove(),
      onUnproved: (words) => this.left(words),
    });
    const opened = this.#listener.open();
    await Promise.race([opened, this.#clock.sleepUntil(startOf(this.#firstCycle, this.#clock.cycleMs))]);
  }

  /** Resolves at the end of the last cycle, or as soon as the run is stopped or the target is gone. */
  async run(): Promise<void> {
    const clock = this.#clock;
    const options = this.#options;
    const { signal, isElsewhere = false } = options;
    const stopped = new AbortController();
    const stop = () => {
      this.#isPartial = true;
      stopped.abort();
    };
    this.#stop = () => stopped.abort();
    if (signal?.aborted === true || this.gone !== undefined) stop();
    signal?.addEventListener('abort', stop);
    const behind = isElsewhere ? Math.ceil(ELSEWHERE_MS / clock.cycleMs) : 0;
    const ticks = cycles(clock, { from: this.#firstCycle + 1 }).subscribe(({ cycle }) => this.#linesTo(cycle - behind));
    await clock.sleepUntil(startOf(this.#lastCycle + 1, clock.cycleMs), stopped.signal);
    ticks.unsubscribe();
    signal?.removeEventListener('abort', stop);
    this.#sending.stop();
    if (stopped.signal.aborted) this.#lastCycle = Math.min(this.#lastCycle, clock.cycle());
  }

  /** Waits for what is under way: answers, then what the stream has to tell. */
  async settle(): Promise<void> {
    const clock = this.#clock;
    const connection = this.#connection;
    const isShort = this.#isPartial || this.gone !== undefined;
    const landed = Promise.all([this.#inFlight.landed(), this.#sending.landed?.()]);
    const waited = new AbortController();
    // The timeouts of the inFlight end this wait; a moment more for what they have to do.
    const elsewhereMs = this.#options.isElsewhere === true ? 2 * ELSEWHERE_MS : 0;
    const mostMs = (isShort ? LAST_WAIT_MS : connection.timeoutMs + LAST_WAIT_MS) + elsewhereMs;
    await Promise.race([landed, clock.sleep(mostMs, waited.signal)]);
    waited.abort();
    this.#inFlight.giveUp();
    if (elsewhereMs > 0) this.#linesTo(Math.min(this.#lastCycle, clock.cycle()) + 1);
    for (const { cycle } of this.#requestLog.cells()) this.#lastCycle = Math.max(this.#lastCycle, cycle);
    const listener = this.#listener;
    if (listener === undefined || this.gone !== undefined) return;
    // A transition is published once it is on disk, which may take longer than a short cycle.
    const untilMs = startOf(this.#lastCycle + 2, clock.cycleMs) + GRACE_MS;
    await listener.heardUpTo(this.#lastCycle + 1 + this.#diskCycles, untilMs);
  }

  /** The stream reports that a cycle has begun while transitions of the one before may still be on their way to the disk. */
  get #toldBefore(): number {
    return this.#listener === undefined ? Number.POSITIVE_INFINITY : this.#listener.cycle - this.#diskCycles;
  }

  get #diskCycles(): number {
    return 1 + Math.ceil(DISK_MS / this.#clock.cycleMs);
  }

  seen(): SessionSeen {
    const last = this.#lastCycle;
    const { slackMs } = this.#evidence;
    return {
      target: this.#target,
      firstCycle: this.#firstCycle,
      lastCycle: last,
      requestLog: this.#requestLog,
      latency: this.#latency,
      slackMs,
      evidence: this.#evidence,
      heard:
        this.#listener === undefined ? undefined : this.#heard.map((all) => all.filter(({ cycle }) => cycle <= last)),
      toldBefore: this.#toldBefore,
      streamLost: this.#listener?.isLost ?? false,
      connections: this.#connection.pool.mostConnected,
      gone: this.gone,
      isPartial: this.#isPartial,
      clients: this.#sending.figures?.(),
      clientSeries: this.#sending.series?.(last),
    };
  }

  /** Nobody listens at the target any more. */
  left(words: string): void {
    this.gone ??= words;
    this.#isPartial = true;
    this.#stop();
  }

  end(): void {
    this.#sending.stop();
    this.#listener?.close();
  }

  #hear(contract: number | undefined, heard: Heard): void {
    if (contract === undefined) return;
    this.#heard[contract]!.push(heard);
    if (heard.event === 'transition') this.#states[contract] = heard.to;
    else if (heard.event === 'rate_limited') this.#sending.rateLimited?.(contract);
    else if (heard.event === 'rate_restored') this.#sending.rateRestored?.(contract);
  }

  /** Lines of all cycles before this one. */
  #linesTo(cycle: number): void {
    for (; this.#lineOfCycle < cycle; this.#lineOfCycle += 1) this.#options.onCycle?.(this.#lineOf(this.#lineOfCycle));
  }

  #lineOf(cycle: number): CycleLine {
    const { planned, sent, arrived, admitted } = this.#requestLog.of(cycle);
    const { plan, cycles, drain } = this.#options;
    const open = new Set(plan.states.filter(({ admits }) => admits).map(({ name }) => name));
    const shut = this.#states.filter((state) => !open.has(state)).length;
    return {
      cycle,
      elapsed: cycle - this.#firstCycle + 1,
      cycles: cycles + drain,
      planned,
      sent,
      admitted,
      limited: arrived - admitted,
      sendLagMsP99: this.#latency.sendLag.quantileMs(0.99),
      latencyMsP99: this.#latency.latency.quantileMs(0.99),
      state: this.#states.length === 1 ? this.#states[0]! : `${shut} of ${this.#states.length} shut`,
    };
  }
}
