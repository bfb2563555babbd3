// Counting and deciding for one contract: its gauges, its state, and the machine that is evaluated when a guard could hold.
//
//   decide(n, cycle)  ─►  time passes  ─►  count  ─►  every gauge in its band?  ─ yes ─►  decided by the state
//                                                     └─ no ─►  evaluate: the state may change, continue
//
// Per cycle first the advance, then the events one by one. Every event counts, even a limited one, and is decided by the state after it
// was counted. A rule is evaluated at the exact ms:
//
//   refused     0 0 0 1 . . . . . . 0        1 from a refused request on; 0 as soon as one request would be admitted again,
//               | | | x x   x       ^ wake   at that ms, even without an event
//
// The state decides: a hold or a manual move can keep a state that admits what the rule refuses.
//
// While a gate with one window is quiet, everything happens in its head: see fast-path.ts.

import { cycleOf, startOf } from '../time/cycle.js';
import { ContractActor, type ContractActors } from './contract-actor.js';
import type { IntegerRange } from './expression/integer-set.js';
import { addFigures, decideFast, figuresIn, type GateFigures, GateHead, NEVER_QUIET, setHead } from './fast-path.js';
import { type GateTime, type Gauge, isQuiet, RuleGauge, type RuleImage, WindowGauge } from './gauge.js';
import { type ContractEvent, countAt } from './guards.js';
import { type CompiledTransition, type Plan, quietBand } from './plan.js';
import { NEVER } from './rule/rule.js';
import { advanceTo, cycleAt, offsetOf, restoreWindow, type WindowImage, WindowRing } from './window.js';

export interface Due {
  readonly event: ContractEvent;
  readonly transition: CompiledTransition;
  readonly count: number;
}

export interface GateOwner {
  recordTransition(due: Due): boolean;
}

export interface GateImage {
  readonly state: string;
  readonly heldUntilCycle: number;
  readonly refusals?: number | undefined;
  /** The first holds the cycle of the gate, even if the gate counts nothing. */
  readonly windows: readonly WindowImage[];
  readonly rule?: RuleImage | undefined;
}

interface GateSetup extends GateTime {
  readonly cycle: number;
  readonly owner?: GateOwner | undefined;
  readonly actors?: ContractActors | undefined;
  /** Of its actor, for traces. Default: that of the definition. */
  readonly name?: string | undefined;
  readonly image?: GateImage | undefined;
  readonly head?: GateHead | undefined;
}

const ANY: IntegerRange = { lo: 0, hi: Number.POSITIVE_INFINITY };
const NONE: IntegerRange = { lo: Number.POSITIVE_INFINITY, hi: Number.NEGATIVE_INFINITY };

export class Gate {
  readonly plan: Plan;
  readonly cycleMs: number;
  delayMs = 0;
  /** `count` after the last decision by a rule, or in which a guard could hold. */
  level = 0;
  readonly gauges: readonly Gauge[];
  readonly #rule: RuleGauge | undefined;
  readonly #actor: ContractActor;
  readonly #owner: GateOwner;
  readonly #head: GateHead;
  #nowMs = 0;

