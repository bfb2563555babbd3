// Whole periods since an origin, exact even if a period is a fraction of a ms, such as 1000 / 3.
//
//   origin   333.33   666.67   1000        multiple k is k T, not a running sum: its error is one rounding, however large k is
//   |--------|--------|--------|           a multiple within a grain of a whole ms is that ms: the third is 1000, not just before
import { GRAIN_MS } from './rule.js';

/** In ms from the origin. */
export function multipleOf(periodMs: number, k: number): number {
  const ms = k * periodMs;
  if (Number.isInteger(periodMs)) return ms;
  const whole = Math.round(ms);
  return Math.abs(ms - whole) <= GRAIN_MS ? whole : ms;
}

/** The largest k whose multiple is not above `ms`, which may be negative. */
export function periodsIn(ms: number, periodMs: number): number {
  const k = Math.floor(ms / periodMs);
  if (Number.isInteger(periodMs)) return k;
  if (multipleOf(periodMs, k + 1) <= ms) return k + 1;
  return multipleOf(periodMs, k) > ms ? k - 1 : k;
}
