// Owns counting and deciding for one contract: events and cycles in, decisions out, and the moment when a state has to change.
// Leaves which state comes next, and all that a transition entails, to the mover it was given: see actor/ and host/.
//
//   decide(n, cycle)  ─►  advance the windows  ─►  count  ─►  still in the quiet band?  ─ yes ─►  decided by the state
//                                                             └─ no ─►  mover.move()  ─►  the state may change, go on
//
// The rules are those of the windowed rate limiter: per cycle first the advance, then each event one after the other;
// every event counts, those that are limited too; the decision for an event is the state after it was counted.
//
// While a gate with one window is quiet, everything happens in its cells: see quiet.ts.
import { type Cells, cutCells } from './cells.js';
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
import { type RollingWindow, type WindowImage, windowCells } from './window.js';

/** Decides where to go when the counts have left the quiet band of a state. */
export interface Mover {
  /**
   * @param cycle cycle of the evaluation
   * @param counts the count of each aggregate of the plan
   * @returns the state afterwards; the same one to stay; -1 where a transition was due but refused
   */
  move(cycle: number, counts: readonly number[]): number;
}

/** What a gate must remember to go on after a restart. */
export interface GateImage {
  readonly state: string;
  readonly heldUntilCycle: number;
  readonly windows: readonly WindowImage[];
}

/** How many cells a gate takes: a head, and its windows. */
export function gateCells({ aggregates }: Plan): number {
  return HEAD_CELLS + (aggregates.length === 0 ? windowCells(1) : aggregates.reduce(sumOfCells, 0));
}

const sumOfCells = (sum: number, { within }: { readonly within: number }) => sum + windowCells(within);

export class Gate {
  /** Index into `plan.states`. */
  state: number;
  /** No evaluation moves the gate before this cycle; nothing holds it once the cycle has come. */
  heldUntilCycle: number;
  private readonly gauges: readonly Gauge[];
  /** The window behind the head. */
  private readonly first: Gauge;
  private readonly cells: Float64Array;
  private readonly at: number;

  /**
   * @param cycle the cycle at which the gate begins; it never goes back
   * @param place `gateCells(plan)` cells of 0
   */
  constructor(
    readonly plan: Plan,
    cycle: number,
    private readonly mover: Mover,
    image?: GateImage,
    place: Cells = cutCells(gateCells(plan)),
  ) {
    this.cells = place.array;
    this.at = place.at;
    let at = place.at + HEAD_CELLS;
    const windowOf = (within: number) => {
      const gauge = new Gauge(within, cycle, { array: place.array, at });
      at += windowCells(within);
      return gauge;
    };
    this.gauges = plan.aggregates.map(({ within }) => windowOf(within));
    // A gate that counts nothing has a window all the same: it tells where the gate stands.
    this.first = this.gauges[0] ?? windowOf(1);
    for (const [index, window] of image?.windows.entries() ?? []) this.gauges[index]?.restore(window);
    this.state = image === undefined ? plan.initial : plan.states.findIndex(({ name }) => name === image.state);
    this.heldUntilCycle = image?.heldUntilCycle ?? cycle;
    this.settle();
  }

  /** The cycle at which the gate stands. */
  get cycle(): number {
    return cycleOfGate(this.cells, this.at);
  }

  /** Whether an event that finds the gate as it is now is admitted. */
  get admits(): boolean {
    return admitsNow(this.cells, this.at);
  }

  /** What was counted since the gate was made; what an image brought along is in the windows alone. */
  get figures(): Figures {
    return figuresIn(this.cells, this.at);
  }

  /** Events of the first kind in its first window; 0 for a contract that counts nothing. */
  get count(): number {
    return this.gauges[0]?.count ?? 0;
  }

  get counts(): number[] {
    return this.gauges.map(({ count }) => count);
  }

  /** How many more events would be admitted now if all came at once, by the thresholds; Infinity without a threshold. */
  get remaining(): number {
    return this.gauges.reduce(
      (least, { count }, index) => Math.min(least, Math.max(0, this.plan.thresholds[index]! - count)),
      Number.POSITIVE_INFINITY,
    );
  }

  window(aggregate: number): RollingWindow {
    return this.gauges[aggregate]!;
  }

  /**
   * Counts `n` events of one kind that happen in `cycle`, and advances to that cycle before.
   * @param n integer >= 0
   * @param cycle not before `this.cycle`: the caller's clock never runs backwards
   * @param kind index into `plan.kinds`
   * @returns how many of the n events were admitted; the others were limited
   */
  decide(n: number, cycle: number, kind = 0): number {
    const admitted = decideFast(this.cells, this.at, n, cycle);
    if (admitted >= 0) return admitted;
    this.advance(cycle);
    return this.decideInSteps(n, this.cycle, kind);
  }

