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
import { advanceTo, type Cells, cycleOfWindow, RollingWindow, type WindowImage } from './window.js';

/** What a rule remembers: plain data, typed arrays among them. */
export interface RuleImage {
  /** Whether it refuses: the value of the aggregate. */
  readonly refused: 0 | 1;
  /** The time that it has reached, in unix ms. */
  readonly atMs: number;
  readonly state: unknown;
}

/** The time of a gate. */
export interface GateTime {
  /** Length of a cycle in ms. */
  readonly cycleMs: number;
  /** Unix ms. */
  readonly nowMs: number;
}

export interface Gauge {
  /** The band of the present state; an empty one (lo > hi) means that the next evaluation fires. */
  lo: number;
  hi: number;
  readonly value: number;
  /** What people see as the count: events of the window, or how much of what a rule admits at once is used up. */
  readonly level: number;
  /** How long the last event that was added is held by its rule, in ms. */
  readonly delayMs: number;
  /** Whether it remembers nothing. */
  readonly isAsNew: boolean;
  /** Whether events of this cycle, not after the present one, can still be counted. */
  reaches(happened: number): boolean;
  /** How many of `n` events, taken one by one, can be counted until the first one that may leave the band; that one included. */
  reach(n: number): number;
  /** Counts `n` events, no more than `reach` allows, that happened in a cycle which it reaches. */
  add(n: number, happened: number, holdMs: number | undefined): void;
  /** Goes on to a later time, no further than the next fall below the band. */
  goTo(cycle: number, ms: number): void;
  /** The first time from now on, up to `lastMs`, at which the value is below the band if nothing arrives; NEVER for none. */
  leavesBandMs(lastMs: number): number;
  /** How many more events would be admitted now if all came at once. @param threshold of the plan */
  remaining(threshold: number): number;
  /** See `level`, at a time to come if nothing arrives. */
  levelAt(ms: number): number;
  /** The first time after `ms` at which the level changes if nothing arrives; NEVER for none. */
  levelChangesAfter(ms: number): number;
  /** An event that was to be in flight until now is over, after `heldMs`. */
  release(heldMs: number): void;
  /** The values to come if nothing arrives. */
  path(): GaugePath;
  image(): WindowImage;
}

/** A gauge in the time to come, computed without changing it. */
export interface GaugePath {
  readonly value: number;
  /** What an event that arrives then would make of it. */
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

  constructor(within: number, cycle: number, cycleMs: number, place: Cells) {
    super(within, cycle, place);
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

  override add(n: number, happened = this.cycle): void {
    this.addAt(happened, n);
  }

  goTo(cycle: number): void {
    this.advance(cycle);
  }

  leavesBandMs(lastMs: number): number {
    const { lo } = this;
    if (lo <= 0) return NEVER;
    let { count } = this;
    const last = lastMs === NEVER ? NEVER : cycleOf(lastMs, this.#cycleMs) - this.cycle;
    const steps = Math.min(last, this.within);
    for (let after = 1; after <= steps; after += 1) {
      count -= this.leaving(after);
      if (count < lo) return startOf(this.cycle + after, this.#cycleMs);
    }
    return NEVER;
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
    return new WindowPath(this, this.#cycleMs);
  }
}

class WindowPath implements GaugePath {
  value: number;
  readonly #window: RollingWindow;
  readonly #cycleMs: number;
  /** Cycles from now. */
  #after = 0;

  constructor(window: RollingWindow, cycleMs: number) {
    this.#window = window;
    this.#cycleMs = cycleMs;
    this.value = window.count;
  }

  get valueWithOne(): number {
    return this.value + 1;
  }

  fallsTo(value: number, withOne: number): number {
    const most = Math.max(value, withOne - 1);
    if (most < 0 || this.value <= most) return NEVER;
    const [quiet] = this.#window.whileFewerLeave(this.value - most, this.#after, this.#window.within);
    return startOf(this.#window.cycle + quiet + 1, this.#cycleMs);
  }

  goTo(ms: number): void {
    const { cycle, within } = this.#window;
    const last = ms === NEVER ? within : Math.min(within, cycleOf(ms, this.#cycleMs) - cycle);
    const [after, left] = this.#window.whileFewerLeave(Number.POSITIVE_INFINITY, this.#after, last);
    this.#after = after;
    this.value -= left;
  }
}

/** The answer of a rule, which is asked and charged whatever the state of the contract is. */
export class RuleGauge implements Gauge {
  lo = 0;
  hi = Number.POSITIVE_INFINITY;
  value: 0 | 1 = 0;
  delayMs = 0;
  readonly #planned: PlannedRule;
  readonly #cells: Cells;
  #state: unknown;
  #nowMs: number;
  /** When it would admit again, at the earliest; undefined where that is to be asked anew. */
  #admitsMs: number | undefined;

  /** @param cells of a window of one cycle: they hold the cycle of the gate */
  constructor(planned: PlannedRule, cycle: number, nowMs: number, cells: Cells, image?: RuleImage) {
    this.#planned = planned;
    this.#cells = cells;
    new RollingWindow(1, cycle, cells);
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

  /** One state for several gates: where what waits does not ask who sent it. */
  share(state: unknown): void {
    this.#state = state;
  }

  /** Asks something of the state of the rule, as it is now. */
  ask<T>(question: (state: unknown, nowMs: number) => T): T {
    return question(this.#state, this.#nowMs);
  }

  /** What came since has been decided: events of earlier cycles cannot be counted. */
  reaches(happened: number): boolean {
    return happened === this.#cycle;
  }

  reach(): number {
    return 1;
  }

  /** One event, of cost 1. */
  add(_n: number, _happened: number, holdMs: number = this.#planned.holdMs): void {
    const { rule } = this.#planned;
    const delay = rule.decide(this.#state, this.#nowMs, 1, holdMs);
    const refused = delay === LIMITED ? 1 : 0;
    this.delayMs = Math.max(0, delay);
    if (refused !== this.value || rule.hastens) this.#admitsMs = undefined;
    this.value = refused;
  }

  goTo(cycle: number, ms: number): void {
    this.#nowMs = ms;
    advanceTo(this.#cells.array, this.#cells.at, cycle);
    if (this.value === 0 || this.#admitsMs === undefined || this.#admitsMs > ms) return;
    // Refused requests may have put it off since.
    this.#admitsMs = this.#planned.rule.nextAdmission(this.#state, ms, 1);
    if (this.#admitsMs <= ms) this.value = 0;
  }

  leavesBandMs(): number {
    if (this.value === 0 || this.lo <= 0) return NEVER;
    this.#admitsMs ??= this.#planned.rule.nextAdmission(this.#state, this.#nowMs, 1);
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
    this.#admitsMs = undefined;
    // What it frees is there now, not later.
    if (this.value === 1 && rule.nextAdmission(this.#state, this.#nowMs, 1) <= this.#nowMs) this.value = 0;
  }

  path(): GaugePath {
    const admitsMs = this.#planned.rule.nextAdmission(this.#state, this.#nowMs, 1);
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
    return cycleOfWindow(this.#cells.array, this.#cells.at);
  }
}
