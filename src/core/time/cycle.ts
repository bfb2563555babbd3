// Cycles, the unit of time.
//
//   unix ms   0        777       1554      2331
//             |---------|---------|---------|----
//   cycle     0         1         2         3        cycle = floor(unixMs / cycleMs), absolute phase
//
// Present cycle numbers are near 2.3e9, above 2^31: doubles, never 32-bit integers.

/** Default length; a node can be started with another. 60 cycles = 46.62 s. */
export const CYCLE_MS = 777;

/** @param unixMs may be negative or have a fraction; |unixMs| <= 2^53 @param cycleMs an integer >= 1 */
export function cycleOf(unixMs: number, cycleMs: number): number {
  // Subtracting the exact remainder first keeps the division exact: floor(a / b) rounds up just below large multiples.
  const whole = Math.floor(unixMs);
  const rest = whole % cycleMs;
  return (whole - rest) / cycleMs - (rest < 0 ? 1 : 0);
}

export function startOf(cycle: number, cycleMs: number): number {
  return cycle * cycleMs;
}

/** Far from 1970 doubles are further apart: there it is `EDGE_SHARE` of the instant, at most two doubles. */
const EDGE_MS = 0.01;
const EDGE_SHARE = 2 ** -52;

/** Just before the next cycle begins, in unix ms. */
export function lastInstantOf(cycle: number, cycleMs: number): number {
  const next = startOf(cycle + 1, cycleMs);
  return next - Math.max(EDGE_MS, Math.abs(next) * EDGE_SHARE);
}

/** Seconds, rounded up, from `unixMs` to the start of `cycle`; at least 0. Used for `Retry-After` and `t`. */
export function secondsUntil(cycle: number, unixMs: number, cycleMs: number): number {
  return Math.max(0, Math.ceil((startOf(cycle, cycleMs) - unixMs) / 1000));
}

/** Rounded up: the `w` of `RateLimit-Policy`. */
export function secondsIn(cycles: number, cycleMs: number): number {
  return Math.ceil((cycles * cycleMs) / 1000);
}

/** ISO 8601 time of something in `cycle`: `nowMs` if it lies in that cycle, otherwise the start of the cycle. */
export function instantIn(cycle: number, nowMs: number, cycleMs: number): string {
  return instantText(cycleOf(nowMs, cycleMs) === cycle ? Math.floor(nowMs) : startOf(cycle, cycleMs));
}

export function instantText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms}`;
}
