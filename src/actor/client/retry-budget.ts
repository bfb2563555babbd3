// How many retries the clients of a kind may make together: a share of their requests, and a floor.
//
//   the last `overMs`    | requests  . .. ... .. . |      retries in it  <=  share * requests in it + floor
//
// Without a budget a service that fails is sent up to maxAttempts times its load; with one, at most 1 + share times.
// After the retry budgets of Finagle (a share of requests, with a reserve) and of "Site Reliability Engineering" (O'Reilly
// 2016, chapter 21: retries below 10 % of requests).

import { RollingWindow } from '../../limiter/window.js';
import { cycleOf } from '../../time/cycle.js';

export interface RetryBudgetPlan {
  /** Retries allowed for each request, 0 .. 10. */
  readonly share: number;
  /** Retries allowed in `overMs` however few the requests are, at least 0. */
  readonly floor: number;
  /** Over how long both are counted, in ms, an integer of at least SLICES. */
  readonly overMs: number;
}

/** The window moves on in tenths of its length. */
export const SLICES = 10;

export class RetryBudget {
  readonly #share: number;
  readonly #floor: number;
  readonly #sliceMs: number;
  readonly #requests: RollingWindow;
  readonly #retries: RollingWindow;

  constructor({ share, floor, overMs }: RetryBudgetPlan, startMs: number) {
    this.#share = share;
    this.#floor = floor;
    this.#sliceMs = Math.ceil(overMs / SLICES);
    const slice = cycleOf(startMs, this.#sliceMs);
    this.#requests = new RollingWindow(SLICES, slice);
    this.#retries = new RollingWindow(SLICES, slice);
  }

  /** A first attempt is made. */
  requested(nowMs: number): void {
    this.#requests.advance(cycleOf(nowMs, this.#sliceMs));
    this.#requests.add(1);
  }

  /** Takes one retry out of the budget; false when there is none left. */
  takeRetry(nowMs: number): boolean {
    const slice = cycleOf(nowMs, this.#sliceMs);
    this.#requests.advance(slice);
    this.#retries.advance(slice);
    if (this.#retries.count + 1 > this.#share * this.#requests.count + this.#floor) return false;
    this.#retries.add(1);
    return true;
  }
}
