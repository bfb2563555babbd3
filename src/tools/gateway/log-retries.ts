// The cost of retries after newly refused requests: the clients of `weir simulate`, in virtual time along the log.
//
//   log       |   x     |        x: newly refused, a client begins
//   client        x..x....✓      its attempts count against the new limits, between the requests of the log

import { drawsOf } from '../../core/math/random.js';
import { VirtualClock } from '../../core/time/virtual.js';
import type { SentAttempt } from '../../harness/clients/client.js';
import { planClients } from '../../harness/clients/client-plan.js';
import type { LibraryName } from '../../harness/clients/libraries.js';
import { Population } from '../../harness/clients/population.js';
import type { RetryCost } from './diff-answer.js';

interface Refused {
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
}

export class LogRetries {
  #world: { readonly clock: VirtualClock; readonly population: Population } | undefined;
  #first: Refused | undefined;
  #refused = 0;
  #notRetried = 0;

  constructor(
    readonly like: LibraryName,
    readonly decide: (row: number, ms: number) => Refused | undefined,
  ) {}

  passTo(ms: number): void {
    this.#world?.clock.run({ untilMs: ms });
  }

  /** Starts the client of a newly refused request. Call `passTo(ms)` first. */
  refused(row: number, ms: number, refused: Refused): void {
    this.#refused += 1;
    if (refused.status !== 429 && refused.status !== 503) {
      this.#notRetried += 1;
      return;
    }
    this.#world ??= this.#begin(ms);
    this.#first = refused;
    this.#world.population.arrive(row);
  }

  #begin(ms: number) {
    const clock = new VirtualClock(ms, 1);
    const send = (attempt: SentAttempt) => {
      const refused = this.#first ?? this.decide(attempt.job.contract, clock.now());
      this.#first = undefined;
      attempt.answer(
        refused === undefined ? { type: 'served' } : { type: 'limited', retryAfterMs: refused.retryAfterMs },
      );
    };
    const population = new Population({
      clock,
      transport: { send, abandon: () => {} },
      plans: planClients([{ like: this.like }], 1),
      draws: drawsOf('diff'),
      contracts: 1,
    });
    return { clock, population };
  }

  end(requests: number): RetryCost {
    this.passTo(Infinity);
    const figures = this.#world?.population.figures()[0];
    const { retries = 0, succeeded = 0, given_up = 0, dropped = 0 } = figures ?? {};
    return {
      like: this.like,
      refused: this.#refused,
      not_retried: this.#notRetried,
      retries,
      extra_load: requests === 0 ? 0 : retries / requests,
      served: succeeded,
      given_up: given_up + dropped,
      wait_ms: figures?.job_latency_ms ?? null,
    };
  }
}
