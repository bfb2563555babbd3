// A rolling window: the number of events in the last `within` cycles.
//
//   ring     | 0 | 3 | 1 | 0 | 2 |        within = 5, inWindow = 3 + 1 + 0 + 2 + 0 = 6
//   cycle      c  c-4 c-3 c-2 c-1         the cell of cycle c is overwritten when c + 5 begins
//              ^ slot
//
// With ten thousand contracts memory accesses dominate a decision: its numbers are fields of one object, small integers below 2^31.
// Rings lie side by side, and a cycle has the same place in all of one length: contracts that are decided in it read neighbouring cells.
//
//   array    | a b c ... | a b c ... | a b c ... |        a: at = 0, stride = 16
//   cycle          c         c - 4       c - 3
import { modulo } from '../math/modulo.js';

/** 32-bit integers, or doubles once a cell does not fit: exact up to 2^53. */
type Ring = Int32Array | Float64Array;

/** The cells of one ring: `array[at + k * stride]`. Initially 0. */
export interface Cells {
  readonly array: Ring;
  readonly at: number;
  readonly stride: number;
}

/** The largest 32-bit integer. */
export const MOST_INT32 = 2 ** 31 - 1;

/** Their cells of one cycle fill a line of the cache. */
const SIDE_BY_SIDE = 16;

/** Longer rings get their own array, so that little of a shared array is wasted. */
const LONGEST_SHARED = 512;

const latest = new Map<number, { readonly array: Ring; rings: number }>();

/** Takes `length` cells beside those taken before. The array is garbage-collected with its last ring. */
export function cutCells(length: number): Cells {
  if (length > LONGEST_SHARED) return ownCells(length);
  let shared = latest.get(length);
  if (shared === undefined || shared.rings === SIDE_BY_SIDE) {
    shared = { array: new Int32Array(SIDE_BY_SIDE * length), rings: 0 };
    latest.set(length, shared);
  }
  shared.rings += 1;
  return { array: shared.array, at: shared.rings - 1, stride: SIDE_BY_SIDE };
}

export function ownCells(length: number): Cells {
  return { array: new Int32Array(length), at: 0, stride: 1 };
}

/** Youngest first, as one flat list: age in cycles, events, age, events … Pairs took twenty times as long. */
export interface WindowImage {
  readonly cycle: number;
  readonly counts: readonly number[];
}

/** Origin of stored cycles: since 1970 they are too large for small integers, and would be heap numbers. */
const ORIGIN = 2 ** 31;

/**
 * A gate, and the contract that owns it, hold these fields in the same object: see fast-path.ts. All start as small integers: the
 * engine then need not ask at each use what a field holds.
 */
export class WindowRing {
  inWindow = 0;
  offset = 0;
  /** Place of the present cycle in `ring`. */
  slot = 0;
  readonly within: number = 0;
  readonly ring: Ring;
  readonly ringAt: number = 0;
  readonly stride: number = 0;

  constructor(within: number, cycle: number, { array, at, stride }: Cells = cutCells(within)) {
    this.offset = offsetOf(cycle);
    this.within = within;
    this.ring = array;
    this.ringAt = at;
    this.stride = stride;
    this.slot = slotOf(this, this.offset);
  }
}

function slotOf({ within, ringAt, stride }: WindowRing, offset: number): number {
  return ringAt + stride * modulo(offset, within);
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

/** @param age of the cycle, less than `within` */
export function addTo(window: WindowRing, n: number, age = 0): void {
  const sum = window.ring[cellOf(window, age)]! + n;
  if (sum < 0 || sum > MOST_INT32) widen(window);
  window.ring[cellOf(window, age)] = sum;
  window.inWindow += n;
}

function cellOf({ slot, within, ringAt, stride }: WindowRing, age: number): number {
  const cell = slot - age * stride;
  return cell < ringAt ? cell + within * stride : cell;
}

function widen(window: WindowRing): void {
  const { within, ring, ringAt, stride, slot } = window;
  if (ring instanceof Float64Array) return;
  const wide = Float64Array.from({ length: within }, (_, k) => ring[ringAt + k * stride]!);
  Object.assign(window, { ring: wide, ringAt: 0, stride: 1, slot: (slot - ringAt) / stride });
}

export function advanceTo(window: WindowRing, cycle: number): number {
  return advanceToOffset(window, offsetOf(cycle));
}

export function advanceToOffset(window: WindowRing, offset: number): number {
  let count = window.inWindow;
  const gap = offset - window.offset;
  if (gap <= 0) return count;
  window.offset = offset;
  const { within, ring, ringAt, stride } = window;
  const end = ringAt + stride * within;
  if (gap >= within || count === 0) {
    if (count !== 0) for (let cell = ringAt; cell < end; cell += stride) ring[cell] = 0;
    window.slot = slotOf(window, offset);
    window.inWindow = 0;
    return 0;
  }
  let { slot } = window;
  for (let left = gap; left > 0; left -= 1) {
    slot = slot + stride === end ? ringAt : slot + stride;
    count -= ring[slot]!;
    ring[slot] = 0;
  }
  window.slot = slot;
  const integer = count | 0;
  // Not by `small`: the engine would check the type of its result again for each decision.
  if (integer === count) window.inWindow = integer;
  else window.inWindow = count;
  return window.inWindow;
}

/** Counts late events, unless their cycle has left the window or has not begun. */
export function addAt(window: WindowRing, cycle: number, n: number): void {
  const age = cycleAt(window.offset) - cycle;
  if (age >= 0 && age < window.within) addTo(window, n, age);
}

/** Advances to at most `last` cycles from now, while fewer than `events` have left. @returns cycles, events left */
export function whileFewerLeave(
  window: WindowRing,
  events: number,
  after: number,
  last: number,
): readonly [after: number, left: number] {
  if (after >= last) return [after, 0];
  const { ring, ringAt, stride, within } = window;
  const end = ringAt + stride * within;
  let cell = cellOf(window, within - after - 1);
  let left = 0;
  let reached = after;
  for (; reached < last; reached += 1) {
    const leaves = left + ring[cell]!;
    if (leaves >= events) break;
    left = leaves;
    cell = cell + stride === end ? ringAt : cell + stride;
  }
  return [reached, left];
}

export function windowImage({ ring, ringAt, stride, within, slot, offset }: WindowRing): WindowImage {
  const end = ringAt + stride * within;
  let busy = 0;
  for (let cell = ringAt; cell < end; cell += stride) if (ring[cell]! > 0) busy += 1;
  // Allocated once: a growing list is copied a dozen times.
  const counts = new Array<number>(2 * busy);
  let to = 0;
  let cell = slot;
  for (let age = 0; to < counts.length; age += 1) {
    const events = ring[cell]!;
    if (events > 0) {
      counts[to] = age;
      counts[to + 1] = events;
      to += 2;
    }
    cell = (cell === ringAt ? end : cell) - stride;
  }
  return { cycle: cycleAt(offset), counts };
}

export function restoreWindow(window: WindowRing, { cycle, counts }: WindowImage): void {
  window.offset = offsetOf(cycle);
  window.slot = slotOf(window, window.offset);
  for (let at = 0; at < counts.length; at += 2) addAt(window, cycle - counts[at]!, counts[at + 1]!);
}
