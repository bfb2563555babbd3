// Counting and deciding for one contract: the compiled cache of its actor. While no guard of the present state can hold at the counts,
// the gate answers for the actor; when one could, it asks the actor, and then looks up the actor's state and hold anew.
//
//   decide(n, cycle)  ─►  advance the windows  ─►  count  ─►  in the quiet band?  ─ yes ─►  decided by the state
//                                                            └─ no ─►  actor.evaluate()  ─►  the state may change, go on
//
// The rules are those of the windowed rate limiter: per cycle first the advance, then each event one after the other; every event
// counts, also one that is limited; an event is decided by the state after it was counted.
//
// While a gate with one window is quiet, everything happens in its cells: see fast-path.ts. An actor that hears everything is asked
// at every event, and at every cycle in which a window holds anything.
import {
  addFigures,
  admitsNow,
  cycleOfGate,
  decideFast,
  type Figures,
  figuresIn,
  HEAD_CELLS,
  NEVER_QUIET,
  setHead,
} from './fast-path.js';
import { Gauge } from './gauge.js';
import { type Plan, quietBand } from './plan.js';
import { type Cells, cutCells, type RollingWindow, type WindowImage, windowCells } from './window.js';

/** The actor that a gate answers for. */
export interface GateActor {
  /** Index into `plan.states`. */
  readonly stateIndex: number;
  /** No evaluation moves the actor before this cycle; nothing holds it once the cycle has come. */
  readonly heldUntilCycle: number;
  /** Whether it is to hear every event and every cycle. */
  readonly hearsAll: boolean;
  /**
   * Evaluates the triggers; the state and the hold may have changed afterwards.
   * @param counts the count of each aggregate of the plan
   */
  evaluate(cycle: number, counts: readonly number[]): void;
}

/** What a gate must remember to go on after a restart. */
export interface GateImage {
  readonly state: string;
  readonly heldUntilCycle: number;
  /** The first holds the cycle of the gate, also where it counts nothing. */
  readonly windows: readonly WindowImage[];
  /** Undefined without a rule. */
  readonly rule?: RuleImage | undefined;
}

/** What a rule remembers: plain data, typed arrays among them. */
export interface RuleImage {
  /** Whether it refuses: the value of the aggregate. */
  readonly refused: 0 | 1;
  /** The time that it has reached, in unix ms. */
  readonly atMs: number;
  readonly state: unknown;
}

/** How many cells a gate takes: a head, and its windows. */
export function gateCells({ aggregates }: Plan): number {
  return HEAD_CELLS + (aggregates.length === 0 ? windowCells(1) : aggregates.reduce(sumOfCells, 0));
}

const sumOfCells = (sum: number, { within }: { readonly within: number }) => sum + windowCells(within);

export class Gate {
  readonly plan: Plan;
  protected readonly actor: GateActor;
  readonly #gauges: readonly Gauge[];
  /** The window behind the head. */
  readonly #first: Gauge;
  readonly #cells: Float64Array;
  readonly #at: number;

  /**
   * @param cycle the cycle at which the gate begins; it never goes back
   * @param windows what its windows hold; default: nothing
   * @param place `gateCells(plan)` cells of 0
   */
  constructor(
    plan: Plan,
    cycle: number,
    actor: GateActor,
    windows: readonly WindowImage[] = [],
    place: Cells = cutCells(gateCells(plan)),
  ) {
    this.plan = plan;
    this.actor = actor;
    this.#cells = place.array;
    this.#at = place.at;
    let at = place.at + HEAD_CELLS;
    const windowOf = (within: number) => {
      const gauge = new Gauge(within, cycle, { array: place.array, at });
      at += windowCells(within);
      return gauge;
    };
    this.#gauges = plan.aggregates.map(({ within }) => windowOf(within));
    // A gate that counts nothing has a window all the same: it holds the cycle of the gate.
    this.#first = this.#gauges[0] ?? windowOf(1);
    for (const [index, window] of windows.entries()) this.#gauges[index]?.restore(window);
    this.#lookUp();
  }

  /** Index of the actor's state into `plan.states`. */
  get state(): number {
    return this.actor.stateIndex;
  }

  /** The hold of the actor: no evaluation moves it before this cycle. */
  get heldUntilCycle(): number {
    return this.actor.heldUntilCycle;
  }

