// Owns the project's own limiter as the checks use it: the real gate and the template's plan, without a host around them.

import { Gate } from '../limiter/gate.js';
import { chooseTransition } from '../limiter/plan.js';
import { rateLimiter } from '../limiter/rate-limiter.js';
import { planContract } from '../limiter/validate.js';
import { standardOperators } from '../operator/registry.js';

/**
 * Makes gates that stand at cycle 0; the plan is made once.
 * @param within length of the window in cycles; with 1, all that a cycle counted has left when the next begins: a fixed window
 */
export function limiters(threshold: number, within: number): () => Gate {
  const plan = planContract(rateLimiter({ threshold, within }), (id) => standardOperators().get(id));
  return () => {
    const gate: Gate = new Gate(plan, 0, {
      move: (_cycle, counts) => chooseTransition(plan, gate.state, counts)?.to ?? gate.state,
    });
    return gate;
  };
}
