// The shell of a client: performs the effects of its behaviour.
//
//   event ─► (state, event) -> [state, effects] ─► transport, agenda, figures
//     ▲                                                  │
//     └────────── answer, timeout, wake ─────────────────┘
//
// Events that arrive while effects are performed wait until they are done.
import { type Actor, createActor } from 'xstate';
import type { ActorSystem, Party } from '../../core/limiter/actor-system.js';
import type { RandomStream } from '../../core/math/random.js';
import { assert, unreachable } from '../../core/schema/failure.js';
import type { Ticket } from '../../core/time/agenda.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';
import {
  type Attempt,
  type ClientEvent,
  type ClientState,
  type Effect,
  type Job,
  retryAfterMsOf,
  type ServiceAnswer,
  type Wait,
} from './behaviour.js';
import type { ChartedState, ClientLogic } from './client-chart.js';
import type { ClientGate } from './client-gates.js';
import type { ClientPlan } from './client-plan.js';
import type { ClientTally } from './client-tally.js';
import type { AttemptEnd, Reason, RetryLimit } from './retry-limits.js';

export interface Transport {
  /** `attempt.answer` must be called once, unless the attempt is abandoned before. */
  send(attempt: SentAttempt): void;
  abandon(attempt: SentAttempt): void;
}

export interface ClientWorld {
  readonly plan: Pick<ClientPlan, 'timeoutMs' | 'deadlineMs'>;
  readonly logic: ClientLogic;
  /** Of an inspected run. */
  readonly actors: ActorSystem | undefined;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly tally: ClientTally;
  readonly draw: RandomStream;
  newJob(contract: number): Job;
  freed(client: Client): void;
}

/** What all requests of one process share. */
export interface Instance {
  readonly index: number;
  readonly limit: RetryLimit | undefined;
  readonly gate: ClientGate | undefined;
}

export class Client {
  readonly #actor: Actor<ClientLogic>;
  readonly #world: ClientWorld;
  readonly #mailbox: (readonly [ClientEvent, Party])[] = [];
  #isReacting = false;
  #alarm: Ticket | undefined;
  #alarmMs: number | undefined;
  #waitedMs = 0;
  #lastSent: SentAttempt | undefined;
  readonly #othersSent: SentAttempt[] = [];
  #reason: Reason;

  /** `id` names the actor in traces, the same in every run of a seed; `contract` is for jobs that it makes itself. */
  constructor(
    readonly id: string,
    readonly contract: number,
    readonly instance: Instance,
    world: ClientWorld,
  ) {
    const { logic, actors } = world;
    this.#world = world;
    this.#actor = actors === undefined ? createActor(logic, { id }) : actors.add(id, logic);
    this.#actor.start();
  }

  /** Its state, and what it remembers. */
  get state(): ClientState {
    const { memory, ...state }: Partial<ChartedState> & ClientState = this.#actor.getSnapshot().context;
    return { ...memory, ...state };
  }

  get alarmMs(): number | undefined {
    return this.#alarmMs;
  }

