// The fast path of a gate: counting and deciding while no transition can fire.
//
//   cells    | lo | hi | calm until | admits | requests | limited | peak count | peak cycle | window ............
//              head                                                                           of the first aggregate
//
//   decideFast:   advance the window; lo <= count <= hi afterwards?   yes: all or none of the events are admitted
//                                                                     no: -1, and gate.ts decides
//
// `at` is where the cells of a gate begin. A decision reads these cells and no object: window.ts says what that saves. The rules in a
// plain form are test/limiter/naive-limiter.ts, a list of events that is searched at each step; properties in test/limiter/gate.test.ts
// hold this path to it, and test/actor/contract-machine.test.ts holds it to an actor that hears every event.
import { addTo, advanceTo, cycleOfWindow } from './window.js';

/** While the count is within lo .. hi no transition fires. An empty band (lo > hi) sends every event to the gate. */
const LO = 0;
const HI = 1;
/** Up to this cycle, exclusive, the window can be advanced without an evaluation. */
const CALM_UNTIL = 2;
/** 1 while events are admitted, otherwise 0. */
const ADMITS = 3;
const REQUESTS = 4;
const LIMITED = 5;
const PEAK_COUNT = 6;
/** First cycle with the peak. */
const PEAK_CYCLE = 7;
const WINDOW = 8;

/** How many cells a head has. The first window follows it. */
export const HEAD_CELLS = WINDOW;

/** What a gate has counted since it was made. */
export interface Figures {
  readonly requests: number;
  readonly limited: number;
  /** The largest count of the first window after an event. */
  readonly peakCount: number;
  /** First cycle with the peak; undefined before the first event. */
  readonly peakCycle: number | undefined;
}

/** The counts and cycles in which no transition can fire. */
interface Quiet {
  readonly lo: number;
  readonly hi: number;
  readonly calmUntil: number;
}

/** A transition can fire at any time. */
export const NEVER_QUIET: Quiet = {
  lo: Number.POSITIVE_INFINITY,
  hi: Number.NEGATIVE_INFINITY,
  calmUntil: Number.NEGATIVE_INFINITY,
};

/** The cycle up to which the gate has counted. */
export function cycleOfGate(cells: Float64Array, at: number): number {
  return cycleOfWindow(cells, at + WINDOW);
}

/**
 * Advances to `cycle`, counts `n` events in it and decides them, unless a transition can fire.
 * @returns how many of the n were admitted; -1 when a transition can fire: no event was counted, and the gate has to decide
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

/** Counts n events, of which `admitted` were admitted. `count`: of the first window, these events included. */
export function addFigures(cells: Float64Array, at: number, n: number, admitted: number, count: number): void {
  cells[at + REQUESTS]! += n;
  if (admitted !== n) cells[at + LIMITED]! += n - admitted;
  if (count > cells[at + PEAK_COUNT]!) {
    cells[at + PEAK_COUNT] = count;
    cells[at + PEAK_CYCLE] = cycleOfGate(cells, at);
  }
}

/** Sets the band and whether events are admitted. The figures stay. */
export function setHead(cells: Float64Array, at: number, { lo, hi, calmUntil }: Quiet, admits: boolean): void {
  cells[at + LO] = lo;
  cells[at + HI] = hi;
  cells[at + CALM_UNTIL] = calmUntil;
  cells[at + ADMITS] = admits ? 1 : 0;
}

/** Whether an event is admitted in the present state. */
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
