// The most requests that the rolling count of whole cycles can admit in a short time; for other rules see limiter/rule/most-starts.ts.
//
//   interval      |--------------|              1 s touches up to 3 cycles of 777 ms
//   cycles      |     |     |     |     |       any `within` of them in a row admit at most the threshold
//   within 2    | T   |  0  |  T  |             so the cycles touched hold at most ceil(cycles / within) times the threshold

/**
 * A client that sends in the first of every `within` cycles gets it.
 * @param intervalMs a whole number from 1
 */
export function worstBurst(threshold: number, within: number, cycleMs: number, intervalMs: number): number {
  // The first of the whole milliseconds of the interval may be the last one of a cycle.
  const cycles = 1 + Math.ceil((intervalMs - 1) / cycleMs);
  return threshold * Math.ceil(cycles / within);
}