  /** `from` is the sender, for traces. */
  receive(event: ClientEvent, from: Party): void {
    if (this.#isReacting) {
      this.#mailbox.push([event, from]);
      return;
    }
    this.#isReacting = true;
    try {
      for (const effect of this.#react(event, from)) this.#perform(effect);
      for (const [next, sender] of this.#mailbox) {
        for (const effect of this.#react(next, sender)) this.#perform(effect);
      }
    } finally {
      this.#mailbox.length = 0;
      this.#isReacting = false;
    }
  }

  #react(event: ClientEvent, from: Party): readonly Effect[] {
    const { actors } = this.#world;
    if (actors === undefined) this.#actor.send(event);
    else actors.send(from, this.#actor, event);
    const { effects, thrown } = this.#actor.getSnapshot();
    if (thrown !== undefined) throw thrown.error;
    return effects;
  }

  answered(attempt: SentAttempt, answer: ServiceAnswer, from: Party): void {
    const { clock, tally } = this.#world;
    if (attempt.timeout !== undefined) clock.agenda.cancel(attempt.timeout);
    this.#ended(attempt, answer.type, retryAfterMsOf(answer));
    if (answer.type === 'served') tally.served(attempt.job, clock.now() - attempt.sentMs);
    const { type } = answer;
    // Few object shapes: copying the answer costs a quarter of the speed.
    if (type === 'limited') this.receive({ type, retryAfterMs: answer.retryAfterMs, attempt }, from);
    else if (type === 'failed' && answer.retryAfterMs !== undefined)
      this.receive({ type, retryAfterMs: answer.retryAfterMs, attempt }, from);
    else this.receive({ type, attempt }, from);
  }

  #perform(effect: Effect): void {
    const { clock, tally, draw } = this.#world;
    switch (effect.type) {
      case 'send':
        this.#send(effect.job, effect.number, effect.isHedge);
        break;
      case 'send_new':
        this.#send(this.#world.newJob(this.contract), 1);
        break;
      case 'enter':
        this.#enter(effect.job);
        break;
      case 'abandon':
        this.#abandonAll();
        break;
      case 'finish':
        if (this.#reason !== undefined) this.instance.limit?.unused?.();
        this.#reason = undefined;
        this.#othersSent.length = 0;
        tally.finished(effect.job, effect.ending, clock.now());
        this.#world.freed(this);
        break;
      case 'wait':
        this.#wait(msOf(effect.wait, draw));
        break;
      case 'retry':
        this.#retry(effect);
        break;
      case 'cancel_wait':
        this.#cancelWait();
        break;
      default:
        unreachable(effect);
    }
  }

  #retry({ job, wait, after }: Extract<Effect, { type: 'retry' }>): void {
    const { clock, draw } = this.#world;
    const { limit } = this.instance;
    this.#cancelWait();
    if (limit?.takeRetry(clock.now(), after) === false) {
      this.receive({ type: 'no_retry' }, limit.name);
      return;
    }
    this.#reason = after;
    const waitedMs = msOf(wait, draw);
    if (this.#isTooLate(job, waitedMs)) this.receive({ type: 'no_retry' }, 'deadline');
    else if (waitedMs === 0) this.receive({ type: 'wake', waitedMs }, 'agenda');
    else this.#wait(waitedMs);
  }

  #isTooLate({ bornMs }: Job, waitMs: number): boolean {
    const { clock, plan } = this.#world;
    const { deadlineMs } = plan;
    return deadlineMs !== undefined && clock.now() + waitMs >= bornMs + deadlineMs;
  }

  #enter(job: Job): void {
    const { clock, draw } = this.#world;
    const { gate } = this.instance;
    assert(gate !== undefined, `${this.id} has no gate to enter`);
    const { type, ms } = gate.enter(clock.now(), draw);
    if (type === 'open') this.receive({ type: 'entered' }, 'gate');
    else if (type === 'refused' || this.#isTooLate(job, ms)) this.receive({ type: 'turned_away' }, 'gate');
    else if (type === 'again') this.#alarmAfter(ms, () => this.#enter(job));
    else this.#alarmAfter(ms, () => this.receive({ type: 'entered' }, 'gate'));
  }

  #send(job: Job, number: number, isHedge = false): void {
    const { clock, transport, tally, plan } = this.#world;
    const { timeoutMs = Number.POSITIVE_INFINITY, deadlineMs } = plan;
    const attempt = new SentAttempt(this, job, number, clock.now());
    attempt.reason = isHedge ? 'hedge' : this.#reason;
    this.#reason = undefined;
    if (isHedge) this.#othersSent.push(this.#lastSent!);
    this.#lastSent = attempt;
    if (number === 1) this.instance.limit?.requested(attempt.sentMs);
    tally.sent(job, number);
    const endMs =
      deadlineMs === undefined
        ? attempt.sentMs + timeoutMs
        : Math.min(attempt.sentMs + timeoutMs, job.bornMs + deadlineMs);
    if (endMs < Number.POSITIVE_INFINITY) {
      attempt.timeout = clock.agenda.at(endMs, Rank.client, () => this.#timeOut(attempt));
    }
    transport.send(attempt);
  }

  #abandonAll(): void {
    assert(this.#lastSent !== undefined, `${this.id} abandons its attempts and has sent none`);
    for (const attempt of [...this.#othersSent, this.#lastSent]) {
      if (!attempt.isOpen) continue;
      this.#abandon(attempt);
      this.#ended(attempt, 'abandoned');
    }
    this.#othersSent.length = 0;
  }

  #abandon(attempt: SentAttempt): void {
    if (attempt.timeout !== undefined) this.#world.clock.agenda.cancel(attempt.timeout);
    attempt.end('abandoned');
    this.#world.tally.abandoned(attempt.job);
    this.#world.transport.abandon(attempt);
  }

  #ended(attempt: SentAttempt, type: AttemptEnd['type'], retryAfterMs?: number): void {
    const { limit, gate } = this.instance;
    if (limit?.ended === undefined && gate?.ended === undefined) return;
    const nowMs = this.#world.clock.now();
    const end = { type, after: attempt.reason, nowMs, heldMs: nowMs - attempt.sentMs, retryAfterMs };
    limit?.ended?.(end);
    gate?.ended?.(end);
  }

