// What it costs if newly refused requests come again: the clients of `weir simulate`, in virtual time beside the log.
//
//   log       |   x     |        x: newly refused, a client begins
//   client        x..x....✓      its attempts meet the new limits between the requests of the log, and count there

import type { SentAttempt } from '../actor/client/client.js';
import { planClients } from '../actor/client/client-plan.js';
import type { LibraryName } from '../actor/client/libraries.js';
import { Population } from '../actor/client/population.js';
import type { DurationFigures } from '../math/durations.js';
import { drawsOf } from '../math/random.js';
import { VirtualClock } from '../time/virtual.js';

export interface RetryCost {
  /** The policy of the clients. */
  readonly like: LibraryName;
  /** Newly refused requests, with the retries of others among them; what is refused before too is in the log as it came again. */
  readonly refused: number;
  /** Refused with a status that libraries do not try again: neither 429 nor 503. */
  readonly not_retried: number;
  readonly retries: number;
  /** Retries, as a share of the requests of the log. */
  readonly extra_load: number;
  readonly served: number;
  readonly given_up: number;
  /** From the first attempt until served, in ms, of those served by a retry; null if none was. */
  readonly wait_ms: DurationFigures | null;
}

/** A refusal as its client hears it. */
interface Refused {
  /** Undefined where the connection is closed. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
}

export class LogRetries {
  /** Made at the first refusal. */
  #world: { readonly clock: VirtualClock; readonly population: Population } | undefined;
  #first: Refused | undefined;
  #refused = 0;
  #notRetried = 0;

  /** @param decide an attempt at a row of the log: undefined if it is admitted */
  constructor(
    readonly like: LibraryName,
    readonly decide: (row: number, ms: number) => Refused | undefined,
  ) {}

  /** Makes the attempts that are due up to `ms`, which does not fall. */
  passTo(ms: number): void {
    this.#world?.clock.run({ untilMs: ms });
  }

  /** A request of the log is newly refused at `ms`, to which time has passed. */
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

  /** After the last request: makes the attempts that are left. @param requests of the log */
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
