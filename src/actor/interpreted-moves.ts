// The moves of a contract as XState interprets its machine: for runs that are inspected, and for the property that holds the compiled
// moves to it. A transition that an operator refuses never happened, so an event is given to the actor after it was performed:
//
//   event ─► transition(machine, snapshot, event): which transition is due   ─► performed ─► actor.send(event)
//                                                                             refused    ─► the snapshot stays
import { type Actor, createActor, type InspectionEvent, type Observer, transition } from 'xstate';
import type { GateImage } from '../limiter/gate.js';
import type { Moves } from '../limiter/moves.js';
import type { Plan } from '../limiter/plan.js';
import { type ContractMachine, type Fire, machineOf } from './contract-machine.js';

/** Watches every message of an actor, for traces. */
export type Inspect = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

/**
 * For `GateOptions.moves`: an actor that starts at once and hears every event and every cycle.
 * @param id names the actor in traces
 */
export function interpretedMoves(id: string, inspect: Inspect): (plan: Plan, image: GateImage) => Moves {
  return (plan, { state, heldUntilCycle }) => {
    const machine = machineOf(plan);
    const snapshot = machine.resolveState({ value: state, context: { heldUntilCycle } });
    const actor: Actor<ContractMachine> = createActor(machine, { id, inspect, snapshot });
    actor.start();
    return {
      hearsAll: true,
      transitionAt: (_, event) => {
        const [, actions] = transition(machine, actor.getSnapshot(), event);
        const fire = actions.find(({ type }) => (type as string) === 'fire');
        return fire && plan.transitions[(fire.params as unknown as Fire).transition];
      },
      after: (_, event) => {
        actor.send(event);
        const { value, context } = actor.getSnapshot();
        return { state: plan.states.findIndex(({ name }) => name === value), heldUntilCycle: context.heldUntilCycle };
      },
    };
  };
}
