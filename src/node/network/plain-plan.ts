// Contracts that Redis counts by itself: one window, and two states that admit up to a threshold and limit above it. Others: a local gate.
import type { IntegerSet } from '../../core/limiter/expression/integer-set.js';
import type { CompiledTransition, Plan } from '../../core/limiter/plan.js';
import { ko42 } from '../../core/operator/ko42.js';

export interface PlainPlan {
  readonly threshold: number;
  readonly within: number;
  /** Index of the limiting state; the other is the initial one. */
  readonly limiting: number;
  readonly entry: CompiledTransition;
  readonly restore: CompiledTransition;
}

const known = new WeakMap<Plan, PlainPlan | null>();

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
  if (rule !== undefined || aggregate === undefined || others.length > 0 || kinds.length !== 1) return undefined;
  const limiting = 1 - initial;
  const [open, shut] = [states[initial]!, states[limiting]];
  if (states.length !== 2 || !open.admits || shut === undefined || shut.admits) return undefined;
  const [entry, restore] = [open.transitions[0], shut.transitions[0]];
  if (transitions.length !== 2 || entry === undefined || restore === undefined) return undefined;
  if (![entry, restore].every(isPlain) || entry.to !== limiting || restore.to !== initial) return undefined;
  const [below, above] = [onlyRange(open.quiet[0]!), onlyRange(shut.quiet[0]!)];
  if (below?.lo !== 0 || above?.lo !== below.hi + 1 || above.hi !== Number.POSITIVE_INFINITY) return undefined;
  return { threshold: below.hi, within: aggregate.within, limiting, entry, restore };
}

function isPlain({ operator, proofRequired, asksFor, trigger }: CompiledTransition): boolean {
  return operator === ko42 && !proofRequired && asksFor.fires_when === null && trigger !== undefined;
}

function onlyRange(band: IntegerSet): IntegerSet[number] | undefined {
  return band.length === 1 ? band[0] : undefined;
}
