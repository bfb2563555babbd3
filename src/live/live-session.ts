// The session of one live run: starts the senders, listens, waits, and keeps what was observed. Every wait is
// bounded; a stop ends all of them.
//
//   │ cycles with requests │ drain │ ─► answers under way ─► what the stream still has to tell

import { bearer } from '../client/connect.js';
import type { Plan } from '../limiter/plan.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { ClientFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { Stretch } from '../outcome/stretch.js';
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import type { Target as TargetSpec } from '../scenario/scenario-schema.js';
import { startOf } from '../time/cycle.js';
import { cycles } from '../time/cycles.js';
import type { WallClock } from '../time/wall.js';
import type { AnswerTally } from './answer-tally.js';
import type { Connection } from './connection.js';
import { EventListener, type Heard } from './event-listener.js';
import { type EvidenceOptions, LoggedEvidence } from './evidence.js';
import { RequestsInFlight } from './in-flight.js';
import { Latency } from './latency.js';
import { LiveRows, type LiveRun } from './live-rows.js';
import { RequestLog } from './request-log.js';
import type { Sending, Stage } from './stage.js';
import type { Target } from './target.js';
import type { WeirTarget } from './weir-target.js';

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
  /** Called with the row of each cycle when it has closed. */
  readonly onRow?: ((row: CycleRow<LiveRun>) => void) | undefined;
  /** What is told of every answer. */
  readonly answers?: AnswerTally | undefined;
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
  readonly answers: AnswerTally | undefined;
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
  /** What the latency is timed from, in words. */
  readonly timedFrom: string;
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
  readonly #rows: LiveRows;
  #listener: EventListener | undefined;
  #lastCycle: number;
  /** The next cycle of which a row is due. */
  #rowOfCycle: number;
  #isPartial = false;
  #stop: () => void = () => {};

  constructor(clock: WallClock, options: LiveRunOptions, connection: Connection, target: Target, warm?: Stage['warm']) {
    this.#clock = clock;
    this.#options = options;
    this.#connection = connection;
    this.#target = target;
    const { plan, names, phases, cycles, drain, sending, answers, isElsewhere = false } = options;
    const { uncertaintyMs } = connection.time;
    const runUpMs = Math.max(RUN_UP_MS, 2 * uncertaintyMs, isElsewhere ? ELSEWHERE_MS : 0);
    this.#firstCycle = clock.cycle() + 1 + Math.ceil(runUpMs / clock.cycleMs);
    this.#lastCycle = this.#firstCycle + cycles - 1 + drain;
    this.#rowOfCycle = this.#firstCycle;
    this.#heard = names.map(() => []);
    this.#rows = new LiveRows({
      plan,
      names,
      firstCycle: this.#firstCycle,
      lastCycle: this.#lastCycle,
      requestLog: this.#requestLog,
      latency: this.#latency,
    });
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
    this.#inFlight = new RequestsInFlight({ clock, pool, target, evidence, timeoutMs, answers, onGone: left });
    const { firstCycle } = this.#evidence;
    this.#sending = sending({ clock, firstCycle, inFlight: this.#inFlight, evidence, uncertaintyMs, warm, left });
    // Before anything else is awaited, so that no cycle is missed.
    this.#sending.start();
  }

  /** Begins to listen to the events of a node. */
  async listen(weir: WeirTarget | undefined): Promise<void> {
    const [node] = this.#connection.nodes;
    if (weir === undefined || node === undefined) return;
    this.#listener = new EventListener({
      api: node.as(bearer(weir.made.key)),
      slug: weir.made.slug,
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
    const ticks = cycles(clock, { from: this.#firstCycle + 1 }).subscribe(({ cycle }) => this.#rowsTo(cycle - behind));
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
    for (const { cycle } of this.#requestLog.cells()) this.#lastCycle = Math.max(this.#lastCycle, cycle);
    if (this.#listener !== undefined && this.gone === undefined) {
      // A transition is published once it is on disk, which may take longer than a short cycle.
      const untilMs = startOf(this.#lastCycle + 2, clock.cycleMs) + GRACE_MS;
      await this.#listener.heardUpTo(this.#lastCycle + 1 + this.#diskCycles, untilMs);
    }
    // A run has at least one row.
    this.#rowsTo(Math.max(this.#firstCycle, this.#lastCycle) + 1);
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
      answers: this.#options.answers,
      slackMs,
      evidence: this.#evidence,
      heard:
        this.#listener === undefined ? undefined : this.#heard.map((all) => all.filter(({ cycle }) => cycle <= last)),
      toldBefore: this.#toldBefore,
      streamLost: this.#listener?.isLost ?? false,
      connections: this.#connection.pool.mostConnected,
      gone: this.gone,
      isPartial: this.#isPartial,
      timedFrom: this.#sending.isScheduled ? 'from the intended instant' : 'from sending',
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
    if (heard.event === 'transition') this.#rows.moved(contract, heard);
    else if (heard.event === 'rate_limited') this.#sending.rateLimited?.(contract);
    else if (heard.event === 'rate_restored') this.#sending.rateRestored?.(contract);
  }

  /** The rows of all cycles before this one. */
  #rowsTo(cycle: number): void {
    for (; this.#rowOfCycle < cycle; this.#rowOfCycle += 1) {
      const row = this.#rows.close(this.#rowOfCycle);
      this.#options.onRow?.(row);
    }
  }
}
