// One rolling window: how many events lie in the last `within` cycles.
//
//   ring     | 0 | 3 | 1 | 0 | 2 |        within = 5, count = 3 + 1 + 0 + 2 + 0 = 6
//   cycle      c  c-4 c-3 c-2 c-1         slot of cycle c is overwritten when c + 5 begins
//              ^ slot
//
//   cells    | count | cycle | slot | within | ring ......... |
//
// A window is stored in cells: numbers in a long array that many windows share, one after the other. With ten thousand contracts the one
// that is asked is not in the processor's cache, so the time of a decision is the number of places in memory that it reads. An object
// is one place, and each of its numbers that is not a small integer is another. With objects for gate, window and figures a decision
// has a third of the speed of a bare ring of counts behind a Map (`npm run bench -- decide`); with cells, two thirds.
//
// The cells are doubles: counts are exact up to 2^53. What every event needs is a function of the cells.

/** The cells of one gate or window: `array[at]` is the first. They begin with 0. */
export interface Cells {
  readonly array: Float64Array;
  readonly at: number;
}

/** 64 KB: about a hundred gates share an array, so that its header stays in the cache. */
const ARRAY_LENGTH = 8192;

/** More cells than this get an array of their own, so that at most this much of a shared array is wasted. */
const LONGEST_SHARED = ARRAY_LENGTH / 16;

let shared = new Float64Array(ARRAY_LENGTH);
let used = 0;

/** Takes `length` cells next to those taken before. An array is freed when nothing uses its cells. */
export function cutCells(length: number): Cells {
  if (length > LONGEST_SHARED) return ownCells(length);
  if (used + length > ARRAY_LENGTH) {
    shared = new Float64Array(ARRAY_LENGTH);
    used = 0;
  }
  const at = used;
  used += length;
  return { array: shared, at };
}

/** Cells of an array of their own. */
export function ownCells(length: number): Cells {
  return { array: new Float64Array(length), at: 0 };
}

/**
 * A window as data: its cycle and its non-zero counts, youngest first: age in cycles, events, age, events … One flat list: a window of
 * 100,000 cycles as pairs took twenty times as long to make.
 */
export interface WindowImage {
  readonly cycle: number;
  readonly counts: readonly number[];
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

/** The cycle of the window whose cells begin at `at`. */
export function cycleOfWindow(cells: Float64Array, at: number): number {
  return cells[at + CYCLE]!;
}

/** See `RollingWindow.add`. */
export function addTo(cells: Float64Array, at: number, n: number): void {
  // `| 0`, here and below: the engine need not test whether the double is an integer.
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
  readonly #cells: Float64Array;
  readonly #at: number;

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
    this.#cells = place.array;
    this.#at = place.at;
    this.#cells[this.#at + WITHIN] = within;
    this.#cells[this.#at + CYCLE] = cycle;
  }

  /** Events in the cycles `cycle - within + 1 .. cycle`. */
  get count(): number {
    return this.#cells[this.#at + COUNT]!;
  }

  get cycle(): number {
    return cycleOfWindow(this.#cells, this.#at);
  }

  /** Counts `n` events in the cycle of the window. */
  add(n: number): void {
    addTo(this.#cells, this.#at, n);
  }

  /**
   * Counts `n` events of an earlier cycle in that cycle.
   * @returns false, and counts nothing, when that cycle has left the window or has not begun
   */
  addAt(cycle: number, n: number): boolean {
    const age = this.cycle - cycle;
    if (age < 0 || age >= this.within) return false;
    this.#cells[this.#cellOf(age)]! += n;
    this.#cells[this.#at + COUNT]! += n;
    return true;
  }

  /** Moves on to `cycle`; what is `within` cycles old leaves. At most `within` steps, however far it is. */
  advance(cycle: number): void {
    advanceTo(this.#cells, this.#at, cycle);
  }

  /** How many events leave when the window moves from `cycle + after - 1` to `cycle + after`; `after` from 1 to `within`. */
  leaving(after: number): number {
    return this.#cells[this.#cellOf(this.within - after)]!;
  }

  /**
   * Goes on from `after` to at most `last` cycles from now, 0 <= after, last <= within, while fewer than `events` have left since.
   * @returns cycles from now, and how many have left
   */
  whileFewerLeave(events: number, after: number, last: number): readonly [after: number, left: number] {
    if (after >= last) return [after, 0];
    const cells = this.#cells;
    const first = this.#at + RING;
    const end = first + this.within;
    let cell = this.#cellOf(this.within - after - 1);
    let left = 0;
    for (; after < last; after += 1) {
      const leaves = left + cells[cell]!;
      if (leaves >= events) break;
      left = leaves;
      cell = cell + 1 === end ? first : cell + 1;
    }
    return [after, left];
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
    const cells = this.#cells;
    const [first, last] = [this.#at + RING, this.#at + RING + this.within - 1];
    let busy = 0;
    for (let at = first; at <= last; at += 1) if (cells[at]! > 0) busy += 1;
    // Of its length at once: a list that grows to this one is copied a dozen times.
    const counts = new Array<number>(2 * busy);
    let to = 0;
    let at = this.#cellOf(0);
    for (let age = 0; to < counts.length; age += 1) {
      const events = cells[at]!;
      if (events > 0) {
        counts[to] = age;
        counts[to + 1] = events;
        to += 2;
      }
      at = at === first ? last : at - 1;
    }
    return { cycle: this.cycle, counts };
  }

  /** Takes over what an image holds, its cycle included. The window must be empty. */
  restore({ cycle, counts }: WindowImage): void {
    this.#cells[this.#at + CYCLE] = cycle;
    for (let at = 0; at < counts.length; at += 2) this.addAt(cycle - counts[at]!, counts[at + 1]!);
  }

  /** The cell in which the events lie that happened `age` cycles ago. */
  #cellOf(age: number): number {
    const slot = this.#cells[this.#at + SLOT]! - age;
    return this.#at + RING + (slot < 0 ? slot + this.within : slot);
  }
}
