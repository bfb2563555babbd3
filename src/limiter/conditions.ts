// Owns reading the conditions of a definition: transitions as written -> transitions with sets of counts and trees.

import type { FindOperator } from '../operator/operator.js';
import type { Fault } from '../schema/failure.js';
import type { ContractDefinition, OnAggregate, TransitionDefinition } from './definition.js';
import { ALL, type IntegerSet, intersection } from './expression/integer-set.js';
import { ExpressionError, type Node, parseCondition, type Vocabulary } from './expression/parse.js';
import { solveForCount } from './expression/solve.js';
import type { Aggregate, PlannedTransition } from './plan.js';

interface ParsedTransitions {
  readonly aggregates: readonly Aggregate[];
  readonly transitions: readonly PlannedTransition[];
  readonly faults: readonly Fault[];
}

const COUNT: Vocabulary = { names: ['count'] };
const INPUT: Vocabulary = { names: [], prefixes: ['input.'] };
const COUNT_AND_INPUT: Vocabulary = { names: ['count'], prefixes: ['input.'] };

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

function isOnAggregate(trigger: TransitionDefinition['trigger']): trigger is OnAggregate {
  return trigger?.kind === 'on_aggregate';
}

/** Triggers that look at the same events over the same window share one aggregate. */
function place(aggregates: Aggregate[], { event, within }: OnAggregate): number {
  const found = aggregates.findIndex((aggregate) => aggregate.event === event && aggregate.within === within);
  return found >= 0 ? found : aggregates.push({ event, within }) - 1;
}
