// The largest number of requests that the rolling count admits in a short time; for other rules see limiter/rule/most-starts.ts.
//
//   interval      |--------------|              1 s touches up to 3 cycles of 777 ms
//   cycles      |     |     |     |     |       any `within` consecutive cycles admit at most the threshold
//   within 2    | T   |  0  |  T  |             so the interval admits at most ceil(cycles / within) times the threshold

/** A client that sends in the first of every `within` cycles reaches the bound. @param intervalMs an integer from 1 */
export function worstBurst(threshold: number, within: number, cycleMs: number, intervalMs: number): number {
  // The first ms of the interval may be the last ms of a cycle.
  const cycles = 1 + Math.ceil((intervalMs - 1) / cycleMs);
  return threshold * Math.ceil(cycles / within);
}
