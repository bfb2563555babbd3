// The path of an attempt through the model: gate, service, answer.
//
//   attempt ─► gate ─ admitted ─► (held) ─► service ─ served ──────────┐
//               └─ limited ─┐                 └─ refused: failed ──────┤
//                           └──────────────────────────────────────────┴─► answer ─► (lost) ─► client
import type { Answer } from '../actor/client/behaviour.js';
import type { SentAttempt, Transport } from '../actor/client/client.js';
import type { Ticket } from '../time/agenda.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';
import type { Service, Visit } from './service.js';

type Limited = Extract<Answer, { type: 'limited' }>;

/** What the transport leads through; what is left out lets everything pass. */
export interface ModelledTransportParts {
  /** Counts a request at its contract now, and decides it; undefined: admitted; a number: admitted, and held so many ms. */
  readonly decide?: ((attempt: SentAttempt) => Limited | number | undefined) | undefined;
  /** For requests that are held. */
  readonly clock?: Clock | undefined;
  /** An admitted attempt is over: it was answered, refused by the service, or abandoned before it reached it. */
  readonly over?: ((attempt: SentAttempt) => void) | undefined;
  /** Behind the gate; its `onServed` must call `served`. */
  readonly service?: Service<SentAttempt> | undefined;
  /** Whether the answer that is about to be given gets lost. */
  readonly loses?: (() => boolean) | undefined;
}

export class ModelledTransport implements Transport {
  readonly #visits = new Map<SentAttempt, Visit<SentAttempt>>();
  readonly #held = new Map<SentAttempt, Ticket>();

  readonly #parts: ModelledTransportParts;

  constructor(parts: ModelledTransportParts) {
    this.#parts = parts;
  }

  send(attempt: SentAttempt): void {
    const { decide, clock } = this.#parts;
    const decided = decide?.(attempt);
    if (typeof decided === 'object') this.#answer(attempt, decided);
    else if (decided === undefined || decided === 0 || clock === undefined) this.#start(attempt);
    else {
      const start = () => {
        this.#held.delete(attempt);
        this.#start(attempt);
      };
      this.#held.set(attempt, clock.agenda.at(clock.now() + decided, Rank.arrival, start));
    }
  }

  abandon(attempt: SentAttempt): void {
    const ticket = this.#held.get(attempt);
    if (ticket !== undefined) {
      this.#parts.clock?.agenda.cancel(ticket);
      this.#held.delete(attempt);
      this.#parts.over?.(attempt);
    }
    const visit = this.#visits.get(attempt);
    if (visit === undefined) return;
    this.#visits.delete(attempt);
    const { service, over } = this.#parts;
    service?.abandon(visit);
    // What is being served goes on, and still holds its place.
    if (service?.isDropped(visit) === true) over?.(attempt);
  }

  /** For the service: the work is done. */
  served(attempt: SentAttempt): void {
    this.#visits.delete(attempt);
    this.#parts.over?.(attempt);
    this.#answer(attempt, served);
  }

  #start(attempt: SentAttempt): void {
    const { service, over } = this.#parts;
    const visit = service?.offer(attempt);
    if (visit !== undefined) {
      this.#visits.set(attempt, visit);
      return;
    }
    over?.(attempt);
    this.#answer(attempt, service === undefined ? served : failed);
  }

  #answer(attempt: SentAttempt, answer: Answer): void {
    const isLost = this.#parts.loses?.() === true;
    // Who has set a time limit hears nothing until it is over; others would wait for ever, so they hear of the loss.
    if (!isLost) attempt.answer(answer);
    else if (attempt.timeout === undefined) attempt.answer(lost);
  }
}

const served: Answer = { type: 'served' };
const failed: Answer = { type: 'failed' };
const lost: Answer = { type: 'lost' };
