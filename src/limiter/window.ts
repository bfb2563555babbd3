// A rolling window: the number of events in the last `within` cycles.
//
//   ring     | 0 | 3 | 1 | 0 | 2 |        within = 5, inWindow = 3 + 1 + 0 + 2 + 0 = 6
//   cycle      c  c-4 c-3 c-2 c-1         slot of cycle c is overwritten when c + 5 begins
//              ^ slot
//
// With ten thousand contracts memory accesses dominate a decision: its numbers are fields of one object, small integers below 2^31, and
// rings share long arrays (`npm run bench -- decide`).

/** The cells of one ring, from `array[at]`. Initially 0, and exact up to 2^53. */
export interface Cells {
  readonly array: Float64Array;
  readonly at: number;
}

/** 64 KB: about a hundred rings share an array, so that its header stays in the cache. */
const ARRAY_LENGTH = 8192;

/** Longer rings get their own array, so that at most this much of a shared array is wasted. */
const LONGEST_SHARED = ARRAY_LENGTH / 16;

let shared = new Float64Array(ARRAY_LENGTH);
let used = 0;

/** Takes `length` cells next to those taken before. The array is garbage-collected with its last ring. */
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

export function ownCells(length: number): Cells {
  return { array: new Float64Array(length), at: 0 };
}

/** Youngest first, as one flat list: age in cycles, events, age, events … Pairs took twenty times as long. */
export interface WindowImage {
  readonly cycle: number;
  readonly counts: readonly number[];
}

/** Origin of stored cycles: since 1970 they are too large for small integers, and would be heap numbers. */
const ORIGIN = 2 ** 31;

/** A gate, and the contract that owns it, hold these fields in the same object: see fast-path.ts. */
export class WindowRing {
  inWindow = 0;
  offset: number;
  slot = 0;
  readonly within: number;
  readonly ring: Float64Array;
  readonly ringAt: number;

  constructor(within: number, cycle: number, { array, at }: Cells = cutCells(within)) {
    this.offset = offsetOf(cycle);
    this.within = within;
    this.ring = array;
    this.ringAt = at;
  }
}

export function offsetOf(cycle: number): number {
  return small(cycle - ORIGIN);
}

/** Returns `n`, as a small integer if possible: the engine keeps a difference of doubles as a double otherwise. */
function small(n: number): number {
  const integer = n | 0;
  return integer === n ? integer : n;
}

export function cycleAt(offset: number): number {
  return offset + ORIGIN;
}

export function addTo(window: WindowRing, n: number): void {
  window.ring[window.ringAt + window.slot]! += n;
  window.inWindow += n;
}

export function advanceTo(window: WindowRing, cycle: number): number {
  return advanceToOffset(window, offsetOf(cycle));
}

export function advanceToOffset(window: WindowRing, offset: number): number {
  let count = window.inWindow;
  const gap = offset - window.offset;
  if (gap <= 0) return count;
  window.offset = offset;
  if (count === 0) return 0;
  const { within, ring, ringAt } = window;
  if (gap >= within) {
    ring.fill(0, ringAt, ringAt + within);
    window.inWindow = 0;
    return 0;
  }
  let { slot } = window;
  for (let left = gap; left > 0; left -= 1) {
    slot = slot + 1 === within ? 0 : slot + 1;
    count -= ring[ringAt + slot]!;
    ring[ringAt + slot] = 0;
  }
  window.slot = slot;
  const integer = count | 0;
  // Not by `small`: the engine would check the type of its result again for each decision.
  if (integer === count) window.inWindow = integer;
  else window.inWindow = count;
  return window.inWindow;
}

export class RollingWindow {
  readonly #counts: WindowRing;

  constructor(counts: WindowRing) {
    this.#counts = counts;
  }

  get within(): number {
    return this.#counts.within;
  }

  get count(): number {
    return this.#counts.inWindow;
  }

  get cycle(): number {
    return cycleAt(this.#counts.offset);
  }

  add(n: number): void {
    addTo(this.#counts, n);
  }

  /** Counts late events. @returns false, without counting, if that cycle has left the window or has not begun */
  addAt(cycle: number, n: number): boolean {
    const age = this.cycle - cycle;
    if (age < 0 || age >= this.within) return false;
    this.#counts.ring[this.#cellOf(age)]! += n;
    this.#counts.inWindow += n;
    return true;
  }

  advance(cycle: number): void {
    advanceTo(this.#counts, cycle);
  }

  /** Advances to at most `last` cycles from now, while fewer than `events` have left. @returns cycles, events left */
  whileFewerLeave(events: number, after: number, last: number): readonly [after: number, left: number] {
    if (after >= last) return [after, 0];
    const { ring, ringAt } = this.#counts;
    const end = ringAt + this.within;
    let cell = this.#cellOf(this.within - after - 1);
    let left = 0;
    for (; after < last; after += 1) {
      const leaves = left + ring[cell]!;
      if (leaves >= events) break;
      left = leaves;
      cell = cell + 1 === end ? ringAt : cell + 1;
    }
    return [after, left];
  }

  cyclesUntilAtMost(most: number): number {
    const [after] = this.whileFewerLeave(this.count - most, 0, this.within - 1);
    return after + 1;
  }

  image(): WindowImage {
    const { ring, ringAt } = this.#counts;
    const last = ringAt + this.within - 1;
    let busy = 0;
    for (let at = ringAt; at <= last; at += 1) if (ring[at]! > 0) busy += 1;
    // Allocated once: a growing list is copied a dozen times.
    const counts = new Array<number>(2 * busy);
    let to = 0;
    let at = this.#cellOf(0);
    for (let age = 0; to < counts.length; age += 1) {
      const events = ring[at]!;
      if (events > 0) {
        counts[to] = age;
        counts[to + 1] = events;
        to += 2;
      }
      at = at === ringAt ? last : at - 1;
    }
    return { cycle: this.cycle, counts };
  }

  restore({ cycle, counts }: WindowImage): void {
    this.#counts.offset = offsetOf(cycle);
    for (let at = 0; at < counts.length; at += 2) this.addAt(cycle - counts[at]!, counts[at + 1]!);
  }

  #cellOf(age: number): number {
    const { slot, within, ringAt } = this.#counts;
    return ringAt + (slot < age ? slot - age + within : slot - age);
  }
}
