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
}

export class RecordedArrival extends PlacedArrival {
  readonly #recording: Recording;
  #next = 0;

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
    while (cycles[this.#next]! < wanted) this.#next += 1;
    return cycles[this.#next] === wanted ? counts[this.#next]! : 0;
  }
}
