// Requests of models at their instants, in order: a rule decides by the ms, not by the cycle.
//
//   cycle      |    0     |    1     |
//   model a    | x    x   |  x       |       each cycle is drawn when the first of its instants is asked for
//   model b    |   x      |      x   |
//   feed       | a b  a   |  a   b   |
import { cycleOf, startOf } from '../time/cycle.js';
import type { Arrival } from '../traffic/arrival/arrival.js';
import { lastInstantOf } from './drive.js';
import type { Feed, Take } from './feed.js';

export interface TimedFeedOptions {
  readonly arrivals: readonly Arrival[];
  /** The contract of the next request of a model. */
  readonly contractOf: (arrival: number) => number;
  /** The cycle that is cycle 0 for the models. */
  readonly firstCycle: number;
  readonly cycles: number;
  readonly cycleMs: number;
}

export class TimedFeed implements Feed {
  readonly isTimed = true;
  readonly #options: TimedFeedOptions;
  #cycle = 0;
  /** Those of one cycle in order, as indexes into the columns; `#place` are handed out. */
  #order: Uint32Array = new Uint32Array(0);
  #instants = new Float64Array(64);
  #contracts = new Uint32Array(64);
  #places = new Float64Array(64);
  #place = 0;

  constructor(options: TimedFeedOptions) {
    this.#options = options;
  }

  next(): number | undefined {
    while (this.#place === this.#order.length) {
      if (this.#cycle === this.#options.cycles) return undefined;
      this.#draw(this.#cycle);
      this.#cycle += 1;
    }
    return this.#instants[this.#order[this.#place]!];
  }

  arrive(ms: number, take: Take): void {
    const cycle = cycleOf(ms, this.#options.cycleMs);
    for (; this.#place < this.#order.length; this.#place += 1) {
      const row = this.#order[this.#place]!;
      if (this.#instants[row] !== ms) return;
      take(this.#contracts[row]!, 1, cycle);
    }
  }

  #draw(cycle: number): void {
    const { arrivals, contractOf, firstCycle, cycleMs } = this.#options;
    const dueMs = startOf(firstCycle + cycle, cycleMs);
    // The end of a cycle, rounded to a double, may be the beginning of the next.
    const lastMs = lastInstantOf(firstCycle + cycle, cycleMs);
    let length = 0;
    for (let arrival = 0; arrival < arrivals.length; arrival += 1) {
      const n = arrivals[arrival]!.count(cycle);
      if (n === 0) continue;
      this.#reserve(length + n);
      arrivals[arrival]!.instants(this.#places, n);
      for (let k = 0; k < n; k += 1) {
        this.#instants[length] = Math.min(dueMs + this.#places[k]! * cycleMs, lastMs);
        this.#contracts[length] = contractOf(arrival);
        length += 1;
      }
    }
    const order = Uint32Array.from({ length }, (_, row) => row);
    const instants = this.#instants;
    this.#order = arrivals.length === 1 ? order : order.sort((a, b) => instants[a]! - instants[b]! || a - b);
    this.#place = 0;
  }

  #reserve(length: number): void {
    if (length <= this.#instants.length) return;
    const capacity = Math.max(length, 2 * this.#instants.length);
    const [instants, contracts] = [this.#instants, this.#contracts];
    this.#instants = new Float64Array(capacity);
    this.#instants.set(instants);
    this.#contracts = new Uint32Array(capacity);
    this.#contracts.set(contracts);
    this.#places = new Float64Array(capacity);
  }
}
