// The rule of a definition made ready to run, with what others have to know of it: how much it admits at once, how long it remembers,
// and how many numbers its state holds.

import { LIMITED, NEVER, type Rule } from './rule/rule.js';
import { checkRule, type RuleDefinition, ruleOf } from './rule/rule-definition.js';

export interface PlannedRule {
  readonly definition: RuleDefinition;
  readonly rule: Rule;
  /** How long an admitted request is in flight where nobody says, in ms. */
  readonly holdMs: number;
  /** How many requests it admits at once after a long silence; Infinity for all. */
  readonly most: number;
  /** How long after such a burst it is as before, in ms. */
  readonly spanMs: number;
  /** How many numbers its state may hold. */
  readonly cells: number;
  /** Whether it limits what is in flight, and the definition does not say how long a request is. */
  readonly lacksHold: boolean;
}

/** A time far from 1970, so that every silence fits before it. */
const LATER_MS = 2 ** 41;

/** The longest time that is looked for: what remembers for longer is followed no further. */
const LONGEST_MS = 2 ** 36;

/** How many requests of the burst are tried. */
const MOST_TRIED = 1_000;

/** @throws Failure `invalid_definition` */
export function planRule(given: RuleDefinition): PlannedRule {
  const definition = checkRule(given);
  const rule = ruleOf(definition);
  const { hold_ms: holdMs = 0 } = definition;
  const most = rule.remaining(rule.fresh(0), LATER_MS);
  const lacksHold = holdMs === 0 && limitsFlight(definition);
  return { definition, rule, holdMs, most, spanMs: spanOf(rule, holdMs), cells: cellsOf(definition), lacksHold };
}

function limitsFlight({ primitive, params }: Pick<RuleDefinition, 'primitive' | 'params'>): boolean {
  if (primitive === 'concurrency' || primitive === 'concurrency_queue' || primitive === 'adaptive') return true;
  return membersOf(params).some(limitsFlight);
}

function spanOf(rule: Rule, holdMs: number): number {
  const state = rule.fresh(0);
  for (let tried = 0; tried < MOST_TRIED; tried += 1) {
    if (rule.decide(state, LATER_MS, 1, holdMs) === LIMITED) break;
  }
  const isDone = (afterMs: number) => rule.nextChange(state, LATER_MS + afterMs) === NEVER;
  if (isDone(0)) return 0;
  let [low, high] = [0, 1];
  while (high < LONGEST_MS && !isDone(high)) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isDone(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Logs and limits on concurrency hold a time and a cost for each place, windows of parts a count for each part. */
function cellsOf({ primitive, params }: Pick<RuleDefinition, 'primitive' | 'params'>): number {
  const given = params as Readonly<Record<string, number | undefined>>;
  switch (primitive) {
    case 'rolling_count':
      return given['within'] ?? 60;
    case 'many_nodes':
      return given['nodes']! * (given['within'] ?? 60);
    case 'segmented_window':
      return given['segments'] ?? 1;
    case 'sliding_log':
    case 'sliding_log_block':
    case 'concurrency':
    case 'concurrency_queue':
      return 2 * given['limit']!;
    case 'adaptive':
      return 2 * (given['max'] ?? 1000);
    case 'or':
    case 'and':
    case 'and_all_charged':
      return membersOf(params).reduce((sum, member) => sum + cellsOf(member), 8);
    default:
      return 8;
  }
}

function membersOf(params: unknown): readonly RuleDefinition[] {
  const { a, b, of = [] } = params as { a?: RuleDefinition; b?: RuleDefinition; of?: readonly RuleDefinition[] };
  return [a, b, ...of].filter((one) => one !== undefined);
}
