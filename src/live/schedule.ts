// What is to be sent in each cycle of a run without clients: which contract, and where in the cycle. They are the
// requests of the simulation: the same models, drawn from the same streams.
//
//   arrivals   | x   x   x |      popularity     | A   C   A |
//              |  o     o  |   ─────────────►    |  B     A  |      in order of their instants
import type { Draws } from '../math/random.js';
import { costsIn } from '../scenario/cost-plan.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { type Feed, type PlannedCycle, RequestsOfModels } from '../simulate/feed.js';
import type { Traffic } from '../simulate/scenario-traffic.js';

/** Cycles count from the start of the run; each is asked for once, in order. What one call gave is overwritten by the next. */
export interface Schedule {
  readonly cycles: number;
  at(cycle: number): PlannedCycle;
  /** Of the next request in order; undefined where every request costs 1. */
  readonly drawCost?: (() => number) | undefined;
}

/** Requests for these contracts, at equal distances over the cycle. */
export function evenly(contracts: Uint32Array): PlannedCycle {
  const n = contracts.length;
  return { n, fractions: Float64Array.from(contracts, (_, k) => (k + 0.5) / n), contracts };
}

export function scheduleOf(
  { arrivals, popularity, cycles, feed }: Traffic,
  { startCycle, costs }: LoadedScenario,
  draws: Draws,
): Schedule {
  if (feed !== undefined) return new FeedSchedule(feed, cycles, startCycle);
  const models = new RequestsOfModels({ arrivals, popularity });
  return { cycles, at: (cycle) => models.at(cycle), drawCost: costsIn(draws, costs) };
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
