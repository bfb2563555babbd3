// Which transition an event leads to, and where the contract is afterwards: the machine of a definition, compiled to sets of counts.
//
//   aggregate {cycle, counts}                    held: nothing          else the first trigger whose counts hold
//   move {to, cycle, counts, input, holdCycles}                         the first transition to that state whose condition holds
//   refused {cycle, holdCycles}                                         none: the contract is held until it is tried again
//
// XState interprets the same machine (actor/contract-machine.ts, actor/interpreted-moves.ts); a property holds the two to each other.
import { holds } from './expression/evaluate.js';
import { firingAt, type Plan, type PlannedTransition } from './plan.js';

/** The counts have changed: after an event was counted, and at the start of a cycle. */
export interface AggregateEvent {
  readonly type: 'aggregate';
  readonly cycle: number;
  /**
   * The count of each aggregate: for every pair (event, within) of the triggers, in order of first use. Of a rule: 1 while it refuses,
   * else 0.
   */
  readonly counts: readonly number[];
}

/** A request for a state, regardless of the counts. */
export interface MoveEvent {
  readonly type: 'move';
  readonly to: string;
  readonly cycle: number;
  readonly counts: readonly number[];
  readonly input: Readonly<Record<string, number>>;
  /** Cycles for which no aggregate moves the contract afterwards; 0 for none. */
  readonly holdCycles: number;
  /** Who asked: the id of a key. */
  readonly by?: string | undefined;
}

/** An operator refused the transition that was due: it is due again when the hold is over. */
export interface RefusedEvent {
  readonly type: 'refused';
  readonly cycle: number;
  readonly holdCycles: number;
}

export type ContractEvent = AggregateEvent | MoveEvent | RefusedEvent;

/** What a contract emits: the name that the definition gives, with the cycle and the count that led to it. */
export interface ContractEmitted {
  readonly type: string;
  readonly cycle: number;
  readonly count: number;
}

/** Where a contract is. */
export interface Position {
  /** Index into `plan.states`. */
  readonly state: number;
  /** No evaluation moves the contract before this cycle. */
  readonly heldUntilCycle: number;
}

/** A machine as a gate asks it. */
export interface Moves {
  /** Whether it hears every event and every cycle, or only those at which a guard could hold. */
  readonly hearsAll: boolean;
  /** The transition that an event leads to; undefined for none. Nothing changes. */
  transitionAt(at: Position, event: ContractEvent): PlannedTransition | undefined;
  /** The position after an event whose transition, if any, was performed. */
  after(at: Position, event: ContractEvent, transition: PlannedTransition | undefined): Position;
}

/** The moves of a plan, by its sets of counts. */
export function compiledMoves(plan: Plan): Moves {
  let moves = compiled.get(plan);
  if (moves === undefined) {
    moves = {
      hearsAll: false,
      transitionAt: ({ state, heldUntilCycle }, event) => {
        if (event.type === 'refused') return undefined;
        if (event.type === 'move') return transitionTo(plan, state, event);
        return event.cycle < heldUntilCycle ? undefined : firingAt(plan, state, event.counts);
      },
      after: (at, event, transition) => {
        if (transition === undefined && event.type !== 'refused') return at;
        const holdCycles = event.type === 'aggregate' ? 0 : event.holdCycles;
        return { state: transition?.to ?? at.state, heldUntilCycle: event.cycle + holdCycles };
      },
    };
    compiled.set(plan, moves);
  }
  return moves;
}

const compiled = new WeakMap<Plan, Moves>();

function transitionTo(plan: Plan, state: number, { to, counts, input }: MoveEvent): PlannedTransition | undefined {
  return plan.states[state]!.transitions.find((transition) => {
    if (plan.states[transition.to]!.name !== to) return false;
    const { firesWhen } = transition;
    if (firesWhen === undefined) return true;
    const count = counts[transition.trigger?.aggregate ?? 0];
    return holds(firesWhen.node, (name) => (name.startsWith(INPUT) ? inputOf(input, name.slice(INPUT.length)) : count));
  });
}

const INPUT = 'input.';

function inputOf(input: MoveEvent['input'], name: string): number | undefined {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}
