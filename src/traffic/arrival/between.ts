// Owns when a model begins and ends. Leaves what it does meanwhile to the model, which counts its cycles from its beginning.
//
//   run      0  1  2  3  4  5  6  7            from 2, to 6
//   model          0  1  2  3
import { type Arrival, refuse } from './arrival.js';

/**
 * The model in the cycles from `from` up to, not including, `to`; outside there is silence.
 * @throws Failure `invalid_input` when no cycle lies between
 */
export function between(arrival: Arrival, from: number, to: number): Arrival {
  if (!(from < to)) refuse('/to', `must lie after from, which is cycle ${from}`);
  return from === 0 && to === Infinity ? arrival : new Between(arrival, from, to);
}

class Between implements Arrival {
  readonly #arrival: Arrival;
  readonly #from: number;
  readonly #to: number;

  constructor(arrival: Arrival, from: number, to: number) {
    this.#arrival = arrival;
    this.#from = from;
    this.#to = to;
  }

  count(cycle: number): number {
    return cycle >= this.#from && cycle < this.#to ? this.#arrival.count(cycle - this.#from) : 0;
  }

  instants(out: Float64Array, n: number): void {
    if (n > 0) this.#arrival.instants(out, n);
  }
}
