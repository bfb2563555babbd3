// Requests whose number is known for every cycle: from a list, or from a log.
//
//   counts: [3, 0, 1]           |...|   | . |   |   |   |        then no requests
//   counts: [3, 0, 1], repeat   |...|   | . |...|   | . |...     or the list again
//
//   log      2305120007: 4    2305120009: 1        origin 2305120005
//   cycles   0  1  2  3  4  5 ...
//   counts   0  0  4  0  1  0
import type { CycleCounts } from '../tally.js';
import { checkPeak } from './arrival.js';
import { PlacedArrival, type Placement } from './placement.js';

export class CountsArrival extends PlacedArrival {
  readonly #counts: readonly number[];
  readonly #repeat: boolean;

  /**
   * @param counts whole numbers from 0; at least one
   * @throws Failure `invalid_input` if one is above MOST_PER_CYCLE
   */
  constructor(counts: readonly number[], repeat: boolean, placement: Placement) {
    super(placement);
    for (const [index, count] of counts.entries()) checkPeak(`/counts/${index}`, count);
    this.#counts = counts;
    this.#repeat = repeat;
  }

  count(cycle: number): number {
    return this.#counts[this.#repeat ? cycle % this.#counts.length : cycle] ?? 0;
  }
}

/** The content of a log: counts by the cycles of its own time, and the cycle that is cycle 0 of the model. */
export interface Recording extends CycleCounts {
  readonly origin: number;
  /** Where they are known: the instants of all requests, in order, as fractions of their cycle. */
  readonly instants?: Float64Array | undefined;
}

const SECOND_MS = 1000;

/**
 * A recording of whole seconds, with the requests of each second spread evenly over it: request k of n at (k + phase) / n.
 * @param cycleMs up to 1,000: a cycle has one second at most, which it names
 * @param phase from 0, below 1
 */
export function spreadOverSeconds({ cycles, counts, origin }: Recording, cycleMs: number, phase: number): Recording {
  const instants = new Float64Array(counts.reduce((sum, n) => sum + n, 0));
  const spread = { cycles: [] as number[], counts: [] as number[] };
  let at = 0;
  for (const [index, cycleOfSecond] of cycles.entries()) {
    const second = Math.ceil((cycleOfSecond * cycleMs) / SECOND_MS) * SECOND_MS;
    const n = counts[index]!;
    for (let k = 0; k < n; k += 1) {
      const ms = second + ((k + phase) * SECOND_MS) / n;
      const cycle = Math.floor(ms / cycleMs);
      instants[at] = Math.max(0, Math.min((ms - cycle * cycleMs) / cycleMs, 1 - Number.EPSILON));
      at += 1;
      if (spread.cycles.at(-1) === cycle) spread.counts[spread.counts.length - 1]! += 1;
      else {
        spread.cycles.push(cycle);
        spread.counts.push(1);
      }
    }
  }
  return { cycles: Float64Array.from(spread.cycles), counts: Float64Array.from(spread.counts), origin, instants };
}

export class RecordedArrival extends PlacedArrival {
  readonly #recording: Recording;
  #next = 0;
  /** Requests of the cycles before. */
  #before = 0;

  /**
   * @param recording kept, not copied; counts before its origin are ignored
   * @throws Failure `invalid_input` if a cycle has more than MOST_PER_CYCLE requests
   */
  constructor(recording: Recording, placement: Placement) {
    super(placement);
    for (const count of recording.counts) checkPeak('/file', count);
    this.#recording = recording;
  }

  count(cycle: number): number {
    const { cycles, counts, origin } = this.#recording;
    const wanted = origin + cycle;
    // After the last cycle, comparisons with undefined are false, both < and ===.
    for (; cycles[this.#next]! < wanted; this.#next += 1) this.#before += counts[this.#next]!;
    return cycles[this.#next] === wanted ? counts[this.#next]! : 0;
  }

  override instants(out: Float64Array, n: number): void {
    const { instants } = this.#recording;
    if (instants === undefined) super.instants(out, n);
    else out.set(instants.subarray(this.#before, this.#before + n));
  }
}
