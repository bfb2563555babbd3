// Owns the requests of a log, as counted by cycle. Leaves reading and counting them to traffic/log and tally.ts.
//
//   log      2305120007: 4    2305120009: 1        origin 2305120005
//   cycles   0  1  2  3  4  5 ...
//   counts   0  0  4  0  1  0
import type { CycleCounts } from '../tally.js';
import { checkPeak } from './arrival.js';
import { PlacedArrival, type Placement } from './placement.js';

/** What a log says: counts by the cycles of its own time, and which of these is the model's cycle 0. */
export interface Recording extends CycleCounts {
  readonly origin: number;
}

export class RecordedArrival extends PlacedArrival {
  readonly #recording: Recording;
  #next = 0;

  /**
   * @param recording kept, not copied; what lies before its origin is left out
   * @throws Failure `invalid_input` when a cycle holds more than MOST_PER_CYCLE
   */
  constructor(recording: Recording, placement: Placement) {
    super(placement);
    for (const count of recording.counts) checkPeak('/file', count);
    this.#recording = recording;
  }

  count(cycle: number): number {
    const { cycles, counts, origin } = this.#recording;
    const wanted = origin + cycle;
    // At the end of the record undefined compares as false, with < and with ===.
    while (cycles[this.#next]! < wanted) this.#next += 1;
    return cycles[this.#next] === wanted ? counts[this.#next]! : 0;
  }
}
