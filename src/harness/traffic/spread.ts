// Spreads requests over an interval if only their number is known.
//
//   n = 5 in 60 s    |x           x           x           x           x           |
//                    0           12          24          36          48          60 s     request k at floor(k * spread / n)
import { cycleOf, startOf } from '../../core/time/cycle.js';

/** The longest interval, in ms: a day. Its square is below 2^53, so doubles are exact. */
export const MAX_SPREAD_MS = 86_400_000;

/**
 * How many of n requests arrive before `offsetMs`: those with `k * spreadMs < offsetMs * n`, so `ceil(offsetMs * n / spreadMs)`.
 * n is split into a multiple of spreadMs and a remainder, so that every product is an exact integer.
 * @param offsetMs 0 to spreadMs
 * @param n 0 to 2^53 / spreadMs times spreadMs
 * @param spreadMs 1 to MAX_SPREAD_MS
 */
export function requestsBefore(offsetMs: number, n: number, spreadMs: number): number {
  const rest = n % spreadMs;
  const ofRest = offsetMs * rest;
  const over = ofRest % spreadMs;
  return ((n - rest) / spreadMs) * offsetMs + (ofRest - over) / spreadMs + (over > 0 ? 1 : 0);
}

/** Request k arrives `floor(k * spreadMs / n)` ms after `unixMs`. One step per cycle. `spreadMs` from 1 to a day. */
export function spreadOverCycles(
  unixMs: number,
  n: number,
  spreadMs: number,
  cycleMs: number,
  add: (cycle: number, n: number) => void,
): void {
  let placed = 0;
  let offsetMs = 0;
  while (placed < n) {
    const cycle = cycleOf(unixMs + offsetMs, cycleMs);
    const endMs = Math.min(spreadMs, startOf(cycle + 1, cycleMs) - unixMs);
    const before = requestsBefore(endMs, n, spreadMs);
    add(cycle, before - placed);
    placed = before;
    // With more requests than milliseconds, every ms has one, and `placed * spreadMs` might not be exact.
    offsetMs = n > spreadMs ? endMs : Math.floor((placed * spreadMs) / n);
  }
}
