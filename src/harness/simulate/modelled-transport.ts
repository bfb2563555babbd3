// The path of an attempt through the model: network, gate, service, answer. During a pause of the node, attempts wait in order.
//
//   attempt ─ one way ─► gate ─ admitted ─► (held) ─► service ─ served ──────────┐
//                         └─ limited ─┐                 └─ refused: failed ──────┤
//                                     └──────────────────────────────────────────┴─► answer ─► (lost) ─ one way ─► client
import type { Party } from '../../core/limiter/actor-system.js';
import type { Ticket } from '../../core/time/agenda.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';
import type { ServiceAnswer } from '../clients/behaviour.js';
import type { SentAttempt, Transport } from '../clients/client.js';
import type { JourneyRecorder } from './journeys.js';
import type { Service, Visit } from './service.js';

type Limited = Extract<ServiceAnswer, { type: 'limited' }>;

/** A missing part lets everything pass. */
export interface ModelledTransportParts {
  /** Counts and decides a request now. A number: admitted, but held for this many ms; undefined: admitted at once. */
  readonly decide?: ((attempt: SentAttempt) => Limited | number | undefined) | undefined;
  readonly clock: Clock;
  readonly pauses?: readonly Pause[] | undefined;
  /** Draws how long a request or an answer is under way, in ms. Without it they arrive at once. */
  readonly drawOneWayMs?: (() => number) | undefined;
  /** An admitted attempt ended: answered, refused by the service, or abandoned before it was served. */
  readonly over?: ((attempt: SentAttempt, wasServed: boolean, arrivedMs: number) => void) | undefined;
  readonly service?: Service<SentAttempt> | undefined;
  readonly loses?: (() => boolean) | undefined;
  /** The wait announced by a failed answer, in ms. */
  readonly drawRetryAfterMs?: (() => number) | undefined;
  readonly journeys?: JourneyRecorder | undefined;
}

interface Pause {
  readonly fromMs: number;
  readonly toMs: number;
}

export class ModelledTransport implements Transport {
  #waiting = new Map<SentAttempt, 'wanted' | 'abandoned'>();
  readonly #visits = new Map<SentAttempt, Visit<SentAttempt>>();
  readonly #held = new Map<SentAttempt, Ticket>();
  /** With a network: when an attempt arrives at the gate. */
  readonly #arrivalMs = new Map<SentAttempt, number>();

  readonly #parts: ModelledTransportParts;

  constructor(parts: ModelledTransportParts) {
    this.#parts = parts;
  }

  send(attempt: SentAttempt): void {
    const atMs = this.#oneWayOn(Rank.arrival, () => this.#arrive(attempt));
    if (atMs !== undefined) this.#arrivalMs.set(attempt, atMs);
  }

  /** The gate hears of it one way later, and not before the attempt itself. */
  abandon(attempt: SentAttempt): void {
    this.#oneWayOn(Rank.client, () => this.#drop(attempt), this.#arrivalMs.get(attempt));
  }

  /** Works at once without a network. @returns when it works, otherwise */
  #oneWayOn(rank: Rank, work: () => void, leastMs = 0): number | undefined {
    const { clock, drawOneWayMs } = this.#parts;
    if (drawOneWayMs === undefined) {
      work();
      return undefined;
    }
    const atMs = Math.max(clock.now() + drawOneWayMs(), leastMs);
    clock.agenda.at(atMs, rank, work);
    return atMs;
  }

  #arrive(attempt: SentAttempt): void {
    const { decide, clock, journeys, pauses } = this.#parts;
    const nowMs = clock.now();
    const pause = pauses?.find(({ fromMs, toMs }) => nowMs >= fromMs && nowMs < toMs);
    if (pause !== undefined) {
      if (this.#waiting.size === 0) clock.agenda.at(pause.toMs, Rank.arrival, () => this.#goOn());
      this.#waiting.set(attempt, 'wanted');
      return;
    }
    const decided = decide?.(attempt);
    journeys?.decided(attempt, clock, typeof decided === 'object' ? undefined : (decided ?? 0));
    if (typeof decided === 'object') this.#answer(attempt, decided, attempt.job.contract);
    else if (decided === undefined || decided === 0) this.#start(attempt);
    else {
      const start = clock.agenda.at(nowMs + decided, Rank.arrival, () => this.#start(attempt));
      this.#held.set(attempt, start);
    }
  }

  #drop(attempt: SentAttempt): void {
    // Already sent: the node counts it after the pause, and hears of this then.
    if (this.#waiting.has(attempt)) this.#waiting.set(attempt, 'abandoned');
    const { clock, journeys } = this.#parts;
    journeys?.abandoned(attempt, clock);
    const ticket = this.#held.get(attempt);
    if (ticket !== undefined) {
      clock.agenda.cancel(ticket);
      this.#held.delete(attempt);
      this.#over(attempt, false);
    }
    const visit = this.#visits.get(attempt);
    if (visit === undefined) return;
    this.#visits.delete(attempt);
    const { service } = this.#parts;
    service?.abandon(visit);
    // Otherwise the service still works on it, or it keeps its place in the queue.
    if (service?.isDropped(visit) === true) this.#over(attempt, false);
  }

  ended(attempt: SentAttempt, isServed: boolean): void {
    this.#visits.delete(attempt);
    this.#over(attempt, isServed);
    this.#answer(attempt, isServed ? served : this.#failure(), 'service');
  }

  #goOn(): void {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [attempt, fate] of waiting) {
      this.#arrive(attempt);
      if (fate === 'abandoned') this.#drop(attempt);
    }
  }

  #start(attempt: SentAttempt): void {
    const { service } = this.#parts;
    this.#held.delete(attempt);
    const visit = service?.offer(attempt);
    if (visit !== undefined) this.#visits.set(attempt, visit);
    else if (service !== undefined) this.ended(attempt, false);
    else {
      this.#over(attempt, true);
      this.#answer(attempt, served, attempt.job.contract);
    }
  }

  #over(attempt: SentAttempt, wasServed: boolean): void {
    this.#parts.over?.(attempt, wasServed, this.#arrivalMs.get(attempt) ?? attempt.sentMs);
    this.#arrivalMs.delete(attempt);
  }

  #failure(): ServiceAnswer {
    const { drawRetryAfterMs } = this.#parts;
    return drawRetryAfterMs === undefined ? failed : { type: 'failed', retryAfterMs: drawRetryAfterMs() };
  }

  #answer(attempt: SentAttempt, answer: ServiceAnswer, from: Party): void {
    const { loses, clock, journeys } = this.#parts;
    this.#arrivalMs.delete(attempt);
    const isLost = loses?.() === true;
    journeys?.ended(attempt, clock, isLost ? 'lost' : answer.type);
    this.#oneWayOn(Rank.client, () => {
      // A client with a timeout notices the loss itself; others would wait for ever.
      if (!isLost) attempt.answer(answer, from);
      else if (attempt.timeout === undefined) attempt.answer(lost, 'network');
    });
  }
}

const served: ServiceAnswer = { type: 'served' };
const failed: ServiceAnswer = { type: 'failed' };
const lost: ServiceAnswer = { type: 'lost' };