  constructor(plan: Plan, { cycle, cycleMs, nowMs, owner = withoutRecord, actors, name, image, head }: GateSetup) {
    const start = image ?? { state: plan.states[plan.initial]!.name, heldUntilCycle: cycle, windows: [] };
    this.plan = plan;
    this.cycleMs = cycleMs;
    const state = plan.states.findIndex((one) => one.name === start.state);
    const { heldUntilCycle, refusals = 0 } = start;
    this.#actor = new ContractActor(plan, { state, heldUntilCycle, refusals }, actors, name);
    this.#owner = owner;
    this.#head = head ?? new GateHead(plan, cycle);
    this.#nowMs = start.rule?.atMs ?? nowMs;
    this.gauges = plan.aggregates.map(({ within }, index) => {
      if (plan.rule !== undefined) return new RuleGauge(plan.rule, nowMs, this.#head, start.rule);
      const counts = index === 0 ? this.#head : new WindowRing(within, cycle);
      const held = start.windows[index];
      if (held !== undefined) restoreWindow(counts, held);
      return new WindowGauge(counts, cycleMs);
    });
    const [first] = this.gauges;
    this.#rule = first instanceof RuleGauge ? first : undefined;
    this.#refresh();
  }

  get cycle(): number {
    return cycleAt(this.#head.offset);
  }

  get nowMs(): number {
    return Math.max(this.#nowMs, startOf(this.cycle, this.cycleMs));
  }

  /** Index into the states of the plan. */
  get state(): number {
    return this.#actor.record.state;
  }

  get heldUntilCycle(): number {
    return this.#actor.record.heldUntilCycle;
  }

  get admits(): boolean {
    return this.#head.isOpen;
  }

  /** Since the gate was made; events of an image are only in the windows. */
  get figures(): GateFigures {
    return figuresIn(this.#head);
  }

  /** Events in its first window, or used capacity of its rule; 0 if it counts nothing. */
  get count(): number {
    return this.gauges[0]?.level ?? 0;
  }

  get counts(): number[] {
    return this.gauges.map(({ value }) => value);
  }

  get isAsNew(): boolean {
    const isFree = this.heldUntilCycle <= this.cycle && this.#actor.record.refusals === 0;
    return isFree && this.state === this.plan.initial && this.gauges.every(({ isAsNew }) => isAsNew);
  }

  /** How many more simultaneous events the thresholds would admit; Infinity without a threshold. */
  get remaining(): number {
    return this.gauges.reduce((least, _, index) => Math.min(least, this.remainingOf(index)), Number.POSITIVE_INFINITY);
  }

  remainingOf(aggregate: number): number {
    return this.gauges[aggregate]!.remaining(this.plan.thresholds[aggregate]!);
  }

  cyclesUntilAtMost(most: number, aggregate: number): number {
    const path = this.gauges[aggregate]!.path();
    return path.value <= most ? 0 : cycleOf(path.fallsTo(most, -1), this.cycleMs) - this.cycle;
  }

  askRule<T>(question: (state: unknown, nowMs: number) => T): T | undefined {
    return this.#rule?.ask(question);
  }

  get hastens(): boolean {
    return this.#rule?.hastens === true;
  }

  /** For rules with one queue for all keys. */
  share(state: unknown): void {
    this.#rule?.share(state);
  }

  /**
   * Advances to `cycle` and counts `n` events in it. Returns how many were admitted.
   * @param cycle not before `this.cycle` @param kind index into `plan.kinds` @param atMs for a rule, not before the last
   * @param holdMs for a rule: time in flight of each; Infinity: until `release`. Default: that of the definition
   */
  decide(n: number, cycle: number, kind = 0, atMs?: number, holdMs?: number): number {
    const admitted = decideFast(this.#head, n, offsetOf(cycle));
    if (admitted >= 0) return admitted;
    this.#reach(cycle, atMs ?? startOf(cycle, this.cycleMs));
    return this.#decideInSteps(n, this.cycle, kind, holdMs);
  }

  /** Counts one request with an integer cost >= 0; a rule charges all of it or refuses. @returns 1: admitted, 0: limited */
  decideCost(cost: number, cycle: number, kind = 0, atMs?: number, holdMs?: number): number {
    this.#reach(cycle, atMs ?? startOf(cycle, this.cycleMs));
    this.#countInSteps(this.#rule === undefined ? cost : 1, this.cycle, kind, holdMs, cost);
    addFigures(this.#head, 1, this.admits ? 1 : 0, this.level);
    return this.admits ? 1 : 0;
  }

  decideOne(n: number, cycle: number, kind: number, atMs: number): number {
    if (this.#rule === undefined || n < 2) return this.decide(n, cycle, kind, atMs);
    const admitted = n * this.decideCost(n, cycle, kind, atMs);
    addFigures(this.#head, n - 1, Math.max(0, admitted - 1), this.level);
    return admitted;
  }

  /** For windows and rules with `charge`. @param n integer; negative: a refund @param sinceMs time of the charge */
  charge(n: number, ms: number, sinceMs: number): void {
    this.reach(ms);
    for (const gauge of this.gauges) gauge.charge(n, sinceMs);
    this.#evaluateUnlessQuiet();
  }

  /** Counts events in the earlier cycle `happened`. @returns how many were admitted; -1 if older than every window */
  decideLate(n: number, happened: number, kind = 0): number {
    const { aggregates } = this.plan.kinds[kind]!;
    const counted = aggregates.some((index) => this.gauges[index]!.reaches(happened));
    return counted ? this.#decideInSteps(n, happened, kind) : -1;
  }

  /** For an event that its row has already counted: see gate-rows.ts. @returns 1: admitted, 0: limited */
  decideCounted(): number {
    this.#evaluateUnlessQuiet();
    return this.admits ? 1 : 0;
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
    for (const gauge of this.gauges) gauge.release(heldMs);
    this.#evaluateUnlessQuiet();
  }

  /** When an evaluation may next fire, up to `lastMs`; Infinity for never. Events postpone it, unless it `hastens`. */
  wakeMs(lastMs = NEVER): number {
    const { cycle, cycleMs } = this;
    const nextCycleMs = startOf(cycle + 1, cycleMs);
    if (cycle < this.heldUntilCycle) return startOf(this.heldUntilCycle, cycleMs);
    let first = NEVER;
    for (const gauge of this.gauges) {
      // Due, but just evaluated: the next transition of a chain fires in the next cycle.
      first = Math.min(first, isQuiet(gauge) ? gauge.leavesBandMs(Math.min(first, lastMs)) : nextCycleMs);
    }
    return first;
  }

  image(): GateImage {
    const { state, heldUntilCycle, refusals } = this.#actor.record;
    return {
      state: this.plan.states[state]!.name,
      heldUntilCycle,
      windows: this.gauges.map((gauge) => gauge.image()),
      ...(this.#rule === undefined ? {} : { rule: this.#rule.ruleImage }),
      ...(refusals === 0 ? {} : { refusals }),
    };
  }

  /** How many of `n` events can be counted in this cycle with at most one transition; for a rule all. */
  stepOf(n: number, kind: number): number {
    return this.#rule === undefined ? this.#reachOf(n, this.plan.kinds[kind]!.aggregates) : n;
  }

  stop(): void {
    setHead(this.#head, NEVER_QUIET, false);
  }

  #reach(cycle: number, atMs: number): void {
    const ms = Math.max(atMs, this.#nowMs);
    for (let wakeMs = this.wakeMs(ms); wakeMs <= ms; wakeMs = this.wakeMs(ms)) {
      this.#goTo(cycleOf(wakeMs, this.cycleMs), wakeMs);
      this.#evaluateUnlessQuiet();
    }
    this.#goTo(cycle, ms);
  }

  #goTo(cycle: number, ms: number): void {
    const held = this.cycle < this.heldUntilCycle;
    this.#nowMs = ms;
    advanceTo(this.#head, cycle);
    for (const gauge of this.gauges) gauge.goTo(cycle, ms);
    if (held && cycle >= this.heldUntilCycle) this.#refresh();
  }

  #decideInSteps(n: number, happened: number, kind: number, holdMs?: number): number {
    const admitted = this.#countInSteps(n, happened, kind, holdMs);
    addFigures(this.#head, n, admitted, this.level);
    return admitted;
  }

  #countInSteps(n: number, happened: number, kind: number, holdMs?: number, cost?: number): number {
    const { aggregates } = this.plan.kinds[kind]!;
    this.delayMs = 0;
    let admitted = 0;
    for (let left = n; left > 0; ) {
      const reach = this.#reachOf(left, aggregates, cost !== undefined);
      const before = this.admits;
      for (const index of aggregates) this.gauges[index]!.add(reach, happened, holdMs, cost);
      this.#evaluateUnlessQuiet();
      // All but the last were counted inside the band; the last is decided by the state after its evaluation.
      if (before) admitted += reach - 1;
      if (this.admits) {
        admitted += 1;
        for (const index of aggregates) this.delayMs = Math.max(this.delayMs, this.gauges[index]!.delayMs);
      }
      left -= reach;
    }
    this.level = this.count;
    return admitted;
  }

  /** How many of `n` events can be counted until the first that may move the contract, inclusive. */
  #reachOf(n: number, aggregates: readonly number[], isOne = false): number {
    // Another window has left its band: the next event moves the contract.
    if (isOne ? !this.gauges.every(isQuiet) : !this.#isQuiet()) return 1;
    let reach = n;
    for (const index of aggregates) reach = Math.min(reach, this.gauges[index]!.reach(n));
    return reach;
  }

  #isQuiet(): boolean {
    for (const gauge of this.gauges) if (!isQuiet(gauge)) return false;
    return true;
  }

  #evaluateUnlessQuiet(): void {
    if (this.#isQuiet()) return;
    this.send({ type: 'aggregate', cycle: this.cycle, counts: this.counts });
  }

  send(event: ContractEvent): 'stayed' | 'moved' | 'refused' {
    const transition = this.#actor.due(event);
    if (transition === undefined) {
      this.#refresh();
      return 'stayed';
    }
    const count = countAt(event, transition.trigger?.aggregate ?? 0);
    const isTaken = this.#owner.recordTransition({ event, transition, count });
    if (isTaken) this.#actor.take(event);
    // A manual move is not tried again.
    else if (event.type === 'aggregate') this.#actor.take({ type: 'refused', cycle: event.cycle });
    this.#refresh();
    return isTaken ? 'moved' : 'refused';
  }

  #refresh(): void {
    const held = this.cycle < this.heldUntilCycle;
    for (const [index, gauge] of this.gauges.entries()) {
      const band = held ? ANY : (quietBand(this.plan, this.state, index, gauge.value) ?? NONE);
      gauge.lo = band.lo;
      gauge.hi = band.hi;
    }
    const [only] = this.gauges;
    const isOne = this.gauges.length === 1 && this.#rule === undefined;
    const quiet = isOne ? { hi: only!.hi, calmUntil: this.#calmUntil(only!) } : NEVER_QUIET;
    setHead(this.#head, quiet, this.plan.isShadow || this.plan.states[this.state]!.admits);
  }

  /** The cycle until which passing time fires nothing. Events only leave, so the upper end of the band is safe. */
  #calmUntil({ lo }: Gauge): number {
    if (this.cycle < this.heldUntilCycle) return this.heldUntilCycle;
    return lo <= 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }
}

const withoutRecord: GateOwner = { recordTransition: () => true };
