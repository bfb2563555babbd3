// A contract as an XState machine: the config of limiter/machine-config.ts, and one setup with the guards and actions of limiter/guards.ts.
import {
  type AnyActorRef,
  assign,
  emit,
  type MetaObject,
  type NonReducibleUnknown,
  type ParameterizedObject,
  type StateMachine,
  type StateSchema,
  type StateValue,
  setup,
} from 'xstate';
import type { ContractDefinition } from './definition.js';
import {
  type AsksFor,
  asksFor,
  backOff,
  type ContractEmitted,
  type ContractEvent,
  type CountIn,
  countAt,
  type Emit,
  type Fire,
  type Held,
  held,
  hold,
  inRanges,
} from './guards.js';
import type { Plan } from './plan.js';
import { configOfPlan, planContract } from './validate.js';

/** `contractSetup.createMachine(config)` runs a config from a file. */
export const contractSetup = setup({
  types: {
    context: {} as Held,
    events: {} as ContractEvent,
    emitted: {} as ContractEmitted,
  },
  guards: {
    held: ({ context, event }) => held(context, event),
    countIn: ({ event }, params: CountIn) => inRanges(params, event),
    asksFor: ({ event }, params: AsksFor) => asksFor(params, event),
  },
  actions: {
    hold: assign(({ event }) => hold(event)),
    backOff: assign(({ context, event }) => backOff(context, event)),
    /** Data for the host, which fires the operator before it takes the transition. Without a host, nothing happens. */
    fire: (_, _params: Fire) => {},
    emit: emit(({ event }, { event: type, aggregate }: Emit) => ({
      type,
      cycle: event.cycle,
      count: countAt(event, aggregate),
    })),
  },
});

/** Its states come from data, so they have no types of their own. */
export type ContractMachine = StateMachine<
  Held,
  ContractEvent,
  Record<string, AnyActorRef | undefined>,
  never,
  ParameterizedObject,
  ParameterizedObject,
  string,
  StateValue,
  string,
  NonReducibleUnknown,
  NonReducibleUnknown,
  ContractEmitted,
  MetaObject,
  StateSchema
>;

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
  return machineOfPlan(planContract(definition));
}

export function machineOfPlan(plan: Plan): ContractMachine {
  return contractSetup.createMachine(configOfPlan(plan) as never) as unknown as ContractMachine;
}
