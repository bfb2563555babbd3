// A gate without a host: its mover takes what the plan says, and remembers it.

import { Gate } from '../../src/limiter/gate.js';
import { chooseTransition, type Plan } from '../../src/limiter/plan.js';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { planContract } from '../../src/limiter/validate.js';
import type { Operator } from '../../src/operator/operator.js';

export interface SeenTransition {
  readonly cycle: number;
  readonly to: string;
  readonly count: number;
}

export function plannedGate(plan: Plan, cycle: number): { gate: Gate; transitions: SeenTransition[] } {
  const transitions: SeenTransition[] = [];
  const gate: Gate = new Gate(plan, cycle, {
    move(at, counts) {
      const next = chooseTransition(plan, gate.state, counts)?.to ?? gate.state;
      if (next !== gate.state) transitions.push({ cycle: at, to: plan.states[next]!.name, count: counts[0]! });
      return next;
    },
  });
  return { gate, transitions };
}

export const anyOperator = (id: string): Operator | undefined =>
  id === 'KO42' ? ({ id, kind: 'substrate', proofRequired: false, inputs: {} } as unknown as Operator) : undefined;

export const limiterPlan = (threshold: number, within: number) =>
  planContract(rateLimiter({ threshold, within }), anyOperator);
