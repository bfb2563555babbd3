// The value that a contract's guards test: requests raise it, and time lets it fall.
//
//   window    events of the last `within` cycles                      falls at the beginning of cycles
//   rule      1 from a refused request until it would be admitted     falls at any ms
//
//   band   lo ............ hi         while the value lies in the band of the state, no guard can hold
//   value        ^ hi - value more events stay in it
import { cycleOf, startOf } from '../time/cycle.js';
import type { PlannedRule } from './planned-rule.js';
import { LIMITED, NEVER, type Rule } from './rule/rule.js';
import {
  addAt,
  advanceTo,
  cycleAt,
  type WindowImage,
  type WindowRing,
  whileFewerLeave,
  windowImage,
} from './window.js';

export interface RuleImage {
  readonly refused: 0 | 1;
  readonly cost?: number | undefined;
  readonly atMs: number;
  readonly state: unknown;
}

export interface GateTime {
  readonly cycleMs: number;
  readonly nowMs: number;
}

export interface Gauge {
  /** The band of the state; if it is empty (lo > hi), the next evaluation fires. */
  lo: number;
  hi: number;
  readonly value: number;
  /** The displayed count: events of the window, or used capacity of a rule. */
  readonly level: number;
  readonly delayMs: number;
  readonly isAsNew: boolean;
  /** Whether events of this past or present cycle can still be counted. */
  reaches(happened: number): boolean;
  /** How many of `n` single events can be counted until the first that may leave the band, inclusive. */
  reach(n: number): number;
  /** Counts at most `reach(n)` events of a cycle that it reaches. @param cost of each. Default: 1 */
  add(n: number, happened: number, holdMs: number | undefined, cost?: number): void;
  goTo(cycle: number, ms: number): void;
  /** The first time, up to `lastMs`, at which the value is below the band without further events. */
  leavesBandMs(lastMs: number): number;
  remaining(threshold: number): number;
  levelAt(ms: number): number;
  levelChangesAfter(ms: number): number;
  release(heldMs: number): void;
  charge(n: number, sinceMs: number): void;
  readonly hastens: boolean;
  /** @param cost of a hypothetical request. Default: 1 */
  path(cost?: number): GaugePath;
  image(): WindowImage;
}

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

export class WindowGauge implements Gauge {
  lo = 0;
  hi = Number.POSITIVE_INFINITY;
  readonly delayMs = 0;
  readonly hastens = false;
  readonly #counts: WindowRing;
  readonly #cycleMs: number;

  constructor(counts: WindowRing, cycleMs: number) {
    this.#counts = counts;
    this.#cycleMs = cycleMs;
  }

  get value(): number {
    return this.#counts.inWindow;
  }

  get level(): number {
    return this.#counts.inWindow;
  }

  get isAsNew(): boolean {
    return this.#counts.inWindow === 0;
  }

  get #cycle(): number {
    return cycleAt(this.#counts.offset);
  }

  reaches(happened: number): boolean {
    return this.#cycle - happened < this.#counts.within;
  }

  reach(n: number): number {
    const next = this.#counts.inWindow + 1;
    if (next < this.lo || next > this.hi) return 1;
    return Math.min(n, this.hi - next + 2);
  }

