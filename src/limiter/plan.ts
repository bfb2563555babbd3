// A contract definition made ready to run: states by index, conditions as sets of counts, quiet bands.
//
// The quiet band of a state is the range of counts in which none of its triggers fires. While a count stays inside
// its band, counting is all there is to do:
//
//   count     0 ........ 100 | 101 ..........
//   allowing  [ quiet band   ]  fires            leaves at count > 100
//   limiting    fires        [ quiet band ...    leaves at count <= 100
import type { FindOperator, Operator } from '../operator/operator.js';
import type { Fault } from '../schema/failure.js';
import { type ContractDefinition, isOnAggregate, type OnAggregate } from './definition.js';
import {
  ALL,
  complement,
  has,
  type IntegerSet,
  intersection,
  type Range,
  rangeAround,
  union,
} from './expression/integer-set.js';
import { ExpressionError, type Node, parseCondition, type Vocabulary } from './expression/parse.js';
import { solveForCount } from './expression/solve.js';

/** What a trigger counts: events of one kind over one rolling window. */
interface Aggregate {
  readonly event: string;
  /** cycles */
  readonly within: number;
}

export interface PlannedTransition {
  /** Place in the definition, from 0. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly operator: Operator;
  readonly proofRequired: boolean;
  readonly inputs: Readonly<Record<string, number>>;
  readonly emits: readonly string[];
  /** Where it fires by itself: which aggregate it looks at, and the counts at which it fires. */
  readonly trigger: { readonly aggregate: number; readonly counts: IntegerSet } | undefined;
  /** A further condition on `count` and `input.<name>`; undefined for none. */
  readonly firesWhen: { readonly text: string; readonly node: Node } | undefined;
}

interface PlannedState {
  readonly name: string;
  readonly admits: boolean;
  readonly transitions: readonly PlannedTransition[];
  /** For each aggregate: the counts at which no trigger of this state fires. */
  readonly quiet: readonly IntegerSet[];
}

export interface Plan {
  readonly definition: ContractDefinition;
  readonly states: readonly PlannedState[];
  /** In the order of the definition. */
  readonly transitions: readonly PlannedTransition[];
  readonly initial: number;
  /** Every (event, within) that a trigger looks at, in order of first use. */
  readonly aggregates: readonly Aggregate[];
  /** Event kinds that the contract listens to, in order of first use, with the aggregates each one feeds. */
  readonly kinds: readonly { readonly event: string; readonly aggregates: readonly number[] }[];
  /** For each aggregate: the largest count up to which the initial state stays quiet; Infinity for none. */
  readonly thresholds: readonly number[];
}

/** Length of all its windows together, in cycles: the memory of a contract grows with it. */
export function windowCycles({ aggregates }: Plan): number {
  return aggregates.reduce((sum, { within }) => sum + within, 0);
}

/**
 * The transition that the triggers of `state` fire at these counts (one per aggregate), or undefined: the first in the definition wins.
 * For questions about the future; what happens is decided by the guards of the machine, which are made from the same sets.
 */
export function firingAt(plan: Plan, state: number, counts: ArrayLike<number>): PlannedTransition | undefined {
  return plan.states[state]!.transitions.find(
    ({ trigger }) => trigger !== undefined && has(trigger.counts, counts[trigger.aggregate]!),
  );
}

/** The range of counts around `count` in which nothing fires, or undefined when something does. */
export function quietBand(plan: Plan, state: number, aggregate: number, count: number): Range | undefined {
  return rangeAround(plan.states[state]!.quiet[aggregate]!, count);
}

