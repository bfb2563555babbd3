// What the guards of a contract look at: a number that requests raise and time lets fall.
//
//   window    events of the last `within` cycles                      falls at the beginning of cycles
//   rule      1 from a refused request until one would be admitted    falls at any ms
//
//   band   lo ............ hi         while the value lies in the band of the state, no guard can hold
//   value        ^ room = hi - value
import { cycleOf, startOf } from '../time/cycle.js';
import type { PlannedRule } from './planned-rule.js';
import { LIMITED, NEVER } from './rule/rule.js';
import { advanceTo, cycleAt, RollingWindow, type WindowCounts, type WindowImage } from './window.js';

export interface RuleImage {
  readonly refused: 0 | 1;
  readonly atMs: number;
  readonly state: unknown;
  /** Kept by 0.2: see `upgradedImage`. */
  readonly isFormer?: true;
}

export interface GateTime {
  readonly cycleMs: number;
  readonly nowMs: number;
}

export interface Gauge {
  /** The band of the present state; an empty one (lo > hi) means that the next evaluation fires. */
  lo: number;
  hi: number;
  readonly value: number;
  /** The count that is shown: events of the window, or used capacity of a rule. */
  readonly level: number;
  readonly delayMs: number;
  readonly isAsNew: boolean;
  /** Whether events of this cycle, not after the present one, can still be counted. */
  reaches(happened: number): boolean;
  /** How many of `n` events, taken one by one, can be counted until the first one that may leave the band; that one included. */
  reach(n: number): number;
  /** Counts at most `reach(n)` events of a cycle that it reaches. @param cost of each. Default: 1 */
  add(n: number, happened: number, holdMs: number | undefined, cost?: number): void;
  /** Advances, at most to the next fall below the band. */
  goTo(cycle: number, ms: number): void;
  /** The first time from now on, up to `lastMs`, at which the value is below the band if nothing arrives; NEVER for none. */
  leavesBandMs(lastMs: number): number;
  /** How many more events would be admitted now if all came at once. @param threshold of the plan */
  remaining(threshold: number): number;
  levelAt(ms: number): number;
  /** The first time after `ms` at which the level changes if nothing arrives; NEVER for none. */
  levelChangesAfter(ms: number): number;
  release(heldMs: number): void;
  charge(n: number, sinceMs: number): void;
  path(): GaugePath;
  image(): WindowImage;
}

/** The future of a gauge; the gauge does not change. */
export interface GaugePath {
  readonly value: number;
  readonly valueWithOne: number;
  /** The first later time at which the value is at most `value`, or `valueWithOne` at most `withOne`; NEVER for none. */
  fallsTo(value: number, withOne: number): number;
  goTo(ms: number): void;
}

export function isQuiet({ value, lo, hi }: Gauge): boolean {
  return value >= lo && value <= hi;
}

export class WindowGauge extends RollingWindow implements Gauge {
  lo = 0;
  hi = Number.POSITIVE_INFINITY;
  readonly delayMs = 0;
  readonly #cycleMs: number;
  #cost = 1;

  constructor(counts: WindowCounts, cycleMs: number) {
    super(counts);
    this.#cycleMs = cycleMs;
  }

  get value(): number {
    return this.count;
  }

  get level(): number {
    return this.count;
  }

  get isAsNew(): boolean {
    return this.count === 0;
  }

  reaches(happened: number): boolean {
    return this.cycle - happened < this.within;
  }

  reach(n: number): number {
    const { count } = this;
    if (count + 1 < this.lo || count + 1 > this.hi) return 1;
    return Math.min(n, this.hi - count + 1);
  }

  override add(n: number, happened = this.cycle, _holdMs?: number, cost = 1): void {
    this.#cost = cost;
    this.addAt(happened, n * cost);
  }

