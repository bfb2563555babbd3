// A client as an XState actor, and the shell that performs its effects.
//
//   event ─► actor: (state, event) -> [state, effects] ─► shell performs the effects: transport, agenda, figures
//     ▲                                                              │
//     └────────────── answer, timeout, wake ─────────────────────────┘
//
// The logic of the actor is pure (behaviour.ts). An event that comes while effects are being performed waits until they are done.
// Time comes from the agenda of the clock, never from XState's timers. One root actor for each client: spawning children under one
// parent costs more with every child.
//
// The statechart of the kind (client-chart.ts) is compiled, since XState takes some 10 us for an event. In a run that is inspected each
// client is an XState actor, and XState runs the chart.
import { type Actor, type AnyActorLogic, createActor, fromTransition } from 'xstate';
import type { RandomStream } from '../../math/random.js';
import { assert, unreachable } from '../../schema/failure.js';
import type { Ticket } from '../../time/agenda.js';
import type { Clock } from '../../time/clock.js';
import { Rank } from '../../time/rank.js';
import type { Inspect } from '../interpreted-moves.js';
import type { Answer, Attempt, Behaviour, ClientEvent, Effect, Job, Wait } from './behaviour.js';
import { type ClientChart, machineOf } from './client-chart.js';
import type { ClientTally } from './client-tally.js';
import type { RetryBudget } from './retry-budget.js';

/** Where attempts go: through a model of gate and service, or over a network. */
export interface Transport {
  /** Takes an attempt on its way; its `answer` is to be called once, at once or later, unless it is abandoned before. */
  send(attempt: SentAttempt): void;
  /** The client waits no longer for the attempt. It may be answered all the same. */
  abandon(attempt: SentAttempt): void;
}

/** What the clients of one kind share. */
export interface ClientWorld {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly tally: ClientTally;
  readonly draw: RandomStream;
  /** How long a client waits for an answer, in ms; undefined for as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** Undefined: as many retries as each client wants. */
  readonly budget: RetryBudget | undefined;
  newJob(contract: number): Job;
  /** Called when a job is over: the client can take another. */
  freed(client: Client): void;
  readonly inspect: Inspect | undefined;
}

export type ClientState = { readonly at: string };

/** How the clients of a kind react. */
export interface ClientLogic {
  readonly behaviour: Behaviour<ClientState>;
  /** For an actor that is inspected; undefined where nobody looks. */
  readonly inspected: AnyActorLogic | undefined;
}

/** The machine of a chart, which emits its effects; of a behaviour that a program defines, its states. */
export function inspectedLogic(behaviour: Behaviour<ClientState>, chart: ClientChart | undefined): AnyActorLogic {
  if (chart !== undefined) return machineOf(chart);
  return fromTransition((state: ClientState, event: ClientEvent, { emit }) => {
    const [next, effects] = behaviour.on(state, event);
    for (const effect of effects) emit(effect as never);
    return next;
  }, behaviour.initial);
}

export class Client {
  readonly #behaviour: Behaviour<ClientState>;
  #state: ClientState;
  readonly #actor: Actor<AnyActorLogic> | undefined;
  readonly #world: ClientWorld;
  readonly #mailbox: ClientEvent[] = [];
  #isReacting = false;
  #alarm: Ticket | undefined;
  #alarmMs: number | undefined;
  #waitedMs = 0;
  #lastSent: SentAttempt | undefined;
  #error: unknown;
  /** What the actor has emitted since the last event. */
  #emitted: Effect[] = [];

  /**
   * @param id names the actor in traces; the same in every run of a seed
   * @param contract the contract to which jobs of its own go
   */
  constructor(
    readonly id: string,
    readonly contract: number,
    { behaviour, inspected }: ClientLogic,
    world: ClientWorld,
  ) {
    this.#world = world;
    this.#behaviour = behaviour;
    this.#state = behaviour.initial;
    if (inspected === undefined) return;
    this.#actor = createActor(inspected, { id, ...(world.inspect === undefined ? {} : { inspect: world.inspect }) });
    // Without this subscription XState reports an error of the actor in a later tick, outside of any caller.
    this.#actor.subscribe({ error: (error) => (this.#error = error) });
    this.#actor.on('*', (effect) => this.#emitted.push(effect as unknown as Effect));
    this.#actor.start();
  }

