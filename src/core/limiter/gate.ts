// Counting and deciding for one contract, or one key: the record that is kept of it, and what is done to it.
//
//   decide(n, cycle)  ─►  time passes  ─►  count  ─►  every value in its band?  ─ yes ─►  decided by the state
//                                                     └─ no ─►  the machine is asked: the state may change, continue
//
// Per cycle first the advance, then the events one by one. Every event counts, even a limited one, and is decided by the state after it
// was counted. A rule is evaluated at the exact ms:
//
//   refused     0 0 0 1 . . . . . . 0        1 from a refused request on; 0 as soon as one request would be admitted again,
//               | | | x x   x       ^ wake   at that ms, even without an event
//
//   band   lo ............ hi                while a value lies in the band of the state, no guard can hold
//   value        ^ hi - value more events stay in it
//
// The state decides: a hold or a manual move can keep a state that admits what the rule refuses.
import { cycleOf, startOf } from '../time/cycle.js';
import { ContractActor, type ContractActors } from './contract-actor.js';
import { type IntegerRange, rangeAround } from './expression/integer-set.js';
import { addFigures, countQuietly, figuresIn, type GateFigures, type GateHead, headOf, setHead } from './fast-path.js';
import {
  aggregatesOf,
  type GateImage,
  type GateRecord,
  type GateTime,
  imageOf,
  passTo,
  recordOf,
  windowList,
  windowOf,
} from './gate-record.js';
import { charge, corrected, type Gauge, opensFrom, ruleGauge, windowGauge } from './gauge.js';
import { type ContractEmitted, type ContractEvent, countAt } from './guards.js';
import type { CompiledTransition, Plan } from './plan.js';
import { NEVER } from './rule/rule.js';
import { add, advance, countNow, cycleAt } from './window.js';

export interface Due {
  readonly event: ContractEvent;
  readonly transition: CompiledTransition;
  readonly count: number;
  /** What the machine emits once the transition is on the record. */
  readonly emitted: readonly ContractEmitted[];
}

export interface GateOwner {
  recordTransition(due: Due): boolean;
}

const ANY: IntegerRange = { lo: 0, hi: Number.POSITIVE_INFINITY };

export function headOfPlan({ rule, aggregates: [first] }: Plan, cycle: number): GateHead {
  return headOf(rule === undefined ? (first?.within ?? 1) : 1, cycle);
}

interface GateSetup extends GateTime {
  readonly cycleMs: number;
  readonly owner?: GateOwner | undefined;
  readonly actors?: ContractActors | undefined;
  /** Of its actor, for traces. Default: that of the definition. */
  readonly name?: string | undefined;
  readonly image?: GateImage | undefined;
  /** Of a key. Default: a new one, from `image` if there is one. */
  readonly record?: GateRecord | undefined;
  /** By `headOfPlan`. Default: a new one. */
  readonly head?: GateHead | undefined;
}

export class Gate {
  readonly plan: Plan;
  readonly cycleMs: number;
  readonly record: GateRecord;
  /** Undefined for a key. */
  readonly #head: GateHead | undefined;
  #cycle: number;
  delayMs = 0;
  /** `count` after the last decision that was not quiet: one by a rule, or one in which a guard could hold. */
  level = 0;
  /** Whether the last events may bring the next wake-up forward. */
  hastens = false;
  readonly #actor: ContractActor;
  readonly #owner: GateOwner;
  #nowMs: number;

