// Requests with heavy-tailed gaps: clusters, and pauses of any length.
//
//   ....... .. ...            ..  . ...........                                   .. ....
//
//   P(gap > x) = (x0 / x)^shape from x0 on;   mean gap = shape x0 / (shape - 1) = 1 / rate
//
// The first request arrives one gap after the start. No gap is below x0, so a cycle has at most 1 / x0 requests, rounded up.
import type { RandomStream } from '../../math/random.js';
import type { Rate } from '../../schema/quantity.js';
import { type Arrival, checkPeak, refuse } from './arrival.js';
import { perCycle } from './carry.js';

export class ParetoArrival implements Arrival {
  readonly #shape: number;
  readonly #leastGap: number;
  readonly #stream: RandomStream;
  /** From the start of the cycle to the next request, in cycles. */
  #wait: number;
  #instants = new Float64Array(16);

  /**
   * @param shape above 1, else the gaps have no mean
   * @throws Failure `invalid_input` if the shape is not above 1, or a cycle could have more than MOST_PER_CYCLE requests
   */
  constructor(rate: Rate, shape: number, stream: RandomStream) {
    if (!(shape > 1)) refuse('/shape', 'must be above 1: below, the gaps have no mean');
    this.#shape = shape;
    this.#leastGap = (shape - 1) / (shape * perCycle(rate));
    checkPeak('/rate', Math.ceil(1 / this.#leastGap));
    this.#stream = stream;
    this.#wait = this.#gap();
  }

  count(): number {
    let count = 0;
    for (; this.#wait < 1; this.#wait += this.#gap()) {
      if (count === this.#instants.length) this.#grow();
      this.#instants[count] = this.#wait;
      count += 1;
    }
    this.#wait -= 1;
    return count;
  }

  instants(out: Float64Array, n: number): void {
    for (let k = 0; k < n; k += 1) out[k] = this.#instants[k]!;
  }

  #gap(): number {
    return this.#stream.pareto(this.#shape, this.#leastGap);
  }

  #grow(): void {
    const grown = new Float64Array(2 * this.#instants.length);
    grown.set(this.#instants);
    this.#instants = grown;
  }
}
