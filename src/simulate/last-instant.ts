// Owns the last instant of a cycle in virtual time: what is due in the cycle is due then at the latest.
import { startOf } from '../time/cycle.js';

/** A hundredth of a millisecond; where doubles lie wider apart, far from 1970, the last one but one before the next cycle. */
const EDGE_MS = 0.01;
const EDGE_SHARE = 2 ** -52;

/** Just before the next cycle begins, in unix ms. */
export function lastInstantOf(cycle: number, cycleMs: number): number {
  const next = startOf(cycle + 1, cycleMs);
  return next - Math.max(EDGE_MS, Math.abs(next) * EDGE_SHARE);
}