/** Puts the parts together; `transitions` are those of the whole definition, in its order. */
export function makePlan(
  definition: ContractDefinition,
  aggregates: readonly Aggregate[],
  transitions: readonly PlannedTransition[],
): Plan {
  const names = Object.keys(definition.states);
  const states = names.map((name, index): PlannedState => {
    const leaving = transitions.filter(({ from }) => from === index);
    const { initial = false, admits = initial } = definition.states[name]!;
    return {
      name,
      admits,
      transitions: leaving,
      quiet: aggregates.map((_, aggregate) => quietCounts(leaving, aggregate)),
    };
  });
  const initial = names.findIndex((name) => definition.states[name]!.initial === true);
  const events = [...new Set(aggregates.map(({ event }) => event))];
  return {
    definition,
    states,
    transitions,
    initial,
    aggregates,
    kinds: events.map((event) => ({
      event,
      aggregates: aggregates.flatMap((aggregate, index) => (aggregate.event === event ? [index] : [])),
    })),
    thresholds: states[initial]!.quiet.map((quiet) => rangeAround(quiet, 0)?.hi ?? 0),
  };
}

function quietCounts(transitions: readonly PlannedTransition[], aggregate: number): IntegerSet {
  return complement(
    transitions.flatMap(({ trigger }) => (trigger?.aggregate === aggregate ? [trigger.counts] : [])).reduce(union, []),
  );
}

interface ParsedTransitions {
  readonly aggregates: readonly Aggregate[];
  readonly transitions: readonly PlannedTransition[];
  readonly faults: readonly Fault[];
}

const COUNT: Vocabulary = { names: ['count'] };
const INPUT: Vocabulary = { names: [], prefixes: ['input.'] };
const COUNT_AND_INPUT: Vocabulary = { names: ['count'], prefixes: ['input.'] };

/** Reads the conditions of a definition; `faults` are those that cannot be read. */
export function parseTransitions(definition: ContractDefinition, findOperator: FindOperator): ParsedTransitions {
  const names = Object.keys(definition.states);
  const aggregates: Aggregate[] = [];
  const faults: Fault[] = [];
  const counts = definition.transitions.some(({ trigger }) => isOnAggregate(trigger));
  const transitions = definition.transitions.map((transition, index): PlannedTransition => {
    const read = <T>(field: string, parse: () => T): T | undefined => {
      try {
        return parse();
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        faults.push({ path: `/transitions/${index}/${field}`, message: `cannot be read: ${error.message}` });
        return undefined;
      }
    };
    // A missing operator is refused by `operatorFaults` before anybody sees the plan.
    const operator = findOperator(transition.operator)!;
    const further = transition.fires_when ?? undefined;
    const trigger = isOnAggregate(transition.trigger) ? transition.trigger : undefined;
    // A trigger fires where nobody gives an input, so a further condition beside it speaks of the count alone.
    const vocabulary = trigger !== undefined ? COUNT : counts ? COUNT_AND_INPUT : INPUT;
    const node = further === undefined ? undefined : read('fires_when', () => parseCondition(further, vocabulary));
    const fires = trigger && read('trigger/condition', () => solveForCount(parseCondition(trigger.condition, COUNT)));
    const also = trigger && node && read('fires_when', () => solveForCount(node));
    return {
      index,
      from: names.indexOf(transition.from),
      to: names.indexOf(transition.to),
      operator,
      proofRequired: transition.proof_required ?? operator?.proofRequired ?? false,
      inputs: transition.inputs ?? {},
      emits: (transition.post_actions ?? []).map(({ emit }) => emit),
      trigger: trigger && { aggregate: place(aggregates, trigger), counts: both(fires ?? ALL, also ?? ALL) },
      firesWhen: firesWhen(further, node),
    };
  });
  return { aggregates, transitions, faults };
}

function firesWhen(text: string | undefined, node: Node | undefined): PlannedTransition['firesWhen'] {
  return text === undefined || node === undefined ? undefined : { text, node };
}

function both(a: IntegerSet, b: IntegerSet): IntegerSet {
  return b === ALL ? a : intersection(a, b);
}

/** Triggers that look at the same events over the same window share one aggregate. */
function place(aggregates: Aggregate[], { event, within }: OnAggregate): number {
  const found = aggregates.findIndex((aggregate) => aggregate.event === event && aggregate.within === within);
  return found >= 0 ? found : aggregates.push({ event, within }) - 1;
}
