// Which contracts Redis counts by itself: two states, one that admits up to a threshold and one that limits above it, over one window. All others
// are decided by the gate of this process.
import type { IntegerSet } from '../../limiter/expression/integer-set.js';
import type { Plan, PlannedTransition } from '../../limiter/plan.js';
import { ko42 } from '../../operator/ko42.js';

export interface PlainPlan {
  readonly threshold: number;
  readonly within: number;
  /** Index of the state that limits; the other is the initial one. */
  readonly limiting: number;
  readonly entry: PlannedTransition;
  readonly restore: PlannedTransition;
}

const known = new WeakMap<Plan, PlainPlan | null>();

/** Undefined for a plan that is not plain. */
export function plainPlan(plan: Plan): PlainPlan | undefined {
  let plain = known.get(plan);
  if (plain === undefined) {
    plain = read(plan) ?? null;
    known.set(plan, plain);
  }
  return plain ?? undefined;
}

function read({ states, transitions, initial, aggregates, kinds, rule }: Plan): PlainPlan | undefined {
  const [aggregate, ...others] = aggregates;
  const limiting = 1 - initial;
  if (rule !== undefined || aggregate === undefined || others.length > 0 || kinds.length !== 1) return undefined;
  if (states.length !== 2 || !states[initial]!.admits || states[limiting]!.admits) return undefined;
  const entry = transitions.find(({ from }) => from === initial);
  const restore = transitions.find(({ from }) => from === limiting);
  if (transitions.length !== 2 || entry === undefined || restore === undefined) return undefined;
  if (![entry, restore].every(isPlain) || entry.to !== limiting || restore.to !== initial) return undefined;
  const [above, below] = [onlyRange(entry), onlyRange(restore)];
  if (above === undefined || below === undefined) return undefined;
  const threshold = below.hi;
  if (below.lo !== 0 || above.lo !== threshold + 1 || above.hi !== Number.POSITIVE_INFINITY) return undefined;
  return { threshold, within: aggregate.within, limiting, entry, restore };
}

function isPlain({ operator, proofRequired, firesWhen, trigger }: PlannedTransition): boolean {
  return operator === ko42 && !proofRequired && firesWhen === undefined && trigger !== undefined;
}

function onlyRange({ trigger }: PlannedTransition): IntegerSet[number] | undefined {
  return trigger?.counts.length === 1 ? trigger.counts[0] : undefined;
}
