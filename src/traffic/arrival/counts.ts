// Owns requests told cycle by cycle, in a list. Leaves counts read from a log to recorded.ts.
//
//   counts: [3, 0, 1]           |...|   | . |   |   |   |        then silence
//   counts: [3, 0, 1], repeat   |...|   | . |...|   | . |...     or the same again
import { checkPeak } from './arrival.js';
import { PlacedArrival, type Placement } from './placement.js';

export class CountsArrival extends PlacedArrival {
  readonly #counts: readonly number[];
  readonly #repeat: boolean;

  /**
   * @param counts whole numbers from 0; at least one
   * @throws Failure `invalid_input` when one is above MOST_PER_CYCLE
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
