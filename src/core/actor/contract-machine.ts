// A contract as an XState machine: the config of limiter/machine-config.ts, and one setup with the guards and actions of limiter/guards.ts.
import { assign, emit, type StateMachine, setup } from 'xstate';
import type { ContractDefinition } from '../limiter/definition.js';
import { has } from '../limiter/expression/integer-set.js';
import {
  type AsksFor,
  asksFor,
  type ContractEmitted,
  type ContractEvent,
  type CountIn,
  countAt,
  type Emit,
  type Fire,
  held,
  heldUntil,
  integerSetOf,
} from '../limiter/guards.js';
import type { Plan } from '../limiter/plan.js';
import { configOfPlan, planContract } from '../limiter/validate.js';
import { relaying } from './actor-system.js';

/** `contractSetup.createMachine(config)` runs a config from a file. */
export const contractSetup = setup({
  types: {
    context: {} as { heldUntilCycle: number },
    events: {} as ContractEvent,
    emitted: {} as ContractEmitted,
  },
  guards: {
    held: ({ context, event }) => held(context.heldUntilCycle, event),
    countIn: ({ event }, params: CountIn) =>
      event.type !== 'refused' && has(integerSetOf(params), event.counts[params.aggregate]!),
    asksFor: ({ event }, params: AsksFor) => asksFor(params, event),
  },
  actions: {
    hold: assign(({ event }) => ({ heldUntilCycle: heldUntil(event) })),
    /** Data for the host, which fires the operator before it takes the transition. Without a host, nothing happens. */
    fire: (_, _params: Fire) => {},
    emit: emit(({ event }, { event: type, aggregate }: Emit) => ({
      type,
      cycle: event.cycle,
      count: countAt(event, aggregate),
    })),
  },
});

// biome-ignore format: one line, so that the rule below is switched off for it
// biome-ignore lint/suspicious/noExplicitAny: states and guards come from data, so their types cannot be inferred.
export type ContractMachine = StateMachine<{ heldUntilCycle: number }, ContractEvent, any, any, any, any, any, any, any, any, any, ContractEmitted, any, any>;

/**
 * The machine of a definition, also of one stored as JSON: `machine.config`, parsed and passed here, behaves the same.
 * `createMachine` of XState alone lacks its guards and actions.
 *
 *     const actor = createActor(contractMachine(rateLimiter({ threshold: 2 })));
 *     actor.on('*', ({ type, cycle, count }) => …);
 *     actor.start();
 *     actor.send({ type: 'aggregate', cycle: 7, counts: [3] }); // -> limiting, emits rate_limited
 *
 * @throws Failure as `planContract`
 */
export function contractMachine(definition: ContractDefinition | object): ContractMachine {
  return machineOf(configOfPlan(planContract(definition)));
}

function machineOf(config: object): ContractMachine {
  return contractSetup.createMachine(config as never) as unknown as ContractMachine;
}

const relayingMachines = new WeakMap<Plan, ContractMachine>();

/** For an actor system: its actors send in their own names. */
export function relayingMachineOf(plan: Plan): ContractMachine {
  let machine = relayingMachines.get(plan);
  if (machine === undefined) {
    const config = configOfPlan(plan);
    machine = machineOf({ ...config, on: { ...config.on, ...relaying } });
    relayingMachines.set(plan, machine);
  }
  return machine;
}
