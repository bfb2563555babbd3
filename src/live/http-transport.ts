// Owns the transport of client actors over a network: attempts become requests, answers become what a client hears. Leaves requests
// under way to flights.ts, clients to actor/client/.

import type { Answer } from '../actor/client/behaviour.js';
import type { SentAttempt, Transport } from '../actor/client/client.js';
import { unreachable } from '../schema/failure.js';
import type { Clock } from '../time/clock.js';
import type { End, Flights } from './flights.js';

export class HttpTransport implements Transport {
  #stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly flights: Flights,
    private readonly onSend: (atMs: number) => void,
  ) {}

  /** What clients send from now on goes nowhere, and they hear nothing. */
  stop(): void {
    this.#stopped = true;
  }

  send(attempt: SentAttempt): void {
    if (this.#stopped) return;
    const nowMs = this.clock.now();
    this.onSend(nowMs);
    this.flights.launch(attempt.job.contract, nowMs, (end) => {
      if (!this.#stopped) attempt.answer(answerOf(end));
    });
  }

  /** The request is under way already: the target counts it all the same. */
  abandon(): void {}
}

function answerOf(end: End): Answer {
  switch (end.type) {
    case 'decided':
      return end.admitted ? { type: 'served' } : { type: 'limited', retryAfterMs: end.retryAfterMs };
    case 'failed':
      return { type: 'failed' };
    case 'timed_out':
      return { type: 'lost' };
    default:
      return unreachable(end);
  }
}
