// A gate with its actor and without a host: what the actor takes is remembered.
import { ContractActor, type Proposal } from '../../src/actor/contract-actor.js';
import type { Gate, GateImage } from '../../src/limiter/gate.js';
import type { Plan } from '../../src/limiter/plan.js';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { gateFor } from '../../src/limiter/rule-gate.js';
import { planContract } from '../../src/limiter/validate.js';
import type { Operator } from '../../src/operator/operator.js';

export interface SeenTransition {
  readonly cycle: number;
  readonly to: string;
  readonly count: number;
}

class SeenActor extends ContractActor {
  readonly transitions: SeenTransition[] = [];

  protected override perform({ event, transition, count }: Proposal): boolean {
    this.transitions.push({ cycle: event.cycle, to: this.plan.states[transition.to]!.name, count });
    return true;
  }
}

/** @param image where the gate goes on; default: new, in the initial state */
export function plannedGate(
  plan: Plan,
  cycle: number,
  image?: GateImage,
): { gate: Gate; transitions: SeenTransition[] } {
  const start = image ?? { state: plan.states[plan.initial]!.name, heldUntilCycle: cycle };
  const actor = new SeenActor(plan, 'test', start);
  return { gate: gateFor(plan, cycle, { cycleMs: 1, nowMs: cycle }, actor, image), transitions: actor.transitions };
}

export const anyOperator = (id: string): Operator | undefined =>
  id === 'KO42' ? ({ id, kind: 'substrate', proofRequired: false, inputs: {} } as unknown as Operator) : undefined;

export const limiterPlan = (threshold: number, within: number) =>
  planContract(rateLimiter({ threshold, within }), anyOperator);
