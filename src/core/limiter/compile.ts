// Compiles the machine of a contract from its config: where each transition leads, and for each state the bands of counts in which no
// guard can hold. While a count stays inside the band of its state, counting is all there is to do:
//
//   count     0 ........ 100 | 101 ..........
//   allowing  [ band         ]  fires            leaves at count > 100
//   limiting    fires        [ band ...          leaves at count <= 100
import { findOperator } from '../operator/registry.js';
import { complement, has, type IntegerSet, rangeAround, union } from './expression/integer-set.js';
import type { CountIn } from './guards.js';
import type { MachineConfig } from './machine-config.js';
import type { Aggregate, CompiledMachine, CompiledState, CompiledTransition } from './plan.js';

export function compile(config: MachineConfig): CompiledMachine {
  const names = Object.keys(config.states);
  const aggregates = aggregatesOf(config);
  const states: CompiledState[] = [];
  for (const [from, name] of names.entries()) {
    const { tags, on } = config.states[name]!;
    const triggers = new Map<number, CompiledTransition['trigger']>();
    for (const edge of on.aggregate) {
      if (edge.guard === 'held') continue;
      const { params } = edge.guard;
      triggers.set(edge.actions[0].params.transition, { aggregate: params.aggregate, counts: integerSetOf(params) });
    }
    const transitions = on.move.map(
      ({ target, guard, actions: [{ params: fire }, , ...emits] }): CompiledTransition => ({
        index: fire.transition,
        from,
        to: names.indexOf(target),
        operator: findOperator(fire.operator)!,
        proofRequired: fire.proof_required,
        inputs: fire.inputs,
        emits: emits.map(({ params }) => params.event),
        trigger: triggers.get(fire.transition),
        asksFor: guard.params,
      }),
    );
    const quiet = aggregates.map((_, aggregate) => quietCounts(transitions, aggregate));
    states.push({ name, admits: tags.includes('admits'), transitions, quiet });
  }
  const initial = names.indexOf(config.initial);
  return {
    states,
    transitions: states.flatMap(({ transitions }) => transitions).sort((a, b) => a.index - b.index),
    initial,
    aggregates,
    kinds: kindsOf(aggregates),
    thresholds: aggregates.map((_, index) => admittedAtFirst(states, initial, index)),
  };
}

function integerSetOf({ ranges }: CountIn): IntegerSet {
  return ranges.map(([lo, hi]) => ({ lo, hi: hi ?? Number.POSITIVE_INFINITY }));
}

function aggregatesOf({ states }: MachineConfig): Aggregate[] {
  const aggregates: Aggregate[] = [];
  for (const edge of Object.values(states).flatMap(({ on }) => on.aggregate)) {
    if (edge.guard === 'held') continue;
    const { params } = edge.guard;
    aggregates[params.aggregate] = { event: params.event, within: 'within' in params ? params.within : 1 };
  }
  return aggregates;
}

function kindsOf(aggregates: readonly Aggregate[]): CompiledMachine['kinds'] {
  const events = [...new Set(aggregates.map(({ event }) => event))];
  return events.map((event) => ({
    event,
    aggregates: aggregates.flatMap((aggregate, index) => (aggregate.event === event ? [index] : [])),
  }));
}

function quietCounts(transitions: readonly CompiledTransition[], aggregate: number): IntegerSet {
  const counts = transitions.flatMap(({ trigger }) => (trigger?.aggregate === aggregate ? [trigger.counts] : []));
  return complement(union(...counts));
}

/** Follows a rising count from the initial state through admitting states to the end of the last band. */
function admittedAtFirst(states: readonly CompiledState[], initial: number, aggregate: number): number {
  let state = states[initial]!;
  let count = 0;
  // A definition settles at every count, so no state is entered twice.
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
