// A gate without a host: the transitions that it takes are remembered.
import { type Due, Gate, type GateImage } from '../../../src/core/limiter/gate.js';
import type { Plan } from '../../../src/core/limiter/plan.js';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';

export interface SeenTransition {
  readonly cycle: number;
  readonly to: string;
  readonly count: number;
}

/** @param image where the gate goes on; default: new, in the initial state */
export function plannedGate(
  plan: Plan,
  cycle: number,
  image?: GateImage,
): { gate: Gate; transitions: SeenTransition[] } {
  const transitions: SeenTransition[] = [];
  const recordTransition = ({ event, transition, count }: Due) => {
    transitions.push({ cycle: event.cycle, to: plan.states[transition.to]!.name, count });
    return true;
  };
  return { gate: new Gate(plan, { cycle, cycleMs: 1, nowMs: cycle, owner: { recordTransition }, image }), transitions };
}

export const limiterPlan = (threshold: number, within: number) => planContract(rateLimiter({ threshold, within }));
