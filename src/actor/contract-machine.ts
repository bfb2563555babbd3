// A contract as an XState machine. Its config is plain JSON made from the definition, so it can be stored, sent and opened in XState's
// visual tools. What its guards and actions mean is in the setup, which is the same for every contract: `contractMachine` joins the two.
//
//   event                                        guard                                    actions
//   aggregate {cycle, counts}                    held                                     none: nothing moves a held contract
//                                                countIn {aggregate, ranges}              fire, hold, emit ...
//   move {to, cycle, counts, input, holdCycles}  asksFor {to, aggregate, fires_when}      fire, hold, emit ...
//   refused {cycle, holdCycles}                                                           hold
//
// The first transition whose guard holds is taken. Time comes as the cycle of an event, never by a timer.
import { assign, emit, type StateMachine, setup } from 'xstate';
import { aggregateWords, type ContractDefinition, isOnAggregate } from '../limiter/definition.js';
import { holds } from '../limiter/expression/evaluate.js';
import { type Node, parseCondition } from '../limiter/expression/parse.js';
import type { ContractEmitted, ContractEvent, MoveEvent } from '../limiter/moves.js';
import type { Plan, PlannedTransition } from '../limiter/plan.js';
import { planContract } from '../limiter/validate.js';
import type { FindOperator } from '../operator/operator.js';

/** `ranges`: closed ranges of counts, [lo, hi]; hi is null where the range has no upper end. */
type CountIn = Looked & { aggregate: number; ranges: (readonly [lo: number, hi: number | null])[] };
/** What is looked at: the count of a window, or whether the rule refuses. */
type Looked = { event: string } & ({ within: number } | { refused: true });
/** `fires_when`: the further condition as the definition writes it; null for none. `aggregate`: the one that its `count` means. */
type AsksFor = { to: string; aggregate: number; fires_when: string | null };
/** `transition`: its place in the definition, from 0. */
export type Fire = {
  transition: number;
  operator: string;
  inputs: Record<string, number>;
  proof_required: boolean;
};
type Emit = { event: string; aggregate: number };

/** What the guards and actions of every contract machine mean: `contractSetup.createMachine(config)` runs a config from a file. */
export const contractSetup = setup({
  types: {
    context: {} as { heldUntilCycle: number },
    events: {} as ContractEvent,
    emitted: {} as ContractEmitted,
  },
  guards: {
    held: ({ context, event }) => event.cycle < context.heldUntilCycle,
    countIn: ({ event }, { aggregate, ranges }: CountIn) => {
      const count = event.type === 'refused' ? Number.NaN : event.counts[aggregate]!;
      return ranges.some(([lo, hi]) => lo <= count && (hi === null || count <= hi));
    },
    asksFor: ({ event }, params: AsksFor) =>
      event.type === 'move' && event.to === params.to && firesWhen(params, event),
  },
  actions: {
    hold: assign(({ event }) => ({
      heldUntilCycle: event.cycle + (event.type === 'aggregate' ? 0 : event.holdCycles),
    })),
    /** Data for the host, which fires the operator before the transition is taken. Without a host nothing is computed. */
    fire: (_, _params: Fire) => {},
    emit: emit(({ event }, { event: type, aggregate }: Emit) => ({
      type,
      cycle: event.cycle,
      count: event.type === 'refused' ? 1 : (event.counts[aggregate] ?? 1),
    })),
  },
});

// biome-ignore format: one line, so that the rule below is switched off for it
// biome-ignore lint/suspicious/noExplicitAny: states and guards come from data, so their types cannot be inferred.
export type ContractMachine = StateMachine<{ heldUntilCycle: number }, ContractEvent, any, any, any, any, any, any, any, any, any, ContractEmitted, any, any>;

/**
 * The machine of a definition, or of one that was stored as JSON: `machine.config`, parsed again and given to this function, behaves the same.
 * `createMachine` of XState alone does not know its guards and actions.
 *
 *     const actor = createActor(contractMachine(rateLimiter({ threshold: 2 })));
 *     actor.on('*', ({ type, cycle, count }) => …);
 *     actor.start();
 *     actor.send({ type: 'aggregate', cycle: 7, counts: [3] }); // -> limiting, emits rate_limited
 *
 * @throws Failure as `planContract`
 */
export function contractMachine(definition: ContractDefinition | object, findOperator?: FindOperator): ContractMachine {
  return machineOf(planContract(definition, findOperator));
}

