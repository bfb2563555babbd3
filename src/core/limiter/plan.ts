// A contract ready to run: its compiled machine (compile.ts), its rule, its definition.
import type { Operator } from '../operator/operator.js';
import type { ContractDefinition } from './definition.js';
import { has, type IntegerSet } from './expression/integer-set.js';
import type { AsksFor } from './guards.js';
import type { PlannedRule } from './planned-rule.js';

export interface Aggregate {
  readonly event: string;
  /** In cycles; 1 for a rule, because decisions of earlier cycles are final. */
  readonly within: number;
}

export interface CompiledTransition {
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly operator: Operator;
  readonly proofRequired: boolean;
  readonly inputs: Readonly<Record<string, number>>;
  readonly emits: readonly string[];
  readonly trigger: { readonly aggregate: number; readonly counts: IntegerSet } | undefined;
  readonly asksFor: AsksFor;
}

export interface CompiledState {
  readonly name: string;
  readonly admits: boolean;
  readonly transitions: readonly CompiledTransition[];
  readonly quiet: readonly IntegerSet[];
}

export interface CompiledMachine {
  readonly states: readonly CompiledState[];
  readonly transitions: readonly CompiledTransition[];
  readonly initial: number;
  readonly aggregates: readonly Aggregate[];
  /** Kinds of events that the contract counts, in order of first use, with the aggregates that each feeds. */
  readonly kinds: readonly { readonly event: string; readonly aggregates: readonly number[] }[];
  /** For each aggregate: how many simultaneous events are admitted at first; Infinity for all. */
  readonly thresholds: readonly number[];
}

export interface Plan extends CompiledMachine {
  readonly definition: ContractDefinition;
  readonly rule: PlannedRule | undefined;
  readonly isShadow: boolean;
}

export function windowCycles({ aggregates, rule }: Plan): number {
  return rule?.cells ?? aggregates.reduce((sum, { within }) => sum + within, 0);
}

/** How long a contract remembers, in cycles, at least 1: its longest window, or until its rule behaves like a new one. */
export function spanCycles({ aggregates, rule }: Plan, cycleMs: number): number {
  if (rule !== undefined) return Math.max(1, Math.ceil(rule.spanMs / cycleMs));
  return aggregates.reduce((longest, { within }) => Math.max(longest, within), 1);
}

export function firingAt(
  { states }: CompiledMachine,
  state: number,
  counts: ArrayLike<number>,
): CompiledTransition | undefined {
  return states[state]!.transitions.find(
    ({ trigger }) => trigger !== undefined && has(trigger.counts, counts[trigger.aggregate]!),
  );
}
