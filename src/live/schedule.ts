// What is to be sent in each cycle of a run without clients: which contract, and where in the cycle. They are the
// requests of the simulation: the same models, drawn from the same streams.
//
//   arrivals   | x   x   x |      popularity     | A   C   A |
//              |  o     o  |   ─────────────►    |  B     A  |      in order of their instants
import type { Feed } from '../simulate/feed.js';
import type { Traffic } from '../simulate/scenario-traffic.js';
import type { Arrival } from '../traffic/arrival/arrival.js';

/** The requests of one cycle, in order. */
export interface PlannedCycle {
  /** How many. */
  readonly n: number;
  /** Where in the cycle each comes, in [0, 1), ascending; at least n long. */
  readonly fractions: Float64Array;
  /** Which contract each is for, by index; at least n long. */
  readonly contracts: Uint32Array;
}

/** Cycles count from the start of the run; each is asked for once, in order. What one call gave is overwritten by the next. */
export interface Schedule {
  /** Length in cycles. */
  readonly cycles: number;
  at(cycle: number): PlannedCycle;
}

/** Requests for these contracts, at equal distances over the cycle. */
export function evenly(contracts: Uint32Array): PlannedCycle {
  const n = contracts.length;
  return { n, fractions: Float64Array.from(contracts, (_, k) => (k + 0.5) / n), contracts };
}

/** @param startCycle the cycle of the scenario in which its run begins */
export function scheduleOf({ arrivals, popularity, cycles, feed }: Traffic, startCycle: number): Schedule {
  if (feed !== undefined) return new FeedSchedule(feed, cycles, startCycle);
  const contractOf = popularity === undefined ? (arrival: number) => arrival : () => popularity.pick();
  return new ModelSchedule(arrivals, cycles, contractOf);
}

/** Models of arrivals, merged by their instants. */
class ModelSchedule implements Schedule {
  readonly #arrivals: readonly Arrival[];
  readonly #contractOf: (arrival: number) => number;
  #fractions = new Float64Array(64);
  #contracts = new Uint32Array(64);
  #parts: Float64Array[] = [];

  constructor(
    arrivals: readonly Arrival[],
    readonly cycles: number,
    /** The contract of the next request, given the model that made it. */
    contractOf: (arrival: number) => number,
  ) {
    this.#arrivals = arrivals;
    this.#contractOf = contractOf;
  }

  at(cycle: number): PlannedCycle {
    const arrivals = this.#arrivals;
    const counts = arrivals.map((arrival, index) => {
      const n = arrival.count(cycle);
      const part = this.#partFor(index, n);
      arrival.instants(part, n);
      return n;
    });
    const n = counts.reduce((sum, count) => sum + count, 0);
    this.#grow(n);
    const places = counts.map(() => 0);
    for (let k = 0; k < n; k += 1) {
      let first = -1;
      for (let index = 0; index < counts.length; index += 1) {
        if (places[index] === counts[index]) continue;
        if (first < 0 || this.#parts[index]![places[index]!]! < this.#parts[first]![places[first]!]!) first = index;
      }
      this.#fractions[k] = this.#parts[first]![places[first]!]!;
      places[first]! += 1;
      this.#contracts[k] = this.#contractOf(first);
    }
    return { n, fractions: this.#fractions, contracts: this.#contracts };
  }

  #partFor(index: number, n: number): Float64Array {
    const known = this.#parts[index];
    if (known !== undefined && known.length >= n) return known;
    const grown = new Float64Array(Math.max(64, 2 * n));
    this.#parts[index] = grown;
    return grown;
  }

  #grow(n: number): void {
    if (this.#fractions.length >= n) return;
    this.#fractions = new Float64Array(2 * n);
    this.#contracts = new Uint32Array(2 * n);
  }
}

/** Recorded counts by contract; they say in which cycle, and the requests of a cycle are spread over it evenly. */
export class FeedSchedule implements Schedule {
  readonly #feed: Feed;
  readonly #firstCycle: number;
  /** @param firstCycle the cycle of the feed that is cycle 0 of the run */
  constructor(
    feed: Feed,
    readonly cycles: number,
    firstCycle: number,
  ) {
    this.#feed = feed;
    this.#firstCycle = firstCycle;
  }

  at(cycle: number): PlannedCycle {
    const contracts: number[] = [];
    this.#feed.arrive(this.#firstCycle + cycle, (contract, count) => {
      for (let k = 0; k < count; k += 1) contracts.push(contract);
    });
    return evenly(Uint32Array.from(contracts));
  }
}
