// Retries at a time: at most a share of the requests in flight, and a few in any case.
//
//   retries waiting or in flight  <=  max(least, share * (in flight + retries waiting))
//
// After the retry budget of Envoy's circuit breakers.
import type { AttemptEnd, RetryLimit } from './retry-limit.js';

export interface RetryConcurrencyPlan {
  readonly share: number;
  readonly least: number;
}

export class RetryConcurrency implements RetryLimit {
  readonly name = 'retry concurrency';
  readonly #plan: RetryConcurrencyPlan;
  /** First attempts in flight. */
  #firsts = 0;
  /** Waiting or in flight. */
  #retries = 0;

  constructor(plan: RetryConcurrencyPlan) {
    this.#plan = plan;
  }

  requested(): void {
    this.#firsts += 1;
  }

  takeRetry(): boolean {
    const { share, least } = this.#plan;
    if (this.#retries + 1 > Math.max(least, share * (this.#firsts + this.#retries))) return false;
    this.#retries += 1;
    return true;
  }

  ended({ after }: AttemptEnd): void {
    if (after === undefined) this.#firsts -= 1;
    else if (after !== 'hedge') this.#retries -= 1;
  }

  unused(): void {
    this.#retries -= 1;
  }
}
