// Cycles, the unit of time.
//
//   unix ms   0        777       1554      2331
//             |---------|---------|---------|----
//   cycle     0         1         2         3        cycle = floor(unixMs / cycleMs), absolute phase
//
// Present cycle numbers are near 2.3e9, above 2^31: doubles, never 32-bit integers.

/** In ms, unless a node is started with another: 60 cycles = 46.62 s. */
export const CYCLE_MS = 777;

/**
 * `floor(unixMs / cycleMs)`.
 * @param unixMs may be negative or have a fraction; |unixMs| <= 2^53
 * @param cycleMs an integer >= 1
 */
export function cycleOf(unixMs: number, cycleMs: number): number {
  // Subtracting the exact remainder first keeps the division exact: floor(a / b) rounds up just below large multiples.
  const whole = Math.floor(unixMs);
  const rest = whole % cycleMs;
  return (whole - rest) / cycleMs - (rest < 0 ? 1 : 0);
}

/** In unix ms. */
export function startOf(cycle: number, cycleMs: number): number {
  return cycle * cycleMs;
}

/** A hundredth of a millisecond; far from 1970, where doubles are further apart, two of them. */
const EDGE_MS = 0.01;
const EDGE_SHARE = 2 ** -52;

/** Just before the next cycle begins, in unix ms: the last instant of a cycle. */
export function lastInstantOf(cycle: number, cycleMs: number): number {
  const next = startOf(cycle + 1, cycleMs);
  return next - Math.max(EDGE_MS, Math.abs(next) * EDGE_SHARE);
}

/** Seconds, rounded up, from `unixMs` to the start of `cycle`; at least 0. Used for `Retry-After` and `t`. */
export function secondsUntil(cycle: number, unixMs: number, cycleMs: number): number {
  return Math.max(0, Math.ceil((startOf(cycle, cycleMs) - unixMs) / 1000));
}

/** In whole seconds, rounded up: the `w` of `RateLimit-Policy`. */
export function secondsIn(cycles: number, cycleMs: number): number {
  return Math.ceil((cycles * cycleMs) / 1000);
}

/** The time of day, ISO 8601, of something in a cycle that is written at `nowMs`: then, or the start of the cycle if that is another. */
export function instantIn(cycle: number, nowMs: number, cycleMs: number): string {
  return instantText(cycleOf(nowMs, cycleMs) === cycle ? Math.floor(nowMs) : startOf(cycle, cycleMs));
}

/** ISO 8601, or the number of ms outside of its range. */
export function instantText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms}`;
}
