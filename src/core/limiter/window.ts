// A rolling window: how many events the last `within` cycles had.
//
//   ring    | 0 | 3 | 1 | 0 | 2 |            a cell for each cycle, for a contract; the cell of cycle c is overwritten when c + within begins
//             c  c-4 c-3 c-2 c-1
//
//   list    within, cycle, count, c-3, 1, c-1, 2, c, 3       cycle and events of each busy cycle, oldest first, for a key: most cycles are
//                                                            quiet, and there are many keys. An empty list has one cell without events
//
// Both forms count alike: test/core/limiter/window.test.ts holds them to a plain list of events.
import { modulo } from '../math/modulo.js';

/** Plain data. */
export interface Ring {
  readonly within: number;
  /** Events of the cycles after its present one minus `within`. */
  count: number;
  /** Its present cycle, from 2^31 on: a small number, which is stored in the object itself. */
  offset: number;
  /** 32-bit integers, or doubles once a cell does not fit: exact up to 2^53. */
  cells: Int32Array | Float64Array;
  /** The place of the present cycle, and the step to the next. */
  slot: number;
  stride: number;
}

/** Plain numbers, so that a key takes little memory. */
type List = number[];

export type Window = Ring | List;

const WITHIN = 0;
const CYCLE = 1;
const COUNT = 2;
const FIRST = 3;

/** Youngest first, as one flat list: age in cycles, events, age, events … Pairs took twenty times as long. */
export interface WindowImage {
  readonly cycle: number;
  readonly counts: readonly number[];
}

interface Shared {
  readonly cells: Int32Array;
  readonly first: number;
  readonly stride: number;
}

/** @param shared its cells are every `stride`th from `first` on. Default: cells of its own */
export function ringOf(
  within: number,
  cycle: number,
  { cells, first, stride }: Shared = { cells: new Int32Array(within), first: 0, stride: 1 },
): Ring {
  return { within, count: 0, offset: offsetOf(cycle), cells, slot: first + stride * modulo(cycle, within), stride };
}

export function listOf(within: number, cycle: number): Window {
  return [within, cycle, 0, cycle, 0];
}

const ORIGIN = 2 ** 31;

/** As a small integer if it is one: the engine keeps a difference of doubles as a double otherwise. */
function offsetOf(cycle: number): number {
  const offset = cycle - ORIGIN;
  const integer = offset | 0;
  return integer === offset ? integer : offset;
}

/** The present cycle of a ring. */
export function cycleAt({ offset }: Pick<Ring, 'offset'>): number {
  return offset + ORIGIN;
}

function presentOf(window: Window): number {
  return Array.isArray(window) ? window[CYCLE]! : cycleAt(window);
}

export function countNow(window: Window): number {
  return Array.isArray(window) ? window[COUNT]! : window.count;
}

function withinOf(window: Window): number {
  return Array.isArray(window) ? window[WITHIN]! : window.within;
}

/** Goes on to a cycle; an earlier one changes nothing. @returns the count */
export function advance(window: Window, cycle: number): number {
  return Array.isArray(window) ? advanceList(window, cycle) : advanceRing(window, cycle);
}

function advanceList(list: List, cycle: number): number {
  if (cycle <= list[CYCLE]!) return list[COUNT]!;
  list[CYCLE] = cycle;
  const left = cycle - list[WITHIN]!;
  if (list[FIRST]! > left) return list[COUNT]!;
  let keep = FIRST;
  for (; keep < list.length && list[keep]! <= left; keep += 2) list[COUNT]! -= list[keep + 1]!;
  let to = FIRST;
  for (let from = keep; from < list.length; from += 1, to += 1) list[to] = list[from]!;
  if (to === FIRST) {
    list[FIRST] = cycle;
    list[FIRST + 1] = 0;
    to += 2;
  }
  while (list.length > to) list.pop();
  return list[COUNT]!;
}

export function advanceRing(ring: Ring, cycle: number): number {
  const { cells, within, stride } = ring;
  const offset = offsetOf(cycle);
  const gap = offset - ring.offset;
  if (gap <= 0) return ring.count;
  ring.offset = offset;
  let { count, slot } = ring;
  const end = stride * within;
  if (count === 0 || gap >= within) {
    const first = slot % stride;
    if (count !== 0) for (let cell = first; cell < end; cell += stride) cells[cell] = 0;
    slot = first + stride * modulo(cycle, within);
    count = 0;
  } else {
    for (let steps = gap; steps > 0; steps -= 1) {
      slot += stride;
      if (slot >= end) slot -= end;
      count -= cells[slot]!;
      cells[slot] = 0;
    }
  }
  ring.slot = slot;
  ring.count = count;
  return count;
}

/** Counts events of a cycle, unless it has left the window or has not begun. @param n negative: takes events back */
export function add(window: Window, cycle: number, n: number): void {
  const age = presentOf(window) - cycle;
  if (age < 0 || age >= withinOf(window) || n === 0) return;
  if (Array.isArray(window)) addToList(window, cycle, n);
  else addToRing(window, age, n);
}

