// The fast path of a gate: counting and deciding while no transition can fire.
//
//   decideFast:   advance the window; count <= hi afterwards?   yes: all or none of the events are admitted
//                                                               no: -1, and gate.ts decides
//
// Events only raise the count. Time lets it fall below the band: until `calmUntil` that changes nothing.
//
// A contract extends the head of its gate, so a decision reads one object and one ring slot: see window.ts. Properties in
// test/core/limiter/gate.test.ts hold this path to naive-limiter.ts, a list of events that is searched at each step;
// test/core/limiter/contract-machine.test.ts holds it to an actor that receives every event.
import type { Plan } from './plan.js';
import { advanceToOffset, type Cells, cutCells, cycleAt, MOST_INT32, offsetOf, WindowRing } from './window.js';

/** The largest and smallest small integers represent infinity. Values beyond go to the gate, which decides the same. */
const LEAST = -(2 ** 31);

export type GateFigures = ReturnType<typeof figuresIn>;

export const NEVER_QUIET = { hi: Number.NEGATIVE_INFINITY, calmUntil: Number.NEGATIVE_INFINITY };

/** The first window of a gate (for a rule, one of a cycle that holds its time), with the data of a quiet decision. */
export class GateHead extends WindowRing {
  /** Up to this count no transition fires; -1 sends every event to the gate. */
  hi = -1;
  /** Offset (exclusive) up to which the window can advance without an evaluation. */
  calmUntil = LEAST;
  isOpen = false;
  requests = 0;
  limited = 0;
  peakCount = 0;
  peakOffset = LEAST;

  constructor({ aggregates, rule }: Plan, cycle: number, take: (length: number) => Cells = cutCells) {
    const within = rule === undefined ? (aggregates[0]?.within ?? 1) : 1;
    super(within, cycle, take(within));
  }

  restart(plan: Plan, cycle: number): void {
    const { within, ring, ringAt, stride, slot, offset } = new GateHead(plan, cycle);
    Object.assign(this, { within, ring, ringAt, stride, slot, offset, inWindow: 0 });
  }
}

/** @returns how many were admitted; -1 if a transition can fire: then nothing was counted, and the gate has to decide */
export function decideFast(head: GateHead, n: number, offset: number): number {
  if (offset >= head.calmUntil && offset > head.offset) return -1;
  const count = advanceToOffset(head, offset) + n;
  if (count > head.hi) return -1;
  head.ring[head.slot]! += n;
  head.inWindow = count;
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

export function setHead(head: GateHead, { hi, calmUntil }: typeof NEVER_QUIET, isOpen: boolean): void {
  head.hi = hi === Number.POSITIVE_INFINITY ? MOST_INT32 : Math.max(-1, hi);
  if (Number.isFinite(calmUntil)) head.calmUntil = offsetOf(calmUntil);
  else if (calmUntil < 0) head.calmUntil = Math.min(LEAST, head.offset);
  else head.calmUntil = head.offset < MOST_INT32 / 2 ? MOST_INT32 : head.offset + MOST_INT32;
  head.isOpen = isOpen;
}

export function figuresIn({ requests, limited, peakCount, peakOffset }: GateHead) {
  return { requests, limited, peakCount, peakCycle: peakCount > 0 ? cycleAt(peakOffset) : undefined };
}
