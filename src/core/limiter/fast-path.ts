// Counting and deciding while no guard can hold, for a contract with one window. It buys 3 x in `npm run bench -- decide`: with ten
// thousand contracts a decision waits for memory, and here it reads one object and one cell.
//
//   head     the window, the highest count of its band, figures              one object
//   array    | a b c ... | a b c ... | a b c ... |        a: its cells are every 16th, from 0 on
//   cycle          c         c - 4       c - 3             contracts that are decided in a cycle read neighbouring cells
//
// test/core/limiter/gate.test.ts holds this path to naive-limiter.ts, a list of events that is searched at each step;
// test/core/limiter/contract-machine.test.ts holds it to an actor that receives every event.
import type { IntegerRange } from './expression/integer-set.js';
import { advanceRing, cycleAt, MOST_INT32, type Ring, ringOf } from './window.js';

/** The first window of a contract, with what a quiet decision needs; for one without a window, one of a cycle. */
export interface GateHead extends Ring {
  /** Up to this count no transition fires; -1: at none. */
  most: number;
  /** Whether passing time fires nothing. */
  isCalm: boolean;
  isOpen: boolean;
  requests: number;
  limited: number;
  peakCount: number;
  peakOffset: number;
}

export function headOf(within: number, cycle: number): GateHead {
  const { count, offset, slot, cells, stride } = ringOf(within, cycle, cellsFor(within));
  // Not by spreading: its fields would lie outside of the object.
  return {
    count,
    offset,
    most: -1,
    isCalm: false,
    isOpen: false,
    slot,
    within,
    cells,
    stride,
    requests: 0,
    limited: 0,
    peakCount: 0,
    peakOffset: offset,
  };
}

/** Cells of one cycle fill a line of the cache. */
const SIDE_BY_SIDE = 16;

/** Longer rings get their own array, so that little of a shared array is wasted. */
const LONGEST_SHARED = 512;

const latest = new Map<number, { readonly cells: Int32Array; rings: number }>();

/** Beside those taken before. The array is garbage-collected with its last ring. */
function cellsFor(within: number) {
  if (within > LONGEST_SHARED) return undefined;
  let shared = latest.get(within);
  if (shared === undefined || shared.rings === SIDE_BY_SIDE) {
    shared = { cells: new Int32Array(SIDE_BY_SIDE * within), rings: 0 };
    latest.set(within, shared);
  }
  shared.rings += 1;
  return { cells: shared.cells, first: shared.rings - 1, stride: SIDE_BY_SIDE };
}

/** @returns how many were admitted; undefined if a transition may fire: then nothing is counted, and the gate decides */
export function countQuietly(head: GateHead, n: number, cycle: number): number | undefined {
  if (!head.isCalm && cycle > cycleAt(head)) return undefined;
  const count = advanceRing(head, cycle) + n;
  if (count > head.most) return undefined;
  // A cell has at most `count` events.
  head.cells[head.slot]! += n;
  head.count = count;
  const admitted = head.isOpen ? n : 0;
  addFigures(head, n, admitted, count);
  return admitted;
}

export function addFigures(head: GateHead, n: number, admitted: number, count: number): void {
  head.requests += n;
  if (admitted !== n) head.limited += n - admitted;
  if (count > head.peakCount) {
    head.peakCount = count;
    head.peakOffset = head.offset;
  }
}

/** @param band of its count; undefined if a transition may fire */
export function setHead(head: GateHead, band: IntegerRange | undefined, isOpen: boolean): void {
  // Larger ones would be stored outside of the object.
  head.most = Math.min(band?.hi ?? -1, MOST_INT32);
  head.isCalm = band?.lo === 0;
  head.isOpen = isOpen;
}

export type GateFigures = ReturnType<typeof figuresIn>;

export function figuresIn({ requests, limited, peakCount, peakOffset }: GateHead) {
  return { requests, limited, peakCount, peakCycle: peakCount > 0 ? cycleAt({ offset: peakOffset }) : undefined };
}
