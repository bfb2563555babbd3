// A rule ready to run, with its largest burst, its memory in time, and the size of its state.
import { firstIndex } from '../math/first-index.js';
import { LIMITED, NEVER, type Rule } from './rule/rule.js';
import { limitsFlight, type RuleDefinition, stateCellsOf, uncheckedRule } from './rule/rule-definition.js';

export interface PlannedRule {
  readonly definition: RuleDefinition;
  readonly rule: Rule;
  readonly holdMs: number;
  /** Largest burst after a long silence; Infinity for no limit. */
  readonly most: number;
  /** Ms after such a burst until it behaves like a new one. */
  readonly spanMs: number;
  readonly cells: number;
  readonly lacksHold: boolean;
}

const LATER_MS = 2 ** 41;

const LONGEST_MS = 2 ** 36;

const MOST_TRIED = 1_000;

/** @param definition one that `checkRule` took */
export function planRule(definition: RuleDefinition): PlannedRule {
  const rule = uncheckedRule(definition);
  const { hold_ms: holdMs = 0 } = definition;
  const most = rule.remaining(rule.fresh(0), LATER_MS);
  const lacksHold = holdMs === 0 && limitsFlight(definition);
  return { definition, rule, holdMs, most, spanMs: spanOf(rule, holdMs), cells: stateCellsOf(definition), lacksHold };
}

function spanOf(rule: Rule, holdMs: number): number {
  const state = rule.fresh(0);
  for (let tried = 0; tried < MOST_TRIED; tried += 1) {
    if (rule.admit(state, LATER_MS, 1, holdMs) === LIMITED) break;
  }
  const isDone = (afterMs: number) => rule.nextChange(state, LATER_MS + afterMs) === NEVER;
  let enough = 1;
  while (enough < LONGEST_MS && !isDone(enough)) enough *= 2;
  return firstIndex(enough, isDone);
}
