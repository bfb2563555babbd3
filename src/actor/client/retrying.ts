// Owns the client that tries again after any setback, paced by a back-off policy and bounded by attempts and budget.
// Leaves the pauses to backoff.ts, the budget to retry-budget.ts, the course of a job to requesting.ts.
//
//   send ─► setback ─► attempts left? ─► budget left? ─► pause ─► send ─► ...
//                       └ no: given up    └ no: given up
import type { Pauses } from './backoff.js';
import type { Behaviour } from './port.js';
import { type RequestingState, requesting } from './requesting.js';
import type { RetryBudget } from './retry-budget.js';

export interface RetryingPlan {
  /** Attempts that a job may take, at least 1. */
  readonly maxAttempts: number;
  /** Whether it waits at least as long as a limiter says. */
  readonly honoursRetryAfter: boolean;
  /** Whether an answer to an attempt it has given up still ends the job: messages with an id, rather than calls. */
  readonly takesLateAnswers: boolean;
}

/** @param budget shared by the clients of the kind, as by the requests of one process; undefined for none */
export function retrying(
  { maxAttempts, honoursRetryAfter, takesLateAnswers }: RetryingPlan,
  pauseMs: Pauses,
  budget: RetryBudget | undefined,
): Behaviour<RequestingState> {
  return requesting({
    takesLate: takesLateAnswers,
    begins: (port) => budget?.requested(port.now()),
    after(setback, { attempts, pausedMs }, port) {
      if (attempts >= maxAttempts) return undefined;
      if (budget !== undefined && !budget.takeRetry(port.now())) return undefined;
      const backoffMs = pauseMs(attempts, pausedMs, port.draw);
      const toldMs = honoursRetryAfter && setback.type === 'limited' ? (setback.retryAfterMs ?? 0) : 0;
      return Math.max(backoffMs, toldMs);
    },
  });
}
