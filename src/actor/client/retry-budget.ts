// How many retries an instance may make: a share of its requests, and a floor.
//
//   the last `overMs`    | requests  . .. ... .. . |      retries in it  <=  share * requests in it + floor
//
// Without a budget a service that fails is sent up to maxAttempts times its load; with one, at most 1 + share times.
// After the retry budgets of Finagle (a share of requests, with a reserve) and of "Site Reliability Engineering" (O'Reilly
// 2016, chapter 21: retries below 10 % of requests).

import type { RetryLimit } from './retry-limit.js';
import { SlicedCounts } from './sliced-counts.js';

export interface RetryBudgetPlan {
  /** Retries for each request, 0 .. 10. */
  readonly share: number;
  /** Retries in `overMs` however few the requests are, at least 0. */
  readonly floor: number;
  /** Length of the window in ms, an integer of at least SLICES. */
  readonly overMs: number;
}

export class RetryBudget implements RetryLimit {
  readonly name = 'retry budget';
  readonly #share: number;
  readonly #floor: number;
  readonly #counts: SlicedCounts;

  constructor({ share, floor, overMs }: RetryBudgetPlan, startMs: number) {
    this.#share = share;
    this.#floor = floor;
    this.#counts = new SlicedCounts(overMs, startMs);
  }

  requested(nowMs: number): void {
    this.#counts.countRequest(nowMs);
  }

  /** False when the budget is used up. */
  takeRetry(nowMs: number): boolean {
    const counts = this.#counts;
    counts.advance(nowMs);
    if (counts.others + 1 > this.#share * counts.requests + this.#floor) return false;
    counts.countOther(nowMs);
    return true;
  }
}
