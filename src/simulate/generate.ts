// The requests of a scenario one by one.

import { drawsOf } from '../math/random.js';
import type { Seed } from '../math/seed.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { startOf } from '../time/cycle.js';
import { type Feed, RequestsOfModels } from './feed.js';
import { trafficOf } from './scenario-traffic.js';

interface PlannedRequest {
  readonly ms: number;
  readonly contract: number;
}

/**
 * Every request of a scenario, in order of time; the same for the same scenario and seed.
 * @throws Failure when a log of the scenario cannot be read
 */
export async function* requestsOf(
  scenario: LoadedScenario,
  seed: Seed = scenario.seed,
): AsyncGenerator<PlannedRequest, void, undefined> {
  const traffic = await trafficOf(scenario, drawsOf(seed));
  if (traffic.feed !== undefined) yield* recorded(scenario, traffic.feed);
  const models = new RequestsOfModels(traffic);
  for (let cycle = 0; traffic.feed === undefined && cycle < traffic.cycles; cycle += 1) {
    const { n, fractions, contracts } = models.at(cycle);
    for (let k = 0; k < n; k += 1)
      yield { ms: startOf(cycle + fractions[k]!, scenario.cycleMs), contract: contracts[k]! };
  }
}

/** A log with a contract for each key gives cycles only: each request comes at the start of its cycle. */
function* recorded({ cycleMs, startCycle }: LoadedScenario, feed: Feed): Generator<PlannedRequest> {
  for (let cycle = feed.next(startCycle); cycle !== undefined; cycle = feed.next(cycle + 1)) {
    const requests: PlannedRequest[] = [];
    feed.arrive(cycle, (contract, n, at) => {
      for (let k = 0; k < n; k += 1) requests.push({ ms: startOf(at - startCycle, cycleMs), contract });
    });
    yield* requests;
  }
}
