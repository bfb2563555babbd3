// The moves of a contract as XState interprets its machine: for inspected runs, and for the property that holds the compiled moves to it.
// A transition that its operator refuses never happened, so the actor receives an event only after it was performed:
//
//   event ─► transition(machine, snapshot, event): which transition is due   ─► performed ─► sent to the actor
//                                                                             refused    ─► the snapshot stays
import { transition } from 'xstate';
import type { GateImage } from '../limiter/gate.js';
import type { Fire } from '../limiter/guards.js';
import type { Moves } from '../limiter/moves.js';
import type { Plan } from '../limiter/plan.js';
import type { ActorSystem } from './actor-system.js';
import { relayingMachineOf } from './contract-machine.js';

/** For `GateOptions.moves`: an actor that starts at once and receives every event and cycle. `name` is for traces. */
export function interpretedMoves(name: string, actors: ActorSystem): (plan: Plan, image: GateImage) => Moves {
  return (plan, { state, heldUntilCycle }) => {
    const machine = relayingMachineOf(plan);
    const snapshot = machine.resolveState({ value: state, context: { heldUntilCycle } });
    const actor = actors.addContract(name, machine, snapshot);
    actor.start();
    return {
      transitionAt: (event) => {
        const [, actions] = transition(machine, actor.getSnapshot(), event);
        const fire = actions.find(({ type }) => (type as string) === 'fire');
        return fire && plan.transitions[(fire.params as unknown as Fire).transition];
      },
      after: (event) => {
        actors.send('gate', actor, event);
        const { value, context } = actor.getSnapshot();
        return { state: plan.states.findIndex(({ name }) => name === value), heldUntilCycle: context.heldUntilCycle };
      },
    };
  };
}
