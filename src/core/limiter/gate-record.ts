// What is kept of a contract, and of each of its keys: a plain record, and what is done to one that is due for nothing.
import type { ContractRecord } from './contract-actor.js';
import { rangeAround } from './expression/integer-set.js';
import type { GateHead } from './fast-path.js';
import { type RuleCells, type RuleImage, reachMs, ruleCells, ruleImageOf } from './gauge.js';
import type { Plan } from './plan.js';
import { NEVER } from './rule/rule.js';
import {
  add,
  advance,
  countNow,
  listOf,
  restoreWindow,
  ringOf,
  type Window,
  type WindowImage,
  windowImage,
} from './window.js';

/** What is kept of a contract, and of each of its keys. Plain data. */
export interface GateRecord extends ContractRecord {
  /** One for each aggregate; none for a rule. */
  readonly first: Window | undefined;
  readonly others: readonly Window[];
  readonly rule: RuleCells | undefined;
}

/** A record as it is stored: its state by name. */
export interface GateImage {
  readonly state: string;
  readonly heldUntilCycle: number;
  readonly refusals?: number | undefined;
  /** The first holds the cycle of the gate, even if the gate counts nothing. */
  readonly windows: readonly WindowImage[];
  readonly rule?: RuleImage | undefined;
}

export interface GateTime {
  readonly cycle: number;
  readonly nowMs: number;
}

/**
 * A record in its initial state, or that of an image.
 * @param head the first window of a contract; without one, windows are short lists, as for a key
 */
export function recordOf(plan: Plan, { cycle, nowMs }: GateTime, image?: GateImage, head?: GateHead): GateRecord {
  // As a small number for a key, if it can be: others take memory of their own.
  const { heldUntilCycle = head === undefined ? Math.min(0, cycle) : cycle, refusals = 0, windows = [] } = image ?? {};
  const made = head === undefined ? listOf : ringOf;
  const begun = (within: number, k: number) => (k === 0 && head !== undefined ? head : made(within, cycle));
  const all = plan.rule === undefined ? plan.aggregates : [];
  const [first, ...others] = all.map(({ within }, k) => {
    const saved = windows[k];
    return saved === undefined ? begun(within, k) : restoreWindow(begun(within, k), saved);
  });
  return {
    state: image === undefined ? plan.initial : plan.states.findIndex(({ name }) => name === image.state),
    heldUntilCycle,
    refusals,
    first,
    others: others.length === 0 ? NO_WINDOWS : others,
    rule: plan.rule && ruleCells(plan.rule, nowMs, image?.rule),
  };
}

const NO_WINDOWS: readonly Window[] = [];

export function windowList({ first, others }: GateRecord): readonly Window[] {
  return first === undefined ? NO_WINDOWS : [first, ...others];
}

/** That of an aggregate; undefined if there is none. */
export function windowOf({ first, others }: GateRecord, aggregate: number): Window | undefined {
  return aggregate === 0 ? first : others[aggregate - 1];
}

const NO_AGGREGATES: readonly number[] = [];

/**
 * Counts `n` events in a record that is due for nothing until `cycle`, if no guard can hold then.
 * @returns how many were admitted; undefined if a guard may hold: nothing is counted then
 */
export function countOn(plan: Plan, record: GateRecord, n: number, cycle: number, kind: number): number | undefined {
  if (!staysQuiet(plan, record, n, cycle, kind)) return undefined;
  for (const k of aggregatesOf(plan, kind)) add(windowOf(record, k)!, cycle, n);
  return plan.isShadow || plan.states[record.state]!.admits ? n : 0;
}

/** Whether `n` events in `cycle` keep every count in its band. Advances the windows. */
export function staysQuiet(plan: Plan, record: GateRecord, n: number, cycle: number, kind: number): boolean {
  const { quiet } = plan.states[record.state]!;
  for (let k = 0; k < plan.aggregates.length; k += 1) {
    const count = advance(windowOf(record, k)!, cycle);
    const band = rangeAround(quiet[k]!, count);
    if (band === undefined || (count + n > band.hi && aggregatesOf(plan, kind).includes(k))) return false;
  }
  return true;
}

/** Those that an event of a kind feeds. */
export function aggregatesOf({ kinds }: Plan, kind: number): readonly number[] {
  return kinds[kind]?.aggregates ?? NO_AGGREGATES;
}

/** Lets time pass in a record that is due for nothing on the way. */
export function passTo(plan: Plan, record: GateRecord, cycle: number, ms: number): void {
  const { rule } = record;
  for (const window of windowList(record)) advance(window, cycle);
  if (rule !== undefined) reachMs(plan.rule!, rule, Math.max(rule.atMs, ms));
}

export function imageOf(plan: Plan, record: GateRecord, cycle: number): GateImage {
  const { state, heldUntilCycle, refusals, rule } = record;
  return {
    state: plan.states[state]!.name,
    heldUntilCycle,
    windows: rule === undefined ? windowList(record).map((window) => windowImage(window)) : [{ cycle, counts: [] }],
    ...(rule === undefined ? {} : { rule: ruleImageOf(rule) }),
    ...(refusals === 0 ? {} : { refusals }),
  };
}

/** Whether a new one would behave the same from `cycle` on. */
export function isAsNew(plan: Plan, record: GateRecord, cycle: number): boolean {
  const { state, heldUntilCycle, refusals, rule } = record;
  if (state !== plan.initial || heldUntilCycle > cycle || refusals > 0) return false;
  if (rule === undefined) return windowList(record).every((window) => countNow(window) === 0);
  return rule.refused === 0 && plan.rule!.rule.nextChange(rule.state, rule.atMs) === NEVER;
}
