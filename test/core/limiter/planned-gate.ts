// A gate without a host: the transitions that it takes are remembered.
import { has, type IntegerSet } from '../../../src/core/limiter/expression/integer-set.js';
import { type Due, Gate } from '../../../src/core/limiter/gate.js';
import type { GateImage } from '../../../src/core/limiter/gate-record.js';
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

/** The same contract, whose machine is asked at every event: each count is a band of its own. */
export function withoutBands(plan: Plan): Plan {
  const singles = (set: IntegerSet) =>
    Array.from({ length: 64 }, (_, n) => ({ lo: n, hi: n })).filter(({ lo }) => has(set, lo));
  return { ...plan, states: plan.states.map((state) => ({ ...state, quiet: state.quiet.map(singles) })) };
}

export const limiterPlan = (threshold: number, within: number) => planContract(rateLimiter({ threshold, within }));
