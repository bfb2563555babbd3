// The project's own limiter as the checks use it: the real gate of the template, without a host around it.
import { makeGate } from '../actor/contract-actor.js';
import type { Gate } from '../limiter/gate.js';
import { rateLimiter } from '../limiter/rate-limiter.js';
import { planContract } from '../limiter/validate.js';

/**
 * Makes gates that begin at cycle 0; the plan is made once.
 * @param within length of the window in cycles; with 1, all that a cycle counted has left when the next begins: a fixed window
 */
export function limiters(threshold: number, within: number): () => Gate {
  const plan = planContract(rateLimiter({ threshold, within }));
  return () => makeGate(plan, 0);
}
