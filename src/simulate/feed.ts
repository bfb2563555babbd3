// The requests of a run without clients: how many of which contract, cycle by cycle.
//
//   feed      | 3 |   | 1 | 7 |          cycles without requests are left out: a year of silence costs nothing
import type { Clock } from '../time/clock.js';
import { cycleOf, lastInstantOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { Arrival } from '../traffic/arrival/arrival.js';
import type { Popularity } from '../traffic/popularity.js';

/** @param cost of each; undefined where every request costs 1 */
export type Take = (contract: number, n: number, cycle: number, cost?: number) => void;

export interface Feed {
  /** Whether its cycles are instants in unix ms, for rules. */
  readonly isTimed?: boolean;
  /** The first cycle from `cycle` on that may have requests; undefined when there are no more. */
  next(cycle?: number): number | undefined;
  /** Hands out the requests of a cycle. Cycles are asked for in order, each once. */
  arrive(cycle: number, take: Take): void;
}

/** The requests of a feed, each with a cost of its own. */
export function withCosts(feed: Feed, draw: () => number): Feed {
  return {
    ...(feed.isTimed === true && { isTimed: true }),
    next: (cycle) => feed.next(cycle),
    arrive(at, take) {
      feed.arrive(at, (contract, n, cycle) => {
        for (let k = 0; k < n; k += 1) take(contract, 1, cycle, draw());
      });
    },
  };
}

export interface ModelTraffic {
  /** Models that add up; without `popularity`, one for each contract. */
  readonly arrivals: readonly Arrival[];
  readonly popularity: Popularity | undefined;
  readonly names: readonly string[];
  readonly cycles: number;
}

export class ModelFeed implements Feed {
  readonly #arrivals: readonly Arrival[];
  readonly #popularity: Popularity | undefined;
  readonly #shares: Float64Array;
  readonly #firstCycle: number;
  readonly #end: number;

  constructor({ arrivals, popularity, names, cycles }: ModelTraffic, firstCycle: number) {
    this.#arrivals = arrivals;
    this.#popularity = popularity;
    this.#shares = new Float64Array(popularity === undefined ? 0 : names.length);
    this.#firstCycle = firstCycle;
    this.#end = firstCycle + cycles;
  }

  next(cycle: number): number | undefined {
    return cycle < this.#end ? cycle : undefined;
  }

  arrive(cycle: number, take: Take): void {
    const arrivals = this.#arrivals;
    const at = cycle - this.#firstCycle;
    if (this.#popularity === undefined) {
      for (let contract = 0; contract < arrivals.length; contract += 1) {
        const n = arrivals[contract]!.count(at);
        if (n > 0) take(contract, n, cycle);
      }
      return;
    }
    let n = 0;
    for (const arrival of arrivals) n += arrival.count(at);
    if (n === 0) return;
    const shares = this.#shares;
    if (shares.length === 1) {
      take(0, n, cycle);
      return;
    }
    shares.fill(0);
    this.#popularity.split(n, shares);
    for (let contract = 0; contract < shares.length; contract += 1) {
      if (shares[contract]! > 0) take(contract, shares[contract]!, cycle);
    }
  }
}

/**
 * Requests of models at their instants, in order.
 *
 *     cycle      |    0     |    1     |
 *     model a    | x    x   |  x       |       a cycle is drawn when the first of its instants is asked for
 *     model b    |   x      |      x   |
 *     feed       | a b  a   |  a   b   |
 */
export class TimedFeed implements Feed {
  readonly isTimed = true;
  readonly #models: ModelTraffic;
  readonly #firstCycle: number;
  readonly #cycleMs: number;
  #cycle = 0;
  /** The requests of a cycle in order, as indexes into the columns; the first `#place` were handed out. */
  #order: Uint32Array = new Uint32Array(0);
  #instants = new Float64Array(64);
  #contracts = new Uint32Array(64);
  #places = new Float64Array(64);
  #place = 0;

  /** @param firstCycle the cycle that is cycle 0 for the models */
  constructor(models: ModelTraffic, firstCycle: number, cycleMs: number) {
    this.#models = models;
    this.#firstCycle = firstCycle;
    this.#cycleMs = cycleMs;
  }

  next(): number | undefined {
    while (this.#place === this.#order.length) {
      if (this.#cycle === this.#models.cycles) return undefined;
      this.#draw(this.#cycle);
      this.#cycle += 1;
    }
    return this.#instants[this.#order[this.#place]!];
  }

  arrive(ms: number, take: Take): void {
    const cycle = cycleOf(ms, this.#cycleMs);
    for (; this.#place < this.#order.length; this.#place += 1) {
      const row = this.#order[this.#place]!;
      if (this.#instants[row] !== ms) return;
      take(this.#contracts[row]!, 1, cycle);
    }
  }

  #draw(cycle: number): void {
    const { arrivals, popularity } = this.#models;
    const dueMs = startOf(this.#firstCycle + cycle, this.#cycleMs);
    // The end of a cycle, rounded to a double, may be the beginning of the next.
    const lastMs = lastInstantOf(this.#firstCycle + cycle, this.#cycleMs);
    let length = 0;
    for (let arrival = 0; arrival < arrivals.length; arrival += 1) {
      const n = arrivals[arrival]!.count(cycle);
      if (n === 0) continue;
      this.#reserve(length + n);
      arrivals[arrival]!.instants(this.#places, n);
      for (let k = 0; k < n; k += 1) {
        this.#instants[length] = Math.min(dueMs + this.#places[k]! * this.#cycleMs, lastMs);
        this.#contracts[length] = popularity === undefined ? arrival : popularity.pick();
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

/**
 * Lets each request of the models arrive by the agenda, at its own instant. A model is asked as each cycle begins.
 * @param firstCycle the cycle that is cycle 0 for the models
 * @param arrive called with the contract
 */
export function arriveByAgenda(
  { arrivals, popularity, cycles }: ModelTraffic,
  { agenda, cycleMs }: Clock,
  firstCycle: number,
  arrive: (contract: number) => void,
): void {
  const take = (): void => arrive(popularity!.pick());
  for (const arrival of arrivals) {
    let places = new Float64Array(64);
    const arm = (cycle: number): void => {
      if (cycle >= cycles) return;
      const dueMs = startOf(firstCycle + cycle, cycleMs);
      const lastMs = lastInstantOf(firstCycle + cycle, cycleMs);
      agenda.at(dueMs, Rank.cycle, () => {
        const n = arrival.count(cycle);
        if (places.length < n) places = new Float64Array(2 * n);
        arrival.instants(places, n);
        for (let k = 0; k < n; k += 1) agenda.at(Math.min(dueMs + places[k]! * cycleMs, lastMs), Rank.arrival, take);
        arm(cycle + 1);
      });
    };
    arm(0);
  }
}