  #timeOut(attempt: SentAttempt): void {
    attempt.timeout = undefined;
    this.#abandon(attempt);
    this.#ended(attempt, 'timeout');
    this.receive({ type: 'timeout', attempt }, 'agenda');
  }

  #wait(ms: number): void {
    this.#waitedMs = ms;
    this.#alarmAfter(ms, this.#wake);
  }

  #alarmAfter(ms: number, ring: () => void): void {
    const { clock } = this.#world;
    this.#cancelWait();
    this.#alarmMs = clock.now() + ms;
    this.#onAlarm = ring;
    this.#alarm = clock.agenda.at(this.#alarmMs, Rank.client, this.#ring);
  }

  #cancelWait(): void {
    if (this.#alarm !== undefined) this.#world.clock.agenda.cancel(this.#alarm);
    this.#alarm = undefined;
    this.#alarmMs = undefined;
  }

  readonly #ring = (): void => {
    this.#alarm = undefined;
    this.#alarmMs = undefined;
    this.#onAlarm();
  };

  readonly #wake = (): void => this.receive({ type: 'wake', waitedMs: this.#waitedMs }, 'agenda');

  #onAlarm = this.#wake;
}

function msOf(wait: Wait, draw: RandomStream): number {
  return typeof wait === 'number' ? wait : wait.drawMs(draw);
}

export class SentAttempt implements Attempt {
  timeout: Ticket | undefined;
  reason: Reason;
  #fate: 'open' | 'answered' | 'abandoned' = 'open';

  constructor(
    readonly client: Client,
    readonly job: Job,
    readonly number: number,
    readonly sentMs: number,
  ) {}

  get isOpen(): boolean {
    return this.#fate === 'open';
  }

  /** Call once. The client of an abandoned attempt learns only that it was served. */
  answer(answer: ServiceAnswer, from: Party = 'network'): void {
    if (this.#fate !== 'abandoned') {
      this.end('answered');
      this.client.answered(this, answer, from);
    } else if (answer.type === 'served') {
      this.client.receive({ type: 'late', attempt: this }, from);
    }
  }

  toJSON(): { readonly job: number; readonly number: number } {
    return { job: this.job.number, number: this.number };
  }

  end(fate: 'answered' | 'abandoned'): void {
    assert(this.#fate === 'open', `attempt ${this.number} of job ${this.job.number} ended twice`);
    this.#fate = fate;
  }
}
