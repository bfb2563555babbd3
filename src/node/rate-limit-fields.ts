// Owns the HTTP fields by which a client learns how much it may send, and when again (draft-ietf-httpapi-ratelimit-headers).
// Leaves the numbers to decision.ts.
//
//   RateLimit-Policy: "default";q=100;w=47     quota of a window, and its length in seconds
//   RateLimit: "default";r=12;t=0              what remains, and in how many seconds one more would be admitted

import type { Contract } from '../host/contract.js';
import type { Plan } from '../limiter/plan.js';
import { secondsIn, secondsUntil } from '../time/cycle.js';
import type { Decision } from './decision.js';

/** What is written beside a decision. */
export interface RateLimitFields {
  /** Absent for a contract without a threshold. */
  readonly policy: string | undefined;
  readonly rateLimit: string | undefined;
  /** Seconds, rounded up: who waits this long and is alone is admitted. 0 for now, undefined for never. */
  readonly retryAfter: number | undefined;
}

export class RateLimitWriter {
  readonly #policies = new WeakMap<Plan, string[]>();

  constructor(private readonly cycleMs: number) {}

  /**
   * @param kind index into `plan.kinds`
   * @param nowMs unix ms
   */
  fieldsOf({ gate, plan }: Contract, kind: number, decision: Decision, nowMs: number): RateLimitFields {
    const { remaining, retry_after_cycles: after } = decision;
    const retryAfter =
      after === undefined || after === 0 ? after : secondsUntil(gate.cycle + after, nowMs, this.cycleMs);
    if (remaining === undefined) return { policy: undefined, rateLimit: undefined, retryAfter };
    const reset = retryAfter === undefined ? '' : `;t=${retryAfter}`;
    const aggregate = plan.kinds[kind]!.aggregates[0]!;
    return { policy: this.#policyOf(plan, aggregate), rateLimit: `"default";r=${remaining}${reset}`, retryAfter };
  }

  #policyOf(plan: Plan, aggregate: number): string {
    let policies = this.#policies.get(plan);
    if (policies === undefined) {
      policies = plan.aggregates.map(
        ({ within }, index) => `"default";q=${plan.thresholds[index]};w=${secondsIn(within, this.cycleMs)}`,
      );
      this.#policies.set(plan, policies);
    }
    return policies[aggregate]!;
  }
}
