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
import { type PlannedRule, planRule } from './planned-rule.js';

/** Work in steps, so that others can be served between two of them; each yields what it cost, in units of some 20 us. */
export type Steps<T> = Generator<number, T>;

/** What a trigger looks at: events of one kind over one rolling window, or whether the rule refuses them. */
interface Aggregate {
  readonly event: string;
  /** cycles; 1 for a rule: what it has decided in earlier cycles stays decided */
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
  /** For each aggregate: how many events are admitted if all come at once at first; Infinity for all. */
  readonly thresholds: readonly number[];
  /** Undefined for a contract that counts over windows. */
  readonly rule: PlannedRule | undefined;
  /** Whether every event is admitted, whatever the state is. The states say what it would have been. */
  readonly isShadow: boolean;
}

/** Length of all its windows together, in cycles, or the numbers that its rule holds: the memory of a contract grows with it. */
export function windowCycles({ aggregates, rule }: Plan): number {
  return rule?.cells ?? aggregates.reduce((sum, { within }) => sum + within, 0);
}

/** How long a contract remembers, in cycles, at least 1: its longest window, or until its rule is as at first. */
export function spanCycles({ aggregates, rule }: Plan, cycleMs: number): number {
  if (rule !== undefined) return Math.max(1, Math.ceil(rule.spanMs / cycleMs));
  return aggregates.reduce((longest, { within }) => Math.max(longest, within), 1);
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

/** Puts the parts together; `transitions` are those of the whole definition, in its order. A step a state. */
export function* makePlan(
  definition: ContractDefinition,
  aggregates: readonly Aggregate[],
  transitions: readonly PlannedTransition[],
): Steps<Plan> {
  const names = Object.keys(definition.states);
  const states: PlannedState[] = [];
  for (const [index, name] of names.entries()) {
    const leaving = transitions.filter(({ from }) => from === index);
    const { initial = false, admits = initial } = definition.states[name]!;
    const quiet = aggregates.map((_, aggregate) => quietCounts(leaving, aggregate));
    states.push({ name, admits, transitions: leaving, quiet });
    yield aggregates.length + leaving.length;
  }
  const initial = names.findIndex((name) => definition.states[name]!.initial === true);
  const events = [...new Set(aggregates.map(({ event }) => event))];
  const rule = definition.rule === undefined ? undefined : planRule(definition.rule);
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
    thresholds:
      rule !== undefined ? [rule.most] : aggregates.map((_, index) => admittedAtFirst(states, initial, index)),
    rule,
    isShadow: definition.shadow === true,
  };
}

/** Counts upwards from the initial state, through states that admit; where the initial state does not, as far as it stays. */
function admittedAtFirst(states: readonly PlannedState[], initial: number, aggregate: number): number {
  let state = states[initial]!;
  let count = 0;
  // A definition comes to rest at every count, so that no state is entered twice.
  for (const _ of states) {
    const hi = rangeAround(state.quiet[aggregate]!, count)?.hi ?? count;
    if (hi === Number.POSITIVE_INFINITY) return hi;
    const fired = state.transitions.find(
      ({ trigger }) => trigger?.aggregate === aggregate && has(trigger.counts, hi + 1),
    );
    const next = states[fired?.to ?? -1];
    if (next?.admits !== true || !state.admits) return hi;
    state = next;
    count = hi + 1;
  }
  return count;
}

function quietCounts(transitions: readonly PlannedTransition[], aggregate: number): IntegerSet {
  const counts = transitions.flatMap(({ trigger }) => (trigger?.aggregate === aggregate ? [trigger.counts] : []));
  return complement(union(...counts));
}

interface ParsedTransitions {
  readonly aggregates: readonly Aggregate[];
  readonly transitions: readonly PlannedTransition[];
  readonly faults: readonly Fault[];
}

/** Characters of a condition that take a unit to read. */
const CHARACTERS_A_UNIT = 100;

const COUNT: Vocabulary = { names: ['count'] };
const REFUSED: Vocabulary = { names: ['refused'] };
const INPUT: Vocabulary = { names: [], prefixes: ['input.'] };

/** Reads the conditions of a definition, one transition a step; `faults` are those that cannot be read. */
export function* parseTransitions(
  definition: ContractDefinition,
  findOperator: FindOperator,
): Steps<ParsedTransitions> {
  const names = Object.keys(definition.states);
  const aggregates: Aggregate[] = [];
  const faults: Fault[] = [];
  const looksAt = definition.rule === undefined ? COUNT : REFUSED;
  const aims = definition.transitions.some(({ trigger }) => isOnAggregate(trigger));
  const transitions: PlannedTransition[] = [];
  for (const [index, transition] of definition.transitions.entries()) {
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
    // A trigger fires where nobody gives an input, so a further condition beside it speaks of what the trigger looks at alone.
    const vocabulary = trigger !== undefined ? looksAt : aims ? { ...looksAt, ...INPUT, names: looksAt.names } : INPUT;
    const node = further === undefined ? undefined : read('fires_when', () => parseCondition(further, vocabulary));
    const fires = trigger && read('trigger/condition', () => solveForCount(parseCondition(trigger.condition, looksAt)));
    const also = trigger && node && read('fires_when', () => solveForCount(node));
    transitions.push({
      index,
      from: names.indexOf(transition.from),
      to: names.indexOf(transition.to),
      operator,
      proofRequired: transition.proof_required ?? operator?.proofRequired ?? false,
      inputs: transition.inputs ?? {},
      emits: (transition.post_actions ?? []).map(({ emit }) => emit),
      trigger: trigger && { aggregate: place(aggregates, trigger), counts: both(fires ?? ALL, also ?? ALL) },
      firesWhen: firesWhen(further, node),
    });
    yield 1 + ((further?.length ?? 0) + (trigger?.condition.length ?? 0)) / CHARACTERS_A_UNIT;
  }
  return { aggregates, transitions, faults };
}

function firesWhen(text: string | undefined, node: Node | undefined): PlannedTransition['firesWhen'] {
  return text === undefined || node === undefined ? undefined : { text, node };
}

function both(a: IntegerSet, b: IntegerSet): IntegerSet {
  return b === ALL ? a : intersection(a, b);
}

/** Triggers that look at the same events over the same window share one aggregate, and those that look at the rule another. */
function place(aggregates: Aggregate[], trigger: OnAggregate): number {
  const { event } = trigger;
  const within = trigger.aggregate === 'count' ? trigger.within : 1;
  const found = aggregates.findIndex((aggregate) => aggregate.event === event && aggregate.within === within);
  return found >= 0 ? found : aggregates.push({ event, within }) - 1;
}
