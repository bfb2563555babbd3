// Tokens that retries need, shared by all requests of one instance.
//
//   tokens   capacity ──► less by the cost of a setback ──► retries end at 0, or at the threshold
//                    ◄── more by the refund of a success
//
// charge: retry     a retry pays, and is not made without enough tokens (the SDKs of AWS: 500, 14 or 5, back after a retry that was served)
// charge: setback   every setback takes its cost, retried or not (gRPC A6: 10, 1, back 0.1, threshold 5)
import type { SetbackType } from './behaviour.js';
import type { AttemptEnd, RetryLimit } from './retry-limit.js';

export interface RetryQuotaPlan {
  readonly capacity: number;
  readonly cost: Readonly<Record<SetbackType, number>>;
  readonly charge: 'retry' | 'setback';
  /** Undefined: none. */
  readonly threshold: number | undefined;
  readonly refund: { readonly start: number; readonly first: number; readonly retried: number | 'cost' };
}

export class RetryQuota implements RetryLimit {
  readonly name = 'retry quota';
  readonly #plan: RetryQuotaPlan;
  #tokens: number;

  constructor(plan: RetryQuotaPlan) {
    this.#plan = plan;
    this.#tokens = plan.capacity;
  }

  get tokens(): number {
    return this.#tokens;
  }

  requested(): void {
    this.#give(this.#plan.refund.start);
  }

  takeRetry(_nowMs: number, after: SetbackType): boolean {
    const { charge, cost, threshold = Number.NEGATIVE_INFINITY } = this.#plan;
    if (this.#tokens <= threshold) return false;
    if (charge === 'setback') return threshold > Number.NEGATIVE_INFINITY || this.#tokens > 0;
    if (this.#tokens < cost[after]) return false;
    this.#tokens -= cost[after];
    return true;
  }

  ended({ type, after }: AttemptEnd): void {
    const { charge, cost, refund } = this.#plan;
    if (type === 'abandoned') return;
    if (type !== 'served') {
      if (charge === 'setback') this.#tokens = Math.max(0, this.#tokens - cost[type]);
    } else if (after === undefined || after === 'hedge') this.#give(refund.first);
    else this.#give(refund.retried === 'cost' ? cost[after] : refund.retried);
  }

  #give(tokens: number): void {
    this.#tokens = Math.min(this.#plan.capacity, this.#tokens + tokens);
  }
}
