// A limiter's rule on the side of the client: client-go's bucket of 5 a second, or a limit on what is in flight.
import { LIMITED, NEVER, type Rule } from '../../../limiter/rule/rule.js';
import type { AttemptEnd } from '../retry-limit.js';
import { type ClientGate, type GateAnswer, open, refused } from './client-gate.js';

export class LimiterGate implements ClientGate {
  readonly #rule: Rule;
  readonly #state: unknown;
  readonly #full: 'wait' | 'fail';
  readonly #holdMs: number;

  constructor(rule: Rule, full: 'wait' | 'fail', startMs: number) {
    this.#rule = rule;
    this.#state = rule.fresh(startMs);
    this.#full = full;
    this.#holdMs = rule.release === undefined ? 0 : Number.POSITIVE_INFINITY;
  }

  enter(nowMs: number): GateAnswer {
    const delayMs = this.#rule.decide(this.#state, nowMs, 1, this.#holdMs);
    if (delayMs !== LIMITED) return delayMs === 0 ? open : { type: 'wait', ms: delayMs };
    if (this.#full === 'fail') return refused;
    const nextMs = this.#rule.nextAdmission(this.#state, nowMs, 1);
    // A limit on what is in flight does not know when a place becomes free.
    return nextMs === NEVER
      ? { type: 'again', ms: RETRY_MS }
      : { type: 'again', ms: Math.max(LEAST_MS, nextMs - nowMs) };
  }

  ended({ nowMs, heldMs }: AttemptEnd): void {
    this.#rule.release?.(this.#state, nowMs, heldMs);
  }
}

const RETRY_MS = 10;
/** Time goes on, however near the next admission is. */
const LEAST_MS = 2 ** -10;
