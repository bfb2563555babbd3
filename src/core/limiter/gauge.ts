// The value that a contract's guards test: requests raise it, and time lets it fall.
//
//   window    events of the last `within` cycles                      falls at the beginning of cycles
//   rule      1 from a refused request until it would be admitted     falls at any ms
import { cycleOf, startOf } from '../time/cycle.js';
import type { PlannedRule } from './planned-rule.js';
import { LIMITED, NEVER, type Rule } from './rule/rule.js';
import { eventsAt, fallsIn, fromPresent, type Window } from './window.js';

/** What may be known of a value ahead of time, if nothing arrives until then. Valid until what it counts changes. */
export interface Gauge {
  /** @param cost of a request that arrives at `ms`. Default: 0, none */
  level(ms: number, cost?: number): number;
  /** The first time from `ms` on at which the level is at most `value`; NEVER for none. Later than `untilMs` it may be NEVER, too. */
  falls(value: number, ms: number, cost?: number, untilMs?: number): number;
}

/** Asked in the order of time, it walks each cell once. */
export function windowGauge(window: Window, cycleMs: number): Gauge {
  const ahead = fromPresent(window);
  return {
    level: (ms, cost = 0) => eventsAt(window, cycleOf(ms, cycleMs), ahead) + cost,
    falls(value, ms, cost = 0, untilMs = NEVER) {
      const until = untilMs === NEVER ? NEVER : cycleOf(untilMs, cycleMs);
      const cycle = fallsIn(window, value - cost, cycleOf(ms, cycleMs), until, ahead);
      return Math.max(ms, startOf(cycle, cycleMs));
    },
  };
}

export interface RuleImage {
  readonly refused: 0 | 1;
  readonly cost?: number | undefined;
  readonly atMs: number;
  readonly state: unknown;
}

/** What is counted by a rule. Plain data. */
export interface RuleCells {
  refused: 0 | 1;
  /** Of the refused request; otherwise 1. */
  cost: number;
  atMs: number;
  state: unknown;
  /** See `opensFrom`; undefined if it must be computed again. */
  opensMs: number | undefined;
}

export function ruleGauge({ rule }: PlannedRule, cells: RuleCells): Gauge {
  const endsMs = (cost: number) => {
    if (cost > 0) return rule.nextAdmission(cells.state, cells.atMs, cost);
    return cells.refused === 1 ? opensMs(rule, cells) : cells.atMs;
  };
  return {
    level: (ms, cost = 0) => (ms < endsMs(cost) ? 1 : 0),
    falls: (value, ms, cost = 0) => (value < 0 ? NEVER : Math.max(ms, endsMs(cost))),
  };
}

export function ruleCells({ rule }: PlannedRule, nowMs: number, image?: RuleImage): RuleCells {
  const { refused, cost = 1, atMs, state } = image ?? { refused: 0, atMs: nowMs, state: rule.fresh(nowMs) };
  return { refused, cost, atMs, state, opensMs: undefined };
}

export function ruleImageOf({ refused, cost, atMs, state }: RuleCells): RuleImage {
  return refused === 1 && cost > 1 ? { refused, cost, atMs, state } : { refused, atMs, state };
}

/** @returns the delay in ms, or LIMITED */
export function charge({ rule }: PlannedRule, cells: RuleCells, cost: number, holdMs: number): number {
  const delayMs = rule.admit(cells.state, cells.atMs, cost, holdMs);
  const refused = delayMs === LIMITED ? 1 : 0;
  if (refused !== cells.refused || cost !== cells.cost || rule.hastens) cells.opensMs = undefined;
  cells.cost = refused === 1 ? cost : 1;
  cells.refused = refused;
  return delayMs;
}

export function reachMs({ rule }: PlannedRule, cells: RuleCells, ms: number): void {
  const sinceMs = cells.atMs;
  cells.atMs = ms;
  if (cells.refused === 1 && !(cells.opensMs !== undefined && cells.opensMs > ms)) admitAgain(rule, cells, sinceMs);
}

/** After a correction of its state. */
export function corrected({ rule }: PlannedRule, cells: RuleCells): void {
  cells.opensMs = undefined;
  if (cells.refused === 1) admitAgain(rule, cells);
}

/** When the refused request is admitted, or earlier: further refused ones may have postponed it. */
export function opensFrom({ rule }: PlannedRule, cells: RuleCells): number {
  cells.opensMs ??= opensMs(rule, cells);
  return cells.opensMs;
}

function admitAgain(rule: Rule, cells: RuleCells, sinceMs?: number): void {
  cells.opensMs = opensMs(rule, cells, sinceMs);
  if (cells.opensMs > cells.atMs) return;
  cells.refused = 0;
  cells.cost = 1;
}

/** When the refused request is admitted; if never at its cost, one of cost 1, from the whole ms after `sinceMs` on. */
function opensMs(rule: Rule, { state, atMs, cost }: RuleCells, sinceMs = atMs): number {
  const againMs = rule.nextAdmission(state, atMs, cost);
  return againMs === NEVER && cost > 1
    ? Math.max(Math.floor(sinceMs) + 1, rule.nextAdmission(state, atMs, 1))
    : againMs;
}
