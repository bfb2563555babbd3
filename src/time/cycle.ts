// The unit of time: which cycle an instant falls into, and when a cycle begins.
//
//   unix ms   0        777       1554      2331
//             |---------|---------|---------|----
//   cycle     0         1         2         3        cycle = floor(unixMs / cycleMs), absolute phase
//
// Cycle numbers of today lie near 2.3e9, above 2^31: they are doubles here, never 32-bit integers.

/** Length of a cycle in milliseconds, unless a node is started with another one for tests: 60 cycles = 46.62 s. */
export const CYCLE_MS = 777;

/**
 * The cycle into which an instant falls: `floor(unixMs / cycleMs)`.
 * @param unixMs milliseconds since 1970-01-01 UTC; may be negative or have a fraction; |unixMs| <= 2^53
 * @param cycleMs length of a cycle in ms, an integer >= 1
 */
export function cycleOf(unixMs: number, cycleMs: number): number {
  // Subtracting the exact remainder first keeps the division exact: floor(a / b) rounds up just below large multiples.
  const whole = Math.floor(unixMs);
  const rest = whole % cycleMs;
  return (whole - rest) / cycleMs - (rest < 0 ? 1 : 0);
}

/** The instant at which a cycle begins, in unix ms. */
export function startOf(cycle: number, cycleMs: number): number {
  return cycle * cycleMs;
}

/** Seconds, rounded up, from `unixMs` until the beginning of `cycle`; 0 when it has begun. Used for `Retry-After` and `t`. */
export function secondsUntil(cycle: number, unixMs: number, cycleMs: number): number {
  return Math.max(0, Math.ceil((startOf(cycle, cycleMs) - unixMs) / 1000));
}

/** The length of `cycles` in whole seconds, rounded up: the `w` of `RateLimit-Policy`. */
export function secondsIn(cycles: number, cycleMs: number): number {
  return Math.ceil((cycles * cycleMs) / 1000);
}

/** The time of day of what belongs to a cycle and is written at `nowMs`: then, or, where that is in another cycle, its beginning. ISO 8601. */
export function instantIn(cycle: number, nowMs: number, cycleMs: number): string {
  return instantText(cycleOf(nowMs, cycleMs) === cycle ? Math.floor(nowMs) : startOf(cycle, cycleMs));
}

/** ISO 8601, or the ms where they lie outside of the calendar. */
export function instantText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms}`;
}
