// The requests of each cycle of a run without clients: the simulation's, from the same models and random streams.
//
//   arrivals   | x   x   x |      popularity     | A   C   A |
//              |  o     o  |   ─────────────►    |  B     A  |      in order of their instants
import type { Draws } from '../math/random.js';
import { costsIn } from '../scenario/cost-plan.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { type Feed, type PlannedCycle, RequestsOfModels } from '../simulate/feed.js';
import type { Traffic } from '../simulate/scenario-traffic.js';

/** Cycles count from the start of the run and are requested once each, in order. Each call overwrites the result of the last. */
export interface Schedule {
  readonly cycles: number;
  at(cycle: number): PlannedCycle;
  /** For the next request in order; undefined if every request costs 1. */
  readonly drawCost?: (() => number) | undefined;
}

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

/** Recorded counts by contract and cycle; the requests of a cycle are equally spaced. */
export class FeedSchedule implements Schedule {
  readonly #feed: Feed;
  readonly #firstCycle: number;
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
