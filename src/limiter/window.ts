// Owns one rolling window: how many events lie in the last `within` cycles. Leaves what follows from the count to gate.ts.
//
//   ring     | 0 | 3 | 1 | 0 | 2 |        within = 5, count = 3 + 1 + 0 + 2 + 0 = 6
//   cycle      c  c-4 c-3 c-2 c-1         slot of cycle c is overwritten when c + 5 begins
//              ^ slot
//
//   cells    | count | cycle | slot | within | ring ......... |
//
// The cells are doubles, and counts exact up to 2^53. What is asked for every event is a function of the cells, which needs no
// window object.
import { type Cells, cutCells } from './cells.js';

/** A window as data: the cycle it stands at and its non-zero counts as pairs (age in cycles, events), youngest first. */
export interface WindowImage {
  readonly cycle: number;
  readonly counts: readonly (readonly [age: number, events: number])[];
}

const COUNT = 0;
const CYCLE = 1;
const SLOT = 2;
const WITHIN = 3;
const RING = 4;

/** How many cells a window takes. */
export function windowCells(within: number): number {
  return RING + within;
}

/** The cycle at which the window stands whose cells begin at `at`. */
export function cycleOfWindow(cells: Float64Array, at: number): number {
  return cells[at + CYCLE]!;
}

/** See `RollingWindow.add`. */
export function addTo(cells: Float64Array, at: number, n: number): void {
  // `| 0`, here and below: the engine need not ask whether the double is an integer.
  cells[at + RING + (cells[at + SLOT]! | 0)]! += n;
  cells[at + COUNT]! += n;
}

/**
 * See `RollingWindow.advance`.
 * @returns the count then
 */
export function advanceTo(cells: Float64Array, at: number, cycle: number): number {
  let count = cells[at + COUNT]!;
  const gap = cycle - cells[at + CYCLE]!;
  if (gap <= 0) return count;
  cells[at + CYCLE] = cycle;
  if (count === 0) return 0;
  const within = cells[at + WITHIN]! | 0;
  const ring = at + RING;
  if (gap >= within) {
    cells.fill(0, ring, ring + within);
    cells[at + COUNT] = 0;
    return 0;
  }
  let slot = cells[at + SLOT]! | 0;
  for (let left = gap | 0; left > 0; left -= 1) {
    slot = slot + 1 === within ? 0 : slot + 1;
    count -= cells[ring + slot]!;
    cells[ring + slot] = 0;
  }
  cells[at + SLOT] = slot;
  cells[at + COUNT] = count;
  return count;
}

export class RollingWindow {
  private readonly cells: Float64Array;
  private readonly at: number;

  /**
   * @param within length in cycles, an integer >= 1
   * @param cycle the cycle at which the window begins, empty
   * @param place `windowCells(within)` cells of 0
   */
  constructor(
    readonly within: number,
    cycle: number,
    place: Cells = cutCells(windowCells(within)),
  ) {
    this.cells = place.array;
    this.at = place.at;
    this.cells[this.at + WITHIN] = within;
    this.cells[this.at + CYCLE] = cycle;
  }

  /** Events in the cycles `cycle - within + 1 .. cycle`. */
  get count(): number {
    return this.cells[this.at + COUNT]!;
  }

  get cycle(): number {
    return cycleOfWindow(this.cells, this.at);
  }

  /** Counts `n` events of the cycle at which the window stands. */
  add(n: number): void {
    addTo(this.cells, this.at, n);
  }

  /**
   * Counts `n` events of an earlier cycle in that cycle.
   * @returns false, and counts nothing, when that cycle has left the window or has not begun
   */
  addAt(cycle: number, n: number): boolean {
    const age = this.cycle - cycle;
    if (age < 0 || age >= this.within) return false;
    this.cells[this.cellOf(age)]! += n;
    this.cells[this.at + COUNT]! += n;
    return true;
  }

  /** Moves on to `cycle`; what is `within` cycles old leaves. At most `within` steps, however far it is. */
  advance(cycle: number): void {
    advanceTo(this.cells, this.at, cycle);
  }

  /** How many events leave when the window moves from `cycle + after - 1` to `cycle + after`; `after` from 1 to `within`. */
  leaving(after: number): number {
    return this.cells[this.cellOf(this.within - after)]!;
  }

  /** The smallest k >= 1 such that k cycles from now the count is at most `most`, if nothing arrives; 1 if it already is. */
  cyclesUntilAtMost(most: number): number {
    let { count } = this;
    let after = 0;
    do {
      after += 1;
      count -= this.leaving(after);
    } while (count > most && after < this.within);
    return after;
  }

  image(): WindowImage {
    const counts: [number, number][] = [];
    for (let age = 0; age < this.within; age += 1) {
      const events = this.cells[this.cellOf(age)]!;
      if (events > 0) counts.push([age, events]);
    }
    return { cycle: this.cycle, counts };
  }

  /** Takes over what an image holds, its cycle included. The window must be empty. */
  restore({ cycle, counts }: WindowImage): void {
    this.cells[this.at + CYCLE] = cycle;
    for (const [age, events] of counts) this.addAt(cycle - age, events);
  }

  /** The cell in which the events lie that happened `age` cycles ago. */
  private cellOf(age: number): number {
    const slot = this.cells[this.at + SLOT]! - age;
    return this.at + RING + (slot < 0 ? slot + this.within : slot);
  }
}
