// Evaluates an event on the compiled machine. XState interprets the same config (actor/interpreted-moves.ts); a property compares the two.
import { asksFor, type ContractEvent, held, heldUntil } from './guards.js';
import { type CompiledTransition, firingAt, type Plan } from './plan.js';

export interface Position {
  readonly state: number;
  readonly heldUntilCycle: number;
}

/** Replaces the compiled machine of a gate. It receives every event and every cycle. */
export interface Moves {
  transitionAt(event: ContractEvent): CompiledTransition | undefined;
  after(event: ContractEvent): Position;
}

export function transitionAt(plan: Plan, at: Position, event: ContractEvent): CompiledTransition | undefined {
  if (event.type !== 'aggregate')
    return plan.states[at.state]!.transitions.find((transition) => asksFor(transition.asksFor, event));
  return held(at.heldUntilCycle, event) ? undefined : firingAt(plan, at.state, event.counts);
}

export function positionAfter(at: Position, event: ContractEvent, transition?: CompiledTransition): Position {
  if (transition === undefined && event.type !== 'refused') return at;
  return { state: transition?.to ?? at.state, heldUntilCycle: heldUntil(event) };
}
