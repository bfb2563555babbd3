// Owns a client as an XState actor: its mailbox, its alarm, and its attempts from sending to their one end. A thin shell: what to do
// is decided by a behaviour, time comes from the clock's agenda, never from XState's own timers.
//
//   behaviour ─ send ─► attempt ─► road ─► answer ─► event ─► mailbox ─► behaviour
//                          └─ patience over ─► the road is told ─► timeout ─┘
//
// One root actor for each client: spawning children under one parent costs more with every child.
import { type Actor, createActor, fromTransition, type TransitionActorLogic } from 'xstate';
import type { RandomStream } from '../../math/random.js';
import { assert } from '../../schema/failure.js';
import type { Ticket } from '../../time/agenda.js';
import type { Clock } from '../../time/clock.js';
import { Rank } from '../../time/rank.js';
import type { Inspect } from '../contract-actor.js';
import type { Answer, Attempt, Behaviour, ClientEvent, ClientPort, Ending, Job } from './port.js';
import type { ClientTally } from './tally.js';

/** Where attempts go: through a model of gate and service, or over a network. */
export interface Road {
  /** Takes an attempt on its way; its `answer` is to be called once, at once or later, unless it is abandoned before. */
  send(attempt: SentAttempt): void;
  /** Nobody waits for the attempt any more. It may be answered all the same. */
  abandon(attempt: SentAttempt): void;
}

/** What the clients of one kind share. */
export interface ClientWorld {
  readonly clock: Clock;
  readonly road: Road;
  readonly tally: ClientTally;
  readonly draw: RandomStream;
  /** How long a client waits for an answer, in ms; undefined for as long as it takes. */
  readonly timeoutMs: number | undefined;
  newJob(contract: number): Job;
  /** Called when a job is over: the client can take another. */
  freed(client: Client): void;
  readonly inspect: Inspect | undefined;
}

export type ClientState = { readonly at: string };

export class Client implements ClientPort {
  readonly #actor: Actor<TransitionActorLogic<ClientState, ClientEvent, undefined>>;
  readonly #world: ClientWorld;
  #alarm: Ticket | undefined;
  #alarmMs: number | undefined;
  #error: unknown;

  /**
   * @param id names the actor in traces; the same in every run of a seed
   * @param contract the contract to which jobs of its own go
   */
  constructor(
    readonly id: string,
    readonly contract: number,
    behaviour: Behaviour<ClientState>,
    world: ClientWorld,
  ) {
    this.#world = world;
    const logic = fromTransition<ClientState, ClientEvent, never, undefined>(
      (state, event) => behaviour.on(this, state, event),
      behaviour.initial,
    );
    this.#actor = createActor(logic, { id, ...(world.inspect === undefined ? {} : { inspect: world.inspect }) });
    // Without this subscription XState would throw an actor's error into the void of the next tick.
    this.#actor.subscribe({ error: (error) => (this.#error = error) });
    this.#actor.start();
  }

  get state(): ClientState {
    return this.#actor.getSnapshot().context;
  }

  /** When it will be woken, in unix ms; undefined when it waits for no time. */
  get alarmMs(): number | undefined {
    return this.#alarmMs;
  }

  /**
   * Gives the client an event. One that comes while it is still reacting waits in its mailbox.
   * @throws whatever the behaviour threw: a bug; the actor has stopped then, for good
   */
  tell(event: ClientEvent): void {
    this.#actor.send(event);
    if (this.#error !== undefined) throw this.#error;
  }

  get draw(): RandomStream {
    return this.#world.draw;
  }

  now(): number {
    return this.#world.clock.now();
  }

  newJob(): Job {
    return this.#world.newJob(this.contract);
  }

  send(job: Job, number: number): SentAttempt {
    const { clock, road, tally, timeoutMs } = this.#world;
    const attempt = new SentAttempt(this, job, number, clock.now());
    tally.sent(job, number);
    if (timeoutMs !== undefined) {
      attempt.timeout = clock.agenda.at(attempt.sentMs + timeoutMs, Rank.client, () => this.#timeOut(attempt));
    }
    road.send(attempt);
    return attempt;
  }

  abandon(attempt: Attempt): void {
    assert(attempt instanceof SentAttempt && attempt.client === this, 'a client can abandon its own attempts only');
    if (attempt.timeout !== undefined) this.#world.clock.agenda.cancel(attempt.timeout);
    attempt.end('abandoned');
    this.#world.tally.abandoned(attempt.job);
    this.#world.road.abandon(attempt);
  }

  finish(job: Job, ending: Ending): void {
    this.#world.tally.finished(job, ending, this.now());
    this.#world.freed(this);
  }

  setAlarm(atMs: number): void {
    this.clearAlarm();
    this.#alarm = this.#world.clock.agenda.at(atMs, Rank.client, this.#wake);
    this.#alarmMs = atMs;
  }

  clearAlarm(): void {
    if (this.#alarm !== undefined) this.#world.clock.agenda.cancel(this.#alarm);
    this.#alarm = undefined;
    this.#alarmMs = undefined;
  }

  /** For `SentAttempt.answer`. */
  answered(attempt: SentAttempt, answer: Answer): void {
    const { clock, tally } = this.#world;
    if (attempt.timeout !== undefined) clock.agenda.cancel(attempt.timeout);
    if (answer.type === 'served') tally.served(attempt.job, clock.now() - attempt.sentMs);
    if (answer.type === 'limited') this.tell({ type: 'limited', retryAfterMs: answer.retryAfterMs, attempt });
    else this.tell({ type: answer.type, attempt });
  }

  readonly #wake = (): void => {
    this.#alarm = undefined;
    this.#alarmMs = undefined;
    this.tell(wake);
  };

  #timeOut(attempt: SentAttempt): void {
    attempt.timeout = undefined;
    this.abandon(attempt);
    this.tell({ type: 'timeout', attempt });
  }
}

const wake: ClientEvent = { type: 'wake' };

/** An attempt on the road. */
export class SentAttempt implements Attempt {
  timeout: Ticket | undefined;
  #fate: 'open' | 'answered' | 'abandoned' = 'open';

  constructor(
    readonly client: Client,
    readonly job: Job,
    readonly number: number,
    readonly sentMs: number,
  ) {}

  /** Tells the client what became of the attempt. To be called once; of an abandoned attempt only that it was served is told. */
  answer(answer: Answer): void {
    if (this.#fate !== 'abandoned') {
      this.end('answered');
      this.client.answered(this, answer);
    } else if (answer.type === 'served') {
      this.client.tell({ type: 'late', attempt: this });
    }
  }

  /** A trace names the attempt; it does not follow it to its client and back. */
  toJSON(): { readonly job: number; readonly number: number } {
    return { job: this.job.number, number: this.number };
  }

  /** For the client: from here on no answer is heard. */
  end(fate: 'answered' | 'abandoned'): void {
    assert(this.#fate === 'open', `attempt ${this.number} of job ${this.job.number} ended twice`);
    this.#fate = fate;
  }
}