  constructor(plan: Plan, setup: GateSetup) {
    const { cycle, cycleMs, nowMs, owner = withoutRecord, actors, name, image, record, head } = setup;
    this.plan = plan;
    this.cycleMs = cycleMs;
    this.#cycle = cycle;
    this.#head = record === undefined ? (head ?? headOfPlan(plan, cycle)) : undefined;
    this.record = record ?? recordOf(plan, { cycle, nowMs }, image, this.#head);
    this.#nowMs = this.record.rule?.atMs ?? nowMs;
    this.#actor = new ContractActor(plan, this.record, actors, name);
    this.#owner = owner;
    this.#refresh();
  }

  get cycle(): number {
    return this.#head === undefined ? this.#cycle : cycleAt(this.#head);
  }

  get nowMs(): number {
    return Math.max(this.#nowMs, startOf(this.cycle, this.cycleMs));
  }

  /** Index into the states of the plan. */
  get state(): number {
    return this.record.state;
  }

  get heldUntilCycle(): number {
    return this.record.heldUntilCycle;
  }

  get admits(): boolean {
    return this.plan.isShadow || this.plan.states[this.record.state]!.admits;
  }

  /** Events in its first window, or used capacity of its rule; 0 if it counts nothing. */
  get count(): number {
    return this.countOf(0);
  }

  countOf(aggregate: number): number {
    if (this.record.rule !== undefined) return this.levelAt(this.#nowMs);
    const window = windowOf(this.record, aggregate);
    return window === undefined ? 0 : countNow(window);
  }

  /** What the guards test. */
  get counts(): number[] {
    const counts: number[] = [];
    for (let k = 0; k < this.#values; k += 1) counts.push(this.#valueOf(k));
    return counts;
  }

  /** Since the gate was made; events of an image are only in the windows. None are kept for a key. */
  get figures(): GateFigures {
    return figuresIn(this.#head!);
  }

  /** How many more simultaneous events the thresholds would admit; Infinity without a threshold. */
  get remaining(): number {
    const { rule } = this.record;
    if (rule !== undefined) return this.plan.rule!.rule.remaining(rule.state, rule.atMs);
    return windowList(this.record).reduce(
      (least, window, k) => Math.min(least, Math.max(0, this.plan.thresholds[k]! - countNow(window))),
      Number.POSITIVE_INFINITY,
    );
  }

  gaugeOf(aggregate: number): Gauge {
    const { rule } = this.record;
    return rule === undefined
      ? windowGauge(windowOf(this.record, aggregate)!, this.cycleMs)
      : ruleGauge(this.plan.rule!, rule);
  }

  /** `count` at a time from now on, if nothing arrives. */
  levelAt(ms: number): number {
    if (this.record.first !== undefined) return this.gaugeOf(0).level(ms);
    const { rule: planned } = this.plan;
    if (planned === undefined || planned.most === Number.POSITIVE_INFINITY) return 0;
    return Math.max(0, planned.most - planned.rule.remaining(this.record.rule!.state, ms));
  }

  levelChangesAfter(ms: number): number {
    if (this.record.first === undefined) return this.plan.rule?.rule.nextChange(this.record.rule!.state, ms) ?? NEVER;
    return this.gaugeOf(0).falls(this.levelAt(ms) - 1, ms);
  }

  cyclesUntilAtMost(most: number): number {
    return cycleOf(this.gaugeOf(0).falls(most, this.nowMs), this.cycleMs) - this.cycle;
  }

  /**
   * Advances to `cycle` and counts `n` events in it. Returns how many were admitted.
   * @param cycle not before `this.cycle` @param kind index into `plan.kinds` @param atMs for a rule, not before the last
   * @param holdMs for a rule: time in flight of each; Infinity: until `release`. Default: that of the definition
   */
  decide(n: number, cycle: number, kind = 0, atMs?: number, holdMs?: number): number {
    const admitted = this.#head && countQuietly(this.#head, n, cycle);
    if (admitted !== undefined) return admitted;
    this.#reach(cycle, atMs ?? startOf(cycle, this.cycleMs));
    return this.#decideInSteps(n, this.cycle, kind, holdMs);
  }

  /** Counts one request with an integer cost >= 0; a rule charges all of it or refuses. @returns 1: admitted, 0: limited */
  decideCost(cost: number, cycle: number, kind = 0, atMs?: number, holdMs?: number): number {
    this.#reach(cycle, atMs ?? startOf(cycle, this.cycleMs));
    this.#countInSteps(this.plan.rule === undefined ? cost : 1, this.cycle, kind, holdMs, cost);
    this.#tally(1, this.admits ? 1 : 0, this.level);
    return this.admits ? 1 : 0;
  }

  decideOne(n: number, cycle: number, kind: number, atMs: number): number {
    if (this.plan.rule === undefined || n < 2) return this.decide(n, cycle, kind, atMs);
    const admitted = n * this.decideCost(n, cycle, kind, atMs);
    this.#tally(n - 1, Math.max(0, admitted - 1), this.level);
    return admitted;
  }

  /** For windows and rules with `charge`. @param n integer; negative: a refund @param sinceMs time of the charge */
  charge(n: number, ms: number, sinceMs: number): void {
    this.reach(ms);
    const { rule } = this.record;
    for (const window of windowList(this.record)) add(window, n < 0 ? cycleOf(sinceMs, this.cycleMs) : this.cycle, n);
    if (rule !== undefined) {
      this.plan.rule!.rule.charge!(rule.state, rule.atMs, n, sinceMs);
      corrected(this.plan.rule!, rule);
    }
    this.settle();
  }

  /** Counts events in the earlier cycle `happened`. @returns how many were admitted; undefined if older than every window */
  decideLate(n: number, happened: number, kind = 0): number | undefined {
    const age = this.cycle - happened;
    const isCounted = aggregatesOf(this.plan, kind).some((k) => age < this.plan.aggregates[k]!.within);
    return isCounted ? this.#decideInSteps(n, happened, kind) : undefined;
  }

  /** What is due on the way fires; the work is bounded for any gap. */
  advance(cycle: number): void {
    if (cycle > this.cycle) this.#reach(cycle, startOf(cycle, this.cycleMs));
  }

  reach(ms: number): void {
    this.#reach(cycleOf(ms, this.cycleMs), ms);
  }

  release(ms: number, heldMs: number): void {
    this.reach(ms);
    const { rule } = this.record;
    if (rule !== undefined) {
      this.plan.rule!.rule.release?.(rule.state, rule.atMs, heldMs);
      corrected(this.plan.rule!, rule);
    }
    this.settle();
  }

  /** When an evaluation may next fire, up to `lastMs`; Infinity for never. Further events can only move it later, except for rules with `hastens`. */
  wakeMs(lastMs = NEVER): number {
    const { cycle, cycleMs } = this;
    const { heldUntilCycle, rule } = this.record;
    if (cycle < heldUntilCycle) return startOf(heldUntilCycle, cycleMs);
    let first = NEVER;
    for (let k = 0; k < this.#values; k += 1) {
      const band = this.#bandOf(k);
      // Due, but just evaluated: the next transition of a chain fires in the next cycle.
      if (band === undefined) first = Math.min(first, startOf(cycle + 1, cycleMs));
      else if (band.lo > 0 && rule !== undefined) first = Math.max(this.nowMs, opensFrom(this.plan.rule!, rule));
      else if (band.lo > 0) first = Math.min(first, this.gaugeOf(k).falls(band.lo - 1, this.nowMs, 0, lastMs));
    }
    return first;
  }

  image(): GateImage {
    return imageOf(this.plan, this.record, this.cycle);
  }

  /** How many of `n` events can be counted in this cycle with at most one transition; for a rule all. */
  stepOf(n: number, kind: number): number {
    return this.plan.rule === undefined ? this.#stepUpTo(n, aggregatesOf(this.plan, kind)) : n;
  }

  stop(): void {
    if (this.#head !== undefined) setHead(this.#head, undefined, false);
  }

  /** After any change but that of a quiet decision. */
  #refresh(): void {
    if (this.#head === undefined) return;
    const isQuiet =
      this.record.first !== undefined && this.record.others.length === 0 && this.cycle >= this.heldUntilCycle;
    setHead(this.#head, isQuiet ? this.#bandOf(0) : undefined, this.admits);
  }

  #tally(n: number, admitted: number, count: number): void {
    if (this.#head !== undefined) addFigures(this.#head, n, admitted, count);
  }

  #reach(cycle: number, atMs: number): void {
    const ms = Math.max(atMs, this.#nowMs);
    for (let wakeMs = this.wakeMs(ms); wakeMs <= ms; wakeMs = this.wakeMs(ms)) {
      this.#goTo(cycleOf(wakeMs, this.cycleMs), wakeMs);
      this.settle();
    }
    this.#goTo(cycle, ms);
  }

  #goTo(cycle: number, ms: number): void {
    this.#nowMs = ms;
    this.#cycle = Math.max(this.#cycle, cycle);
    if (this.#head !== undefined) advance(this.#head, cycle);
    passTo(this.plan, this.record, cycle, ms);
    this.#refresh();
  }

  #decideInSteps(n: number, happened: number, kind: number, holdMs?: number): number {
    const admitted = this.#countInSteps(n, happened, kind, holdMs);
    this.#tally(n, admitted, this.level);
    return admitted;
  }

  #countInSteps(n: number, happened: number, kind: number, holdMs?: number, cost?: number): number {
    const aggregates = aggregatesOf(this.plan, kind);
    this.delayMs = 0;
    this.hastens = false;
    let admitted = 0;
    for (let left = n; left > 0; ) {
      const step = this.#stepUpTo(left, aggregates);
      const before = this.admits;
      const delayMs = this.#count(step, happened, aggregates, holdMs, cost);
      this.settle();
      // All but the last were counted inside the band; the last is decided by the state after its evaluation.
      if (before) admitted += step - 1;
      if (this.admits) {
        admitted += 1;
        this.delayMs = Math.max(this.delayMs, delayMs);
      }
      left -= step;
    }
    this.level = this.count;
    return admitted;
  }

  /** Counts `n` events, of a rule 1. @returns its delay */
  #count(n: number, happened: number, aggregates: readonly number[], holdMs?: number, cost = 1): number {
    const { rule } = this.record;
    if (rule === undefined) {
      for (const k of aggregates) add(windowOf(this.record, k)!, happened, n);
      return 0;
    }
    const planned = this.plan.rule!;
    this.hastens ||= planned.rule.hastens === true || cost < rule.cost;
    return charge(planned, rule, cost, holdMs ?? planned.holdMs);
  }

  /** How many of `n` events can be counted until the first that may move the contract, inclusive. */
  #stepUpTo(n: number, aggregates: readonly number[]): number {
    let step = this.plan.rule === undefined ? n : 1;
    for (let k = 0; k < this.#values; k += 1) {
      const band = this.#bandOf(k);
      // Another window has left its band: the next event moves the contract.
      if (band === undefined) return 1;
      if (aggregates.includes(k)) step = Math.min(step, band.hi - this.#valueOf(k) + 1);
    }
    return step;
  }

  /** How many values the guards test. */
  get #values(): number {
    return this.plan.rule === undefined ? this.plan.aggregates.length : 1;
  }

  #valueOf(aggregate: number): number {
    return this.record.rule?.refused ?? countNow(windowOf(this.record, aggregate)!);
  }

  /** Undefined if a guard may hold. */
  #bandOf(aggregate: number): IntegerRange | undefined {
    if (this.cycle < this.record.heldUntilCycle) return ANY;
    return rangeAround(this.plan.states[this.record.state]!.quiet[aggregate]!, this.#valueOf(aggregate));
  }

  settle(): void {
    for (let k = 0; k < this.#values; k += 1)
      if (this.#bandOf(k) === undefined) {
        this.send({ type: 'aggregate', cycle: this.cycle, counts: this.counts });
        return;
      }
    this.#refresh();
  }

  send(event: ContractEvent): 'stayed' | 'moved' | 'refused' {
    const { transition, emitted = [] } = this.#actor.due(event) ?? {};
    if (transition === undefined) {
      this.#refresh();
      return 'stayed';
    }
    const count = countAt(event, transition.trigger?.aggregate ?? 0);
    const isTaken = this.#owner.recordTransition({ event, transition, count, emitted });
    if (isTaken) this.#actor.take(event);
    // A manual move is not tried again.
    else if (event.type === 'aggregate') this.#actor.take({ type: 'refused', cycle: event.cycle });
    this.#refresh();
    return isTaken ? 'moved' : 'refused';
  }
}

const withoutRecord: GateOwner = { recordTransition: () => true };
