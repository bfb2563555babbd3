// Whole periods since an origin, counted exactly where a period is a fraction of a ms such as 1000 / 3.
//
//   origin   333.33   666.67   1000        multiple k is k T, which is not added up: it is off by one rounding, however large k is
//   |--------|--------|--------|           a multiple within a grain of a whole ms is that ms, so 1000 is the third and not just before
import { GRAIN_MS } from './rule.js';

/** The time of multiple `k` of a period, in ms from the origin. */
export function multipleOf(periodMs: number, k: number): number {
  const ms = k * periodMs;
  if (Number.isInteger(periodMs)) return ms;
  const whole = Math.round(ms);
  return Math.abs(ms - whole) <= GRAIN_MS ? whole : ms;
}

/** How many whole periods fit into `ms`, which may be negative: the largest k of which the multiple is not above `ms`. */
export function periodsIn(ms: number, periodMs: number): number {
  const k = Math.floor(ms / periodMs);
  if (Number.isInteger(periodMs)) return k;
  if (multipleOf(periodMs, k + 1) <= ms) return k + 1;
  return multipleOf(periodMs, k) > ms ? k - 1 : k;
}