  get state(): ClientState {
    if (this.#actor === undefined) return this.#state;
    const { value, context } = this.#actor.getSnapshot();
    return value === undefined ? context : { ...context, at: value };
  }

  /** When the present wait ends, in unix ms; undefined when it waits for no time. */
  get alarmMs(): number | undefined {
    return this.#alarmMs;
  }

  /**
   * Gives the client an event, and performs what it wants done.
   * @throws whatever the behaviour or the transport threw: a bug
   */
  receive(event: ClientEvent): void {
    if (this.#isReacting) {
      this.#mailbox.push(event);
      return;
    }
    this.#isReacting = true;
    try {
      let next: ClientEvent | undefined = event;
      for (let taken = 0; next !== undefined; next = this.#mailbox[taken++]) {
        for (const effect of this.#react(next)) this.#perform(effect);
      }
    } finally {
      this.#mailbox.length = 0;
      this.#isReacting = false;
    }
  }

  #react(event: ClientEvent): readonly Effect[] {
    if (this.#actor === undefined) {
      const [state, effects] = this.#behaviour.on(this.#state, event);
      this.#state = state;
      return effects;
    }
    this.#emitted = [];
    this.#actor.send(event);
    if (this.#error !== undefined) throw this.#error;
    return this.#emitted;
  }

  /** For `SentAttempt.answer`. */
  answered(attempt: SentAttempt, answer: Answer): void {
    const { clock, tally } = this.#world;
    if (attempt.timeout !== undefined) clock.agenda.cancel(attempt.timeout);
    if (answer.type === 'served') tally.served(attempt.job, clock.now() - attempt.sentMs);
    if (answer.type === 'limited') this.receive({ type: 'limited', retryAfterMs: answer.retryAfterMs, attempt });
    else this.receive({ type: answer.type, attempt });
  }

  #perform(effect: Effect): void {
    const { clock, tally, draw } = this.#world;
    switch (effect.type) {
      case 'send':
        this.#send(effect.job, effect.number);
        break;
      case 'send_new':
        this.#send(this.#world.newJob(this.contract), 1);
        break;
      case 'abandon':
        assert(this.#lastSent !== undefined, `${this.id} abandons an attempt and has sent none`);
        this.#abandon(this.#lastSent);
        break;
      case 'finish':
        tally.finished(effect.job, effect.ending, clock.now());
        this.#world.freed(this);
        break;
      case 'wait':
        this.#wait(msOf(effect.wait, draw));
        break;
      case 'retry':
        this.#retry(effect.wait);
        break;
      case 'cancel_wait':
        this.#cancelWait();
        break;
      default:
        unreachable(effect);
    }
  }

  #retry(wait: Wait): void {
    const { clock, draw, budget } = this.#world;
    if (budget?.takeRetry(clock.now()) === false) {
      this.receive({ type: 'no_retry' });
      return;
    }
    const waitedMs = msOf(wait, draw);
    if (waitedMs === 0) this.receive({ type: 'wake', waitedMs });
    else this.#wait(waitedMs);
  }

  #send(job: Job, number: number): void {
    const { clock, transport, tally, timeoutMs, budget } = this.#world;
    const attempt = new SentAttempt(this, job, number, clock.now());
    this.#lastSent = attempt;
    if (number === 1) budget?.requested(attempt.sentMs);
    tally.sent(job, number);
    if (timeoutMs !== undefined) {
      attempt.timeout = clock.agenda.at(attempt.sentMs + timeoutMs, Rank.client, () => this.#timeOut(attempt));
    }
    transport.send(attempt);
  }

  #abandon(attempt: SentAttempt): void {
    if (attempt.timeout !== undefined) this.#world.clock.agenda.cancel(attempt.timeout);
    attempt.end('abandoned');
    this.#world.tally.abandoned(attempt.job);
    this.#world.transport.abandon(attempt);
  }

  #timeOut(attempt: SentAttempt): void {
    attempt.timeout = undefined;
    this.#abandon(attempt);
    this.receive({ type: 'timeout', attempt });
  }

  #wait(ms: number): void {
    const { clock } = this.#world;
    this.#cancelWait();
    this.#waitedMs = ms;
    this.#alarmMs = clock.now() + ms;
    this.#alarm = clock.agenda.at(this.#alarmMs, Rank.client, this.#wake);
  }

  #cancelWait(): void {
    if (this.#alarm !== undefined) this.#world.clock.agenda.cancel(this.#alarm);
    this.#alarm = undefined;
    this.#alarmMs = undefined;
  }

  readonly #wake = (): void => {
    this.#alarm = undefined;
    this.#alarmMs = undefined;
    this.receive({ type: 'wake', waitedMs: this.#waitedMs });
  };
}

function msOf(wait: Wait, draw: RandomStream): number {
  return typeof wait === 'number' ? wait : wait.drawMs(draw);
}

/** An attempt that has been sent. */
export class SentAttempt implements Attempt {
  timeout: Ticket | undefined;
  #fate: 'open' | 'answered' | 'abandoned' = 'open';

  constructor(
    readonly client: Client,
    readonly job: Job,
    readonly number: number,
    readonly sentMs: number,
  ) {}

  /** To be called once, with the answer. Of an abandoned attempt the client learns only that it was served. */
  answer(answer: Answer): void {
    if (this.#fate !== 'abandoned') {
      this.end('answered');
      this.client.answered(this, answer);
    } else if (answer.type === 'served') {
      this.client.receive({ type: 'late', attempt: this });
    }
  }

  /** A trace names the attempt; it does not follow it to its client and back. */
  toJSON(): { readonly job: number; readonly number: number } {
    return { job: this.job.number, number: this.number };
  }

  /** For the client: the attempt has ended. */
  end(fate: 'answered' | 'abandoned'): void {
    assert(this.#fate === 'open', `attempt ${this.number} of job ${this.job.number} ended twice`);
    this.#fate = fate;
  }
}
