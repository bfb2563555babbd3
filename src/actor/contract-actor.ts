// Owns a contract as an XState actor: its states, its guards, its emitted events, its hold. A thin shell: the counting is done in
// limiter/gate.ts, which asks only when a state may have to change; time comes as the cycle of an event, never by a timer.
//
//   aggregate {cycle, counts}              a trigger may fire: the first transition whose condition holds is taken
//   move {to, cycle, counts, input, hold}  somebody asks for a state: the condition of the transition alone decides
import {
  type Actor,
  type AnyEventObject,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  emit,
  type InspectionEvent,
  type MachineContext,
  type Observer,
} from 'xstate';
import { holds } from '../limiter/expression/evaluate.js';
import { has } from '../limiter/expression/integer-set.js';
import type { Plan, PlannedTransition } from '../limiter/plan.js';

export interface AggregateEvent {
  readonly type: 'aggregate';
  readonly cycle: number;
  /** The count of each aggregate of the plan. */
  readonly counts: readonly number[];
}

export interface MoveEvent {
  readonly type: 'move';
  readonly to: string;
  readonly cycle: number;
  readonly counts: readonly number[];
  readonly input: Readonly<Record<string, number>>;
  /** Cycles for which no evaluation moves the contract afterwards; 0 for none. */
  readonly holdCycles: number;
}

export type ContractEvent = AggregateEvent | MoveEvent;

/** What the actor emits: the name that the definition gives, with the cycle and the count that led to it. */
export interface ContractEmitted {
  readonly type: string;
  readonly cycle: number;
  readonly count: number;
}

interface Context {
  readonly heldUntilCycle: number;
}

/** Where an actor begins: a state of the plan, held or not. */
export interface ContractStart {
  readonly state: number;
  readonly heldUntilCycle: number;
}

/** Watches every message of an actor, for traces. */
export type Inspect = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

export class ContractActor {
  private readonly actor: Actor<AnyStateMachine>;
  private emitted: ContractEmitted[] = [];
  private error: unknown;

  /**
   * @param id names the actor in traces
   * @param machine made by `contractMachine` from the same plan
   */
  constructor(
    private readonly plan: Plan,
    id: string,
    start: ContractStart,
    private readonly machine: AnyStateMachine = contractMachine(plan),
    inspect?: Inspect,
  ) {
    const snapshot = machine.resolveState({
      value: plan.states[start.state]!.name,
      context: { heldUntilCycle: start.heldUntilCycle } satisfies Context,
    });
    this.actor = createActor(machine, { id, snapshot, ...(inspect === undefined ? {} : { inspect }) });
    this.actor.on('*', (event) => this.emitted.push(event as unknown as ContractEmitted));
    // Without this subscription XState would throw an actor's error into the void of the next tick.
    this.actor.subscribe({ error: (error) => (this.error = error) });
    this.actor.start();
  }

  /** Name of the state the actor is in. */
  get state(): string {
    return String(this.actor.getSnapshot().value);
  }

  get heldUntilCycle(): number {
    return (this.actor.getSnapshot().context as Context).heldUntilCycle;
  }

  /** The transition that the actor would take, by its guards; undefined for none. Nothing changes. */
  proposes(event: ContractEvent): PlannedTransition | undefined {
    const [taken] = this.machine.getTransitionData(this.actor.getSnapshot(), event);
    const index = taken?.meta?.index as number | undefined;
    return this.plan.states.flatMap(({ transitions }) => transitions).find((transition) => transition.index === index);
  }

  /**
   * Gives the actor an event; it takes the transition it proposed.
   * @returns what it emitted, in order
   * @throws whatever a guard or an action of the machine threw; the actor has stopped then, for good
   */
  send(event: ContractEvent): readonly ContractEmitted[] {
    this.emitted = [];
    this.actor.send(event);
    if (this.error !== undefined) throw this.error;
    return this.emitted;
  }

  stop(): void {
    this.actor.stop();
  }
}

const machines = new WeakMap<Plan, AnyStateMachine>();

/** The XState machine of a plan; contracts of one plan share it. */
export function contractMachine(plan: Plan): AnyStateMachine {
  const known = machines.get(plan);
  if (known !== undefined) return known;
  const machine = createMachine({
    id: plan.definition.name,
    initial: plan.states[plan.initial]!.name,
    context: { heldUntilCycle: Number.MIN_SAFE_INTEGER } satisfies Context as MachineContext,
    states: Object.fromEntries(
      plan.states.map(({ name, transitions }) => [
        name,
        {
          on: {
            aggregate: transitions.filter(({ trigger }) => trigger !== undefined).map((one) => onAggregate(plan, one)),
            move: transitions.map((one) => onMove(plan, one)),
          },
        },
      ]),
    ),
  });
  machines.set(plan, machine);
  return machine;
}

// States and transitions come from data, so XState cannot infer the types of their events: they are named here, once.
interface Given {
  readonly context: MachineContext;
  readonly event: AnyEventObject;
}
const contextOf = ({ context }: Given) => context as unknown as Context;
const eventOf = ({ event }: Given) => event as unknown as ContractEvent;

function onAggregate(plan: Plan, transition: PlannedTransition) {
  const { trigger } = transition;
  const guard = (given: Given) => {
    const { cycle, counts } = eventOf(given);
    return (
      trigger !== undefined &&
      cycle >= contextOf(given).heldUntilCycle &&
      has(trigger.counts, counts[trigger.aggregate]!)
    );
  };
  return { ...target(plan, transition), guard };
}

function onMove(plan: Plan, transition: PlannedTransition) {
  const to = plan.states[transition.to]!.name;
  const guard = (given: Given) => {
    const event = eventOf(given);
    return event.type === 'move' && event.to === to && firesWhenHolds(transition, event);
  };
  return { ...target(plan, transition), guard };
}

function target(plan: Plan, transition: PlannedTransition) {
  const hold = assign<MachineContext, AnyEventObject, undefined, AnyEventObject, never>((given: Given) => {
    const event = eventOf(given);
    return { heldUntilCycle: event.cycle + (event.type === 'move' ? event.holdCycles : 0) } satisfies Context;
  });
  const emits = transition.emits.map((type) =>
    emit<MachineContext, AnyEventObject, undefined, AnyEventObject, AnyEventObject>((given: Given) => {
      const { cycle, counts } = eventOf(given);
      return { type, cycle, count: countFor(transition, counts) } satisfies ContractEmitted;
    }),
  );
  return {
    target: plan.states[transition.to]!.name,
    reenter: true,
    meta: { index: transition.index },
    actions: [hold, ...emits],
  };
}

/** The count a transition speaks of: that of its trigger's window, else of the first window; 1 where the contract counts nothing. */
export function countFor({ trigger }: PlannedTransition, counts: readonly number[]): number {
  return counts[trigger?.aggregate ?? 0] ?? 1;
}

/** Whether the further condition of a transition holds for what a manual transition was given. */
export function firesWhenHolds(transition: PlannedTransition, { counts, input }: MoveEvent): boolean {
  const { firesWhen } = transition;
  if (firesWhen === undefined) return true;
  return holds(firesWhen.node, (name) =>
    name === 'count' ? counts[transition.trigger?.aggregate ?? 0] : input[name.slice('input.'.length)],
  );
}
