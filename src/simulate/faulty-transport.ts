// A node that stands still for a while: what is sent meanwhile waits in front of it, and is taken in order afterwards.
import type { SentAttempt, Transport } from '../actor/client/client.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

export interface Pause {
  /** unix ms */
  readonly fromMs: number;
  readonly toMs: number;
}

export class FaultyTransport implements Transport {
  #waiting = new Set<SentAttempt>();

  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #pauses: readonly Pause[];

  constructor(clock: Clock, transport: Transport, pauses: readonly Pause[]) {
    this.#clock = clock;
    this.#transport = transport;
    this.#pauses = pauses;
  }

  send(attempt: SentAttempt): void {
    const now = this.#clock.now();
    const pause = this.#pauses.find(({ fromMs, toMs }) => now >= fromMs && now < toMs);
    if (pause === undefined) {
      this.#transport.send(attempt);
      return;
    }
    if (this.#waiting.size === 0) this.#clock.agenda.at(pause.toMs, Rank.arrival, () => this.#goOn());
    this.#waiting.add(attempt);
  }

  /** The request is under way already: the node counts it all the same, and answers nobody. */
  abandon(attempt: SentAttempt): void {
    if (!this.#waiting.has(attempt)) this.#transport.abandon(attempt);
  }

  #goOn(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const attempt of waiting) this.send(attempt);
  }
}
