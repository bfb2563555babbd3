// Owns the head of a gate, the numbers that every event asks for, and the decision as long as nothing can fire.
// Leaves what may fire, and what follows from it, to gate.ts; where the cells lie to cells.ts.
//
//   cells    | lo | hi | calm until | admits | requests | limited | peak count | peak cycle | window ............
//              head                                                                           of the first aggregate
//
// To decide, these cells are all that has to be fetched from memory, and not the gate itself: cells.ts tells why that matters.
// `at` is where the cells of a gate begin.
import { addTo, advanceTo, cycleOfWindow } from './window.js';

/** Counts within lo .. hi are quiet; with an empty band (lo > hi) every event goes the long way. */
const LO = 0;
const HI = 1;
/** The window can be advanced to any cycle before this one without an evaluation. */
const CALM_UNTIL = 2;
/** 1 when an event that finds the gate as it is now is admitted, otherwise 0. */
const ADMITS = 3;
const REQUESTS = 4;
const LIMITED = 5;
const PEAK_COUNT = 6;
/** First cycle with the peak. */
const PEAK_CYCLE = 7;
const WINDOW = 8;

/** How many cells a head takes. The first window lies right behind it. */
export const HEAD_CELLS = WINDOW;

/** What a gate has counted since it was made. */
export interface Figures {
  readonly requests: number;
  readonly limited: number;
  /** The largest count of the first window that an event has led to. */
  readonly peakCount: number;
  /** First cycle with the peak; undefined before the first event. */
  readonly peakCycle: number | undefined;
}

/** When nothing can fire. */
export interface Quiet {
  readonly lo: number;
  readonly hi: number;
  readonly calmUntil: number;
}

/** Something can fire at any time. */
export const NEVER_QUIET: Quiet = {
  lo: Number.POSITIVE_INFINITY,
  hi: Number.NEGATIVE_INFINITY,
  calmUntil: Number.NEGATIVE_INFINITY,
};

/** The cycle at which the gate stands. */
export function cycleOfGate(cells: Float64Array, at: number): number {
  return cycleOfWindow(cells, at + WINDOW);
}

/**
 * Counts `n` events in `cycle` and decides them, advancing to that cycle before; unless something can fire.
 * @returns how many of the n were admitted, or -1 when the gate has to see to it: none of them was counted
 */
export function decideFast(cells: Float64Array, at: number, n: number, cycle: number): number {
  const window = at + WINDOW;
  if (cycle > cycleOfWindow(cells, window) && cycle >= cells[at + CALM_UNTIL]!) return -1;
  const before = advanceTo(cells, window, cycle);
  const count = before + n;
  if (count > cells[at + HI]! || before + 1 < cells[at + LO]!) return -1;
  addTo(cells, window, n);
  const admitted = cells[at + ADMITS] === 1 ? n : 0;
  addFigures(cells, at, n, admitted, count);
  return admitted;
}

/** Takes down that so many of n events were admitted, and what the count of the first window is now. */
export function addFigures(cells: Float64Array, at: number, n: number, admitted: number, count: number): void {
  cells[at + REQUESTS]! += n;
  if (admitted !== n) cells[at + LIMITED]! += n - admitted;
  if (count > cells[at + PEAK_COUNT]!) {
    cells[at + PEAK_COUNT] = count;
    cells[at + PEAK_CYCLE] = cycleOfGate(cells, at);
  }
}

/** Tells what is quiet from now on, and whether events are admitted. The figures stay. */
export function setHead(cells: Float64Array, at: number, { lo, hi, calmUntil }: Quiet, admits: boolean): void {
  cells[at + LO] = lo;
  cells[at + HI] = hi;
  cells[at + CALM_UNTIL] = calmUntil;
  cells[at + ADMITS] = admits ? 1 : 0;
}

/** Whether an event that finds the gate as it is now is admitted. */
export function admitsNow(cells: Float64Array, at: number): boolean {
  return cells[at + ADMITS] === 1;
}

export function figuresIn(cells: Float64Array, at: number): Figures {
  const peakCount = cells[at + PEAK_COUNT]!;
  return {
    requests: cells[at + REQUESTS]!,
    limited: cells[at + LIMITED]!,
    peakCount,
    peakCycle: peakCount > 0 ? cells[at + PEAK_CYCLE]! : undefined,
  };
}