  /** The cycle up to which the gate has counted. */
  get cycle(): number {
    return cycleOfGate(this.#cells, this.#at);
  }

  /** Whether an event that finds the gate as it is now is admitted. */
  get admits(): boolean {
    return admitsNow(this.#cells, this.#at);
  }

  /** What was counted since the gate was made; what an image brought along is in the windows alone. */
  get figures(): Figures {
    return figuresIn(this.#cells, this.#at);
  }

  /** Events of the first kind in its first window; 0 for a contract that counts nothing. */
  get count(): number {
    return this.#gauges[0]?.count ?? 0;
  }

  get counts(): number[] {
    return this.#gauges.map(({ count }) => count);
  }

  /** Whether it remembers nothing that has been counted. */
  get isAsNew(): boolean {
    return this.#gauges.every(({ count }) => count === 0);
  }

  /** How many more events would be admitted now if all came at once, by the thresholds; Infinity without a threshold. */
  get remaining(): number {
    return this.#gauges.reduce(
      (least, { count }, index) => Math.min(least, Math.max(0, this.plan.thresholds[index]! - count)),
      Number.POSITIVE_INFINITY,
    );
  }

  window(aggregate: number): RollingWindow {
    return this.#gauges[aggregate]!;
  }

  /**
   * Counts `n` events of one kind that happen in `cycle`, and advances to that cycle before.
   * @param n integer >= 0
   * @param cycle not before `this.cycle`: the caller's clock never runs backwards
   * @param kind index into `plan.kinds`
   * @param _atMs see `RuleGate`: a count of cycles needs no finer time
   * @returns how many of the n events were admitted; the others were limited
   */
  decide(n: number, cycle: number, kind = 0, _atMs?: number, _holdMs?: number): number {
    const admitted = decideFast(this.#cells, this.#at, n, cycle);
    if (admitted >= 0) return admitted;
    this.advance(cycle);
    return this.#decideInSteps(n, this.cycle, kind);
  }

  /**
   * Counts `n` events of an earlier cycle in that cycle, as a device sends them that had batched them.
   * @param happened the cycle in which they happened, not after `this.cycle`
   * @returns how many were admitted, or -1 when they are older than every window and nothing was counted
   */
  decideLate(n: number, happened: number, kind = 0): number {
    const { aggregates } = this.plan.kinds[kind]!;
    const counted = aggregates.some((index) => this.cycle - happened < this.plan.aggregates[index]!.within);
    return counted ? this.#decideInSteps(n, happened, kind) : -1;
  }

  /** Goes on to `cycle`, evaluating at every cycle on the way at which something can fire. Bounded, however long the gap is. */
  advance(cycle: number): void {
    while (this.cycle < cycle) {
      const next = Math.min(cycle, this.nextWake(cycle));
      this.#first.advance(next);
      for (const gauge of this.#gauges) gauge.advance(next);
      if (next === this.heldUntilCycle) this.refresh();
      if (next >= this.heldUntilCycle || this.actor.hearsAll) this.#evaluateUnlessQuiet();
    }
  }

  /**
   * The first cycle after now, up to `last`, at which an evaluation may fire if nothing arrives; Infinity for none.
   * Events that arrive until then can only put it off.
   */
  nextWake(last = Number.POSITIVE_INFINITY): number {
    if (this.actor.hearsAll && this.#gauges.some(({ count }) => count > 0)) return this.cycle + 1;
    if (this.cycle < this.heldUntilCycle) return this.heldUntilCycle;
    let first = Number.POSITIVE_INFINITY;
    for (const gauge of this.#gauges) first = Math.min(first, gauge.exitBy(Math.min(last, first)));
    return first;
  }

  image(): GateImage {
    return {
      state: this.plan.states[this.state]!.name,
      heldUntilCycle: this.heldUntilCycle,
      windows: this.#gauges.map((gauge) => gauge.image()),
    };
  }

  /** How many of `n` events of one kind can be counted in this cycle until the first that may move the actor; that one included. */
  stepOf(n: number, kind: number): number {
    // Where a window that these events do not feed has left its band, the next event already moves the actor.
    let reach = this.actor.hearsAll || !this.#gauges.every(({ isQuiet }) => isQuiet) ? 1 : n;
    for (const index of this.plan.kinds[kind]!.aggregates) reach = Math.min(reach, this.#gauges[index]!.reach(n));
    return reach;
  }

  /** The slow path: in stretches, each ending with an event at which the state may change. */
  #decideInSteps(n: number, happened: number, kind: number): number {
    const { aggregates } = this.plan.kinds[kind]!;
    let admitted = 0;
    for (let left = n; left > 0; ) {
      const reach = this.stepOf(left, kind);
      const before = this.admits;
      for (const index of aggregates) this.#gauges[index]!.addAt(happened, reach);
      this.#evaluateUnlessQuiet();
      // All but the last were counted inside the band; the last one is decided by the state after its evaluation.
      if (before) admitted += reach - 1;
      if (this.admits) admitted += 1;
      left -= reach;
    }
    addFigures(this.#cells, this.#at, n, admitted, this.count);
    return admitted;
  }

  #evaluateUnlessQuiet(): void {
    if (!this.actor.hearsAll && this.#gauges.every(({ isQuiet }) => isQuiet)) return;
    this.actor.evaluate(this.cycle, this.counts);
    this.refresh();
  }

  /** Looks up the quiet bands of the actor's state. To be called after each change of the actor. While held, every count is quiet. */
  refresh(): void {
    this.#lookUp();
  }

  /** Lets the windows pass to a cycle, without an evaluation. */
  protected passTo(cycle: number): void {
    this.#first.advance(cycle);
  }

  /** Adds to the figures what was decided outside of the windows. */
  protected decided(n: number, admitted: number, count: number): void {
    addFigures(this.#cells, this.#at, n, admitted, count);
  }

  #lookUp(): void {
    const held = this.cycle < this.heldUntilCycle;
    this.#gauges.forEach((gauge, index) => {
      const band = held ? undefined : quietBand(this.plan, this.state, index, gauge.count);
      gauge.lo = held ? 0 : (band?.lo ?? Number.POSITIVE_INFINITY);
      gauge.hi = held ? Number.POSITIVE_INFINITY : (band?.hi ?? Number.NEGATIVE_INFINITY);
    });
    const isOne = this.#gauges.length === 1 && !this.actor.hearsAll && this.plan.rule === undefined;
    const [only] = isOne ? this.#gauges : [];
    const quiet = only === undefined ? NEVER_QUIET : { lo: only.lo, hi: only.hi, calmUntil: this.#calmUntil(only) };
    setHead(this.#cells, this.#at, quiet, this.plan.isShadow || this.plan.states[this.state]!.admits);
  }

  /** Up to which cycle nothing can fire because time passes: events only leave, so the upper end of the band is safe. */
  #calmUntil({ lo }: Gauge): number {
    if (this.cycle < this.heldUntilCycle) return this.heldUntilCycle;
    return lo <= 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }
}