/** Contracts of one plan share a machine. */
export function machineOf(plan: Plan): ContractMachine {
  let machine = machines.get(plan);
  if (machine === undefined) {
    machine = contractSetup.createMachine(configOf(plan) as never) as unknown as ContractMachine;
    machines.set(plan, machine);
  }
  return machine;
}

const machines = new WeakMap<Plan, ContractMachine>();

/** What a config says of itself: which guards and actions it needs, and where they are. */
const needs = {
  guards: ['held', 'countIn', 'asksFor'],
  actions: ['fire', 'hold', 'emit'],
  from: '@weir/cli',
  run: "import { createActor } from 'xstate'; import { contractMachine } from '@weir/cli'; createActor(contractMachine(config)).start()",
};

/** The config of the machine of a plan, whole as JSON. */
export function configOf(plan: Plan): object {
  const { definition, states, initial } = plan;
  const { states: _, transitions: __, ...rest } = definition;
  return {
    id: definition.name,
    description: `Contract ${definition.name} ${definition.version}. Its guards and actions are those of @weir/cli: see meta.needs.`,
    meta: { definition: rest, needs },
    initial: states[initial]!.name,
    context: { heldUntilCycle: Number.MIN_SAFE_INTEGER },
    on: { refused: { description: 'The operator refused; due again after the hold.', actions: ['hold'] } },
    states: Object.fromEntries(
      states.map(({ name, admits, transitions }) => [
        name,
        {
          description: admits ? 'Requests are admitted.' : 'Requests are limited.',
          tags: admits ? ['admits'] : [],
          on: {
            aggregate: [
              { guard: 'held', description: 'No evaluation moves a contract that is held.' },
              ...transitions.filter(({ trigger }) => trigger !== undefined).map((one) => onAggregate(plan, one)),
            ],
            move: transitions.map((one) => onMove(plan, one)),
          },
        },
      ]),
    ),
  };
}

function onAggregate(plan: Plan, transition: PlannedTransition): object {
  const { aggregate, counts } = transition.trigger!;
  const { event, within } = plan.aggregates[aggregate]!;
  const params: CountIn = {
    event,
    ...(plan.rule === undefined ? { within } : { refused: true }),
    aggregate,
    // `+ 0`: JSON has no -0.
    ranges: counts.map(({ lo, hi }) => [lo + 0, hi === Number.POSITIVE_INFINITY ? null : hi + 0]),
  };
  const { trigger, fires_when } = plan.definition.transitions[transition.index]!;
  const condition = isOnAggregate(trigger) ? `${trigger.condition} (${aggregateWords(trigger, plan.definition)})` : '';
  const description = typeof fires_when === 'string' ? `${condition} and ${fires_when}` : condition;
  return { guard: { type: 'countIn', params }, ...taken(plan, transition), description };
}

function onMove(plan: Plan, transition: PlannedTransition): object {
  const to = plan.states[transition.to]!.name;
  const fires_when = transition.firesWhen?.text ?? null;
  const params: AsksFor = { to, aggregate: transition.trigger?.aggregate ?? 0, fires_when };
  const description = fires_when === null ? `asked for ${to}` : `asked for ${to}, if ${fires_when}`;
  return { guard: { type: 'asksFor', params }, ...taken(plan, transition), description };
}

function taken(plan: Plan, { index, to, trigger, operator, inputs, proofRequired, emits }: PlannedTransition): object {
  const fire: Fire = { transition: index, operator: operator.id, inputs: { ...inputs }, proof_required: proofRequired };
  return {
    target: plan.states[to]!.name,
    actions: [
      { type: 'fire', params: fire },
      'hold',
      ...emits.map((event) => ({ type: 'emit', params: { event, aggregate: trigger?.aggregate ?? 0 } })),
    ],
  };
}

/** Conditions by the parameters that hold them: each is parsed once. */
const conditions = new WeakMap<AsksFor, Node>();

function firesWhen(params: AsksFor, { counts, input }: MoveEvent): boolean {
  const { fires_when: text, aggregate } = params;
  if (text === null) return true;
  const node = conditions.get(params) ?? parseCondition(text, { names: ['count', 'refused'], prefixes: ['input.'] });
  conditions.set(params, node);
  return holds(node, (name) => {
    if (!name.startsWith('input.')) return counts[aggregate];
    const field = name.slice('input.'.length);
    // Not what every object has, as `constructor`.
    return Object.hasOwn(input, field) ? input[field] : undefined;
  });
}
