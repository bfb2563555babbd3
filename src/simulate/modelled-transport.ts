// The path of an attempt through the model: gate, service, answer.
//
//   attempt ─► gate ─ admitted ─► service ─ served ──────────┐
//               └─ limited ─┐       └─ refused: failed ──────┤
//                           └────────────────────────────────┴─► answer ─► (lost) ─► client

import type { Answer } from '../actor/client/behaviour.js';
import type { SentAttempt, Transport } from '../actor/client/client.js';
import type { Service, Visit } from './service.js';

/** What the transport leads through; what is left out lets everything pass. */
export interface ModelledTransportParts {
  /** Counts a request at its contract now, and decides it; undefined: admitted. */
  readonly decide?: ((attempt: SentAttempt) => Extract<Answer, { type: 'limited' }> | undefined) | undefined;
  /** Behind the gate; its `onServed` must call `served`. */
  readonly service?: Service<SentAttempt> | undefined;
  /** Whether the answer that is about to be given gets lost. */
  readonly loses?: (() => boolean) | undefined;
}

export class ModelledTransport implements Transport {
  readonly #visits = new Map<SentAttempt, Visit<SentAttempt>>();

  constructor(private readonly parts: ModelledTransportParts) {}

  send(attempt: SentAttempt): void {
    const { decide, service } = this.parts;
    const limited = decide?.(attempt);
    if (limited !== undefined || service === undefined) {
      this.#answer(attempt, limited ?? served);
      return;
    }
    const visit = service.offer(attempt);
    if (visit === undefined) this.#answer(attempt, failed);
    else this.#visits.set(attempt, visit);
  }

  abandon(attempt: SentAttempt): void {
    const visit = this.#visits.get(attempt);
    if (visit === undefined) return;
    this.#visits.delete(attempt);
    this.parts.service?.abandon(visit);
  }

  /** For the service: the work is done. */
  served(attempt: SentAttempt): void {
    this.#visits.delete(attempt);
    this.#answer(attempt, served);
  }

  #answer(attempt: SentAttempt, answer: Answer): void {
    const isLost = this.parts.loses?.() === true;
    // Who has set a time limit hears nothing until it is over; others would wait for ever, so they hear of the loss.
    if (!isLost) attempt.answer(answer);
    else if (attempt.timeout === undefined) attempt.answer(lost);
  }
}

const served: Answer = { type: 'served' };
const failed: Answer = { type: 'failed' };
const lost: Answer = { type: 'lost' };