function addToList(list: List, cycle: number, n: number): void {
  if (list.length === FIRST + 2 && list[FIRST + 1] === 0) list[FIRST] = cycle;
  list[COUNT]! += n;
  let end = list.length;
  while (end > FIRST && list[end - 2]! > cycle) end -= 2;
  if (end === FIRST || list[end - 2] !== cycle) {
    if (end === list.length) list.push(cycle, n);
    else list.splice(end, 0, cycle, n);
  } else if (list[end - 1] === -n && list.length > FIRST + 2) list.splice(end - 2, 2);
  else list[end - 1]! += n;
}

/** The largest 32-bit integer. */
export const MOST_INT32 = 2 ** 31 - 1;

function addToRing(ring: Ring, age: number, n: number): void {
  const { cells, within, slot, stride } = ring;
  const cell = slot - age * stride;
  const at = cell < 0 ? cell + within * stride : cell;
  const sum = cells[at]! + n;
  if (sum > MOST_INT32 && cells instanceof Int32Array) {
    ring.cells = Float64Array.from({ length: within }, (_, k) => cells[(slot % stride) + k * stride]!);
    ring.slot = Math.floor(slot / stride);
    ring.stride = 1;
    addToRing(ring, age, n);
  } else {
    cells[at] = sum;
    ring.count += n;
  }
}

/** A place in the future of a window, if nothing arrives until then: what is asked of a later one goes on from it. Valid until the window changes. */
interface Ahead {
  cycle: number;
  count: number;
  /** Of the cell, or of the next one in a list. */
  at: number;
}

export function fromPresent(window: Window): Ahead {
  const at = Array.isArray(window) ? FIRST : window.slot;
  return { cycle: presentOf(window), count: countNow(window), at };
}

/** The count when `cycle` begins, if nothing arrives until then. */
export function eventsAt(window: Window, cycle: number, ahead = fromPresent(window)): number {
  return walk(window, ahead, cycle, Number.NEGATIVE_INFINITY).count;
}

/** The first cycle from `since` to `until` that begins with at most `most` events, if nothing arrives; Infinity for none. */
export function fallsIn(
  window: Window,
  most: number,
  since = presentOf(window),
  until = Number.POSITIVE_INFINITY,
  ahead = fromPresent(window),
): number {
  if (most < 0) return Number.POSITIVE_INFINITY;
  const { count, cycle } = walk(window, ahead, until, most, since);
  return count > most ? Number.POSITIVE_INFINITY : Math.max(since, cycle);
}

/** Goes on until `cycle`, or until at most `most` events are left; from the present if that may lie before its place. */
function walk(window: Window, ahead: Ahead, cycle: number, most: number, since = cycle): Ahead {
  if (ahead.cycle > cycle || (ahead.cycle > since && ahead.count <= most)) Object.assign(ahead, fromPresent(window));
  const within = withinOf(window);
  let { cycle: reached, count, at } = ahead;
  if (Array.isArray(window)) {
    for (; count > most && at < window.length && window[at]! + within <= cycle; at += 2) {
      reached = window[at]! + within;
      count -= window[at + 1]!;
    }
  } else {
    const { cells, stride } = window;
    const last = Math.min(cycle, cycleAt(window) + within);
    const end = stride * within;
    for (; count > most && reached < last; reached += 1) {
      at += at + stride < end ? stride : stride - end;
      count -= cells[at]!;
    }
  }
  return Object.assign(ahead, { cycle: reached, count, at });
}

/** The cycle of the newest event; undefined for an empty window. */
export function newestIn(window: Window): number | undefined {
  const { cycle, counts } = windowImage(window, 1);
  return counts.length === 0 ? undefined : cycle - counts[0]!;
}

/** @param most cells, the newest. Default: all */
export function windowImage(window: Window, most = Number.POSITIVE_INFINITY): WindowImage {
  const cycle = presentOf(window);
  const counts: number[] = [];
  if (Array.isArray(window)) {
    for (let at = window.length - 2; at >= FIRST && counts.length < 2 * most; at -= 2)
      if (window[at + 1]! > 0) counts.push(cycle - window[at]!, window[at + 1]!);
    return { cycle, counts };
  }
  const { within, cells, stride } = window;
  let { slot } = window;
  for (let age = 0; age < within && counts.length < 2 * most; age += 1) {
    if (cells[slot]! > 0) counts.push(age, cells[slot]!);
    slot = (slot < stride ? slot + stride * within : slot) - stride;
  }
  return { cycle, counts };
}

/** @param window an empty one of its length */
export function restoreWindow(window: Window, { cycle, counts }: WindowImage): Window {
  advance(window, cycle);
  for (let at = counts.length - 2; at >= 0; at -= 2) add(window, cycle - counts[at]!, counts[at + 1]!);
  return window;
}
