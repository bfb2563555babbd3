// Owns a contract definition made ready to run: states by index, conditions as sets of counts, quiet bands.
// Leaves checking a definition to validate.ts, running it to limiter/gate.ts and actor/.
//
// The quiet band of a state is the range of counts in which none of its triggers fires. While a count stays inside
// its band, counting is all there is to do:
//
//   count     0 ........ 100 | 101 ..........
//   allowing  [ quiet band   ]  fires            leaves at count > 100
//   limiting    fires        [ quiet band ...    leaves at count <= 100

import type { Operator } from '../operator/operator.js';
import type { ContractDefinition } from './definition.js';
import { complement, has, type IntegerSet, type Range, rangeAround, union } from './expression/integer-set.js';
import type { Node } from './expression/parse.js';

/** What a trigger counts: events of one kind over one rolling window. */
export interface Aggregate {
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

export interface PlannedState {
  readonly name: string;
  readonly admits: boolean;
  readonly transitions: readonly PlannedTransition[];
  /** For each aggregate: the counts at which no trigger of this state fires. */
  readonly quiet: readonly IntegerSet[];
}

export interface Plan {
  readonly definition: ContractDefinition;
  readonly states: readonly PlannedState[];
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

/** The transition that fires in `state` at these counts (one per aggregate), or undefined: the first in the definition wins. */
export function chooseTransition(plan: Plan, state: number, counts: ArrayLike<number>): PlannedTransition | undefined {
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