  /**
   * Counts `n` events of an earlier cycle in that cycle, as a device sends them that had batched them.
   * @param happened the cycle in which they happened, not after `this.cycle`
   * @returns how many were admitted, or -1 when they are older than every window and nothing was counted
   */
  decideLate(n: number, happened: number, kind = 0): number {
    const { aggregates } = this.plan.kinds[kind]!;
    const counted = aggregates.some((index) => this.cycle - happened < this.plan.aggregates[index]!.within);
    return counted ? this.decideInSteps(n, happened, kind) : -1;
  }

  /** Goes on to `cycle`, evaluating at every cycle on the way at which something can fire. Bounded, however long the gap is. */
  advance(cycle: number): void {
    while (this.cycle < cycle) {
      const next = Math.min(cycle, this.nextWake(cycle));
      this.first.advance(next);
      for (const gauge of this.gauges) gauge.advance(next);
      if (next < this.heldUntilCycle) continue;
      if (next === this.heldUntilCycle) this.settle();
      this.evaluateUnlessQuiet();
    }
  }

  /**
   * The first cycle after now, up to `last`, at which an evaluation may fire if nothing arrives; Infinity for none.
   * Events that arrive until then can only put it off.
   */
  nextWake(last = Number.POSITIVE_INFINITY): number {
    if (this.cycle < this.heldUntilCycle) return this.heldUntilCycle;
    let first = Number.POSITIVE_INFINITY;
    for (const gauge of this.gauges) first = Math.min(first, gauge.exitBy(Math.min(last, first)));
    return first;
  }

  /** Puts the gate into a state, whatever the counts are; until `heldUntilCycle` no evaluation moves it on. */
  enter(state: number, heldUntilCycle = this.cycle): void {
    this.state = state;
    this.heldUntilCycle = heldUntilCycle;
    this.settle();
  }

  image(): GateImage {
    return {
      state: this.plan.states[this.state]!.name,
      heldUntilCycle: this.heldUntilCycle,
      windows: this.gauges.map((gauge) => gauge.image()),
    };
  }

  /** The long way: in stretches, each ending with an event at which a state may change. */
  private decideInSteps(n: number, happened: number, kind: number): number {
    const { aggregates } = this.plan.kinds[kind]!;
    let admitted = 0;
    for (let left = n; left > 0; ) {
      let reach = left;
      for (const index of aggregates) reach = Math.min(reach, this.gauges[index]!.reach(left));
      const before = this.admits;
      for (const index of aggregates) this.gauges[index]!.addAt(happened, reach);
      this.evaluateUnlessQuiet();
      // All but the last were counted inside the band; the last one is decided by the state after its evaluation.
      if (before) admitted += reach - 1;
      if (this.admits) admitted += 1;
      left -= reach;
    }
    addFigures(this.cells, this.at, n, admitted, this.count);
    return admitted;
  }

  private evaluateUnlessQuiet(): void {
    if (this.gauges.every(({ isQuiet }) => isQuiet)) return;
    const next = this.mover.move(this.cycle, this.counts);
    // A refused transition is tried again at the next cycle, not at the next event: one failure a cycle on the record.
    if (next < 0) this.enter(this.state, this.cycle + 1);
    else this.enter(next);
  }

  /** Looks the quiet bands of the state up anew. While the gate is held every count is quiet. */
  private settle(): void {
    const held = this.cycle < this.heldUntilCycle;
    this.gauges.forEach((gauge, index) => {
      const band = held ? undefined : quietBand(this.plan, this.state, index, gauge.count);
      gauge.lo = held ? 0 : (band?.lo ?? Number.POSITIVE_INFINITY);
      gauge.hi = held ? Number.POSITIVE_INFINITY : (band?.hi ?? Number.NEGATIVE_INFINITY);
    });
    const [only] = this.gauges.length === 1 ? this.gauges : [];
    setHead(
      this.cells,
      this.at,
      only === undefined ? NEVER_QUIET : { lo: only.lo, hi: only.hi, calmUntil: this.calmUntil(only) },
      this.plan.states[this.state]!.admits,
    );
  }

  /** Up to which cycle nothing can fire because time passes: events only leave, so the upper end of the band is safe. */
  private calmUntil({ lo }: Gauge): number {
    if (this.cycle < this.heldUntilCycle) return this.heldUntilCycle;
    return lo <= 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }
}