  add(n: number, happened: number): void {
    addAt(this.#counts, happened, n);
  }

  charge(n: number, sinceMs: number): void {
    addAt(this.#counts, n < 0 ? cycleOf(sinceMs, this.#cycleMs) : this.#cycle, n);
  }

  goTo(cycle: number): void {
    advanceTo(this.#counts, cycle);
  }

  leavesBandMs(lastMs: number): number {
    const { lo } = this;
    if (lo <= 0) return NEVER;
    const { inWindow, within } = this.#counts;
    const last = lastMs === NEVER ? NEVER : cycleOf(lastMs, this.#cycleMs) - this.#cycle;
    const steps = Math.min(last, within);
    const [after] = whileFewerLeave(this.#counts, inWindow - lo + 1, 0, steps);
    return after < steps ? startOf(this.#cycle + after + 1, this.#cycleMs) : NEVER;
  }

  remaining(threshold: number): number {
    return Math.max(0, threshold - this.#counts.inWindow);
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

  path(cost = 1): WindowPath {
    return new WindowPath(this.#counts, this.#cycleMs, cost);
  }

  image(): WindowImage {
    return windowImage(this.#counts);
  }
}

class WindowPath implements GaugePath {
  value: number;
  readonly #window: WindowRing;
  readonly #cycleMs: number;
  readonly #cost: number;
  #after = 0;
  /** Last position of `fallsTo`, in cycles from now, and the events that leave until then. */
  #seen: readonly [after: number, left: number] = [0, 0];

  constructor(window: WindowRing, cycleMs: number, cost: number) {
    this.#cost = cost;
    this.#window = window;
    this.#cycleMs = cycleMs;
    this.value = window.inWindow;
  }

  get valueWithOne(): number {
    return this.value + this.#cost;
  }

  fallsTo(value: number, withOne: number): number {
    const most = Math.max(value, withOne - this.#cost);
    if (most < 0 || this.value <= most) return NEVER;
    this.#seen = whileFewerLeave(this.#window, this.value - most, this.#after, this.#window.within);
    return startOf(cycleAt(this.#window.offset) + this.#seen[0] + 1, this.#cycleMs);
  }

  goTo(ms: number): void {
    const { offset, within } = this.#window;
    const last = ms === NEVER ? within : Math.min(within, cycleOf(ms, this.#cycleMs) - cycleAt(offset));
    const [from, gone] = this.#seen[0] <= last ? this.#seen : [this.#after, 0];
    const [after, left] = whileFewerLeave(this.#window, Number.POSITIVE_INFINITY, from, last);
    this.#after = after;
    this.#seen = [after, 0];
    this.value -= gone + left;
  }
}

export class RuleGauge implements Gauge {
  lo = 0;
  hi = Number.POSITIVE_INFINITY;
  value: 0 | 1 = 0;
  delayMs = 0;
  hastens = false;
  readonly #planned: PlannedRule;
  readonly #time: WindowRing;
  #state: unknown;
  #nowMs = 0;
  /** The next admission; undefined if it must be computed again. */
  #admitsMs: number | undefined;
  #cost = 1;

  constructor(planned: PlannedRule, nowMs: number, time: WindowRing, image?: RuleImage) {
    this.#planned = planned;
    this.#time = time;
    this.#nowMs = image?.atMs ?? nowMs;
    this.#state = image === undefined ? planned.rule.fresh(nowMs) : image.state;
    this.value = image?.refused ?? 0;
    this.#cost = image?.cost ?? 1;
  }

  get level(): number {
    return this.levelAt(this.#nowMs);
  }

  get isAsNew(): boolean {
    return this.value === 0 && this.#planned.rule.nextChange(this.#state, this.#nowMs) === NEVER;
  }

  get ruleImage(): RuleImage {
    return ruleImageOf(this.value, this.#cost, this.#nowMs, this.#state);
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
    this.hastens = rule.hastens === true || cost < this.#cost;
    if (refused !== this.value || cost !== this.#cost || rule.hastens) this.#admitsMs = undefined;
    this.#cost = refused === 1 ? cost : 1;
    this.value = refused;
  }

  goTo(_cycle: number, ms: number): void {
    const sinceMs = this.#nowMs;
    this.#nowMs = ms;
    if (this.value === 0 || (this.#admitsMs !== undefined && this.#admitsMs > ms)) return;
    if (this.#opensMs(sinceMs) <= ms) this.#admitAgain();
  }

  leavesBandMs(): number {
    if (this.value === 0 || this.lo <= 0) return NEVER;
    this.#admitsMs ??= this.#opensMs();
    return Math.max(this.#admitsMs, this.#nowMs);
  }

  #opensMs(sinceMs = this.#nowMs): number {
    this.#admitsMs = opensMs(this.#planned.rule, this.#state, this.#nowMs, this.#cost, sinceMs);
    return this.#admitsMs;
  }

  #admitAgain(): void {
    this.value = 0;
    this.#cost = 1;
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
    if (this.value === 1 && this.#opensMs() <= this.#nowMs) this.#admitAgain();
  }

  path(cost = 1): GaugePath {
    const { rule } = this.#planned;
    const againMs = this.value === 0 ? this.#nowMs : opensMs(rule, this.#state, this.#nowMs, this.#cost);
    const admitsMs = rule.nextAdmission(this.#state, this.#nowMs, cost);
    let ms = this.#nowMs;
    return {
      get value() {
        return ms < againMs ? 1 : 0;
      },
      get valueWithOne() {
        return ms < admitsMs ? 1 : 0;
      },
      fallsTo(most, withOne) {
        const falls = most >= 0 && ms < againMs ? againMs : NEVER;
        return withOne >= 0 && ms < admitsMs ? Math.min(falls, admitsMs) : falls;
      },
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

export function ruleImageOf(refused: 0 | 1, cost: number, atMs: number, state: unknown): RuleImage {
  return refused === 1 && cost > 1 ? { refused, cost, atMs, state } : { refused, atMs, state };
}

/** When a rule admits the refused request; if never at its cost, cost 1, from the whole ms after `sinceMs` on. */
export function opensMs(rule: Rule, state: unknown, ms: number, cost: number, sinceMs = ms): number {
  const againMs = rule.nextAdmission(state, ms, cost);
  return againMs === NEVER && cost > 1 ? Math.max(Math.floor(sinceMs) + 1, rule.nextAdmission(state, ms, 1)) : againMs;
}