  charge(n: number, sinceMs: number): void {
    this.addAt(n < 0 ? cycleOf(sinceMs, this.#cycleMs) : this.cycle, n);
  }

  goTo(cycle: number): void {
    this.advance(cycle);
  }

  leavesBandMs(lastMs: number): number {
    const { lo } = this;
    if (lo <= 0) return NEVER;
    const last = lastMs === NEVER ? NEVER : cycleOf(lastMs, this.#cycleMs) - this.cycle;
    const steps = Math.min(last, this.within);
    const [after] = this.whileFewerLeave(this.count - lo + 1, 0, steps);
    return after < steps ? startOf(this.cycle + after + 1, this.#cycleMs) : NEVER;
  }

  remaining(threshold: number): number {
    return Math.max(0, threshold - this.count);
  }

  levelAt(ms: number): number {
    const path = this.path();
    path.goTo(ms);
    return path.value;
  }

  levelChangesAfter(ms: number): number {
    const path = this.path();
    path.goTo(ms);
    return path.fallsTo(path.value - 1, -1);
  }

  release(): void {}

  path(): WindowPath {
    return new WindowPath(this, this.#cycleMs, this.#cost);
  }
}

class WindowPath implements GaugePath {
  value: number;
  readonly #window: RollingWindow;
  readonly #cycleMs: number;
  readonly #cost: number;
  #after = 0;
  /** Where `fallsTo` looked last, in cycles from now, and the events that leave until then. */
  #seen: readonly [after: number, left: number] = [0, 0];

  /** @param cost of the one that may come */
  constructor(window: RollingWindow, cycleMs: number, cost: number) {
    this.#cost = cost;
    this.#window = window;
    this.#cycleMs = cycleMs;
    this.value = window.count;
  }

  get valueWithOne(): number {
    return this.value + this.#cost;
  }

  fallsTo(value: number, withOne: number): number {
    const most = Math.max(value, withOne - this.#cost);
    if (most < 0 || this.value <= most) return NEVER;
    this.#seen = this.#window.whileFewerLeave(this.value - most, this.#after, this.#window.within);
    return startOf(this.#window.cycle + this.#seen[0] + 1, this.#cycleMs);
  }

  goTo(ms: number): void {
    const { cycle, within } = this.#window;
    const last = ms === NEVER ? within : Math.min(within, cycleOf(ms, this.#cycleMs) - cycle);
    const [from, gone] = this.#seen[0] <= last ? this.#seen : [this.#after, 0];
    const [after, left] = this.#window.whileFewerLeave(Number.POSITIVE_INFINITY, from, last);
    this.#after = after;
    this.#seen = [after, 0];
    this.value -= gone + left;
  }
}

/** The answer of a rule, which is charged in every state of the contract. */
export class RuleGauge implements Gauge {
  lo = 0;
  hi = Number.POSITIVE_INFINITY;
  value: 0 | 1 = 0;
  delayMs = 0;
  readonly #planned: PlannedRule;
  readonly #time: WindowCounts;
  #state: unknown;
  #nowMs: number;
  /** The next admission; undefined if it must be computed again. */
  #admitsMs: number | undefined;
  #cost = 1;

  /** @param time a window of one cycle, which holds the cycle of the gate */
  constructor(planned: PlannedRule, nowMs: number, time: WindowCounts, image?: RuleImage) {
    this.#planned = planned;
    this.#time = time;
    this.#nowMs = image?.atMs ?? nowMs;
    this.#state = image === undefined ? planned.rule.fresh(nowMs) : image.state;
    this.value = image?.refused ?? 0;
  }

  get level(): number {
    return this.levelAt(this.#nowMs);
  }

  get isAsNew(): boolean {
    return this.value === 0 && this.#planned.rule.nextChange(this.#state, this.#nowMs) === NEVER;
  }

  get ruleImage(): RuleImage {
    return { refused: this.value, atMs: this.#nowMs, state: this.#state };
  }

  share(state: unknown): void {
    this.#state = state;
  }

  ask<T>(question: (state: unknown, nowMs: number) => T): T {
    return question(this.#state, this.#nowMs);
  }

  /** Later events are already decided, so earlier cycles cannot be counted. */
  reaches(happened: number): boolean {
    return happened === this.#cycle;
  }

  reach(): number {
    return 1;
  }

  add(_n: number, _happened: number, holdMs: number = this.#planned.holdMs, cost = 1): void {
    const { rule } = this.#planned;
    const delay = rule.decide(this.#state, this.#nowMs, cost, holdMs);
    const refused = delay === LIMITED ? 1 : 0;
    this.delayMs = Math.max(0, delay);
    if (refused !== this.value || cost !== this.#cost || rule.hastens) this.#admitsMs = undefined;
    this.#cost = refused === 1 ? cost : 1;
    this.value = refused;
  }

  goTo(cycle: number, ms: number): void {
    this.#nowMs = ms;
    advanceTo(this.#time, cycle);
    if (this.value === 0 || (this.#admitsMs !== undefined && this.#admitsMs > ms)) return;
    this.#admitsMs = this.#planned.rule.nextAdmission(this.#state, ms, this.#cost);
    if (this.#admitsMs <= ms) this.value = 0;
  }

  leavesBandMs(): number {
    if (this.value === 0 || this.lo <= 0) return NEVER;
    this.#admitsMs ??= this.#planned.rule.nextAdmission(this.#state, this.#nowMs, this.#cost);
    return Math.max(this.#admitsMs, this.#nowMs);
  }

  remaining(): number {
    return this.#planned.rule.remaining(this.#state, this.#nowMs);
  }

  levelAt(ms: number): number {
    const { rule, most } = this.#planned;
    return most === Number.POSITIVE_INFINITY ? 0 : Math.max(0, most - rule.remaining(this.#state, ms));
  }

  levelChangesAfter(ms: number): number {
    return this.#planned.rule.nextChange(this.#state, ms);
  }

  release(heldMs: number): void {
    const { rule } = this.#planned;
    rule.release?.(this.#state, this.#nowMs, heldMs);
    this.#mayAdmit();
  }

  charge(n: number, sinceMs: number): void {
    this.#planned.rule.charge!(this.#state, this.#nowMs, n, sinceMs);
    this.#mayAdmit();
  }

  #mayAdmit(): void {
    this.#admitsMs = undefined;
    const { rule } = this.#planned;
    if (this.value === 1 && rule.nextAdmission(this.#state, this.#nowMs, this.#cost) <= this.#nowMs) this.value = 0;
  }

  path(): GaugePath {
    const admitsMs = this.#planned.rule.nextAdmission(this.#state, this.#nowMs, this.#cost);
    let ms = this.#nowMs;
    const { value } = this;
    return {
      get value() {
        return value === 1 && ms < admitsMs ? 1 : 0;
      },
      get valueWithOne() {
        return ms < admitsMs ? 1 : 0;
      },
      fallsTo: (most, withOne) => (Math.max(most, withOne) >= 0 && ms < admitsMs ? admitsMs : NEVER),
      goTo: (at) => {
        ms = at;
      },
    };
  }

  image(): WindowImage {
    return { cycle: this.#cycle, counts: [] };
  }

  get #cycle(): number {
    return cycleAt(this.#time.offset);
  }
}
