// The requests of a scenario one by one.

import { drawsOf } from '../math/random.js';
import type { Seed } from '../math/seed.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { startOf } from '../time/cycle.js';
import { sum } from '../traffic/arrival/sum.js';
import type { Popularity } from '../traffic/popularity.js';
import { type Traffic, trafficOf } from './scenario-traffic.js';

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
  if (traffic.feed !== undefined) yield* recorded(scenario, traffic);
  else if (traffic.popularity === undefined) yield* independent(scenario, traffic);
  else yield* shared(scenario, traffic, traffic.popularity);
}

function* shared({ cycleMs }: LoadedScenario, traffic: Traffic, popularity: Popularity): Generator<PlannedRequest> {
  const arrival = sum(traffic.arrivals);
  let places = new Float64Array(64);
  for (let cycle = 0; cycle < traffic.cycles; cycle += 1) {
    const n = arrival.count(cycle);
    if (places.length < n) places = new Float64Array(2 * n);
    arrival.instants(places, n);
    for (let k = 0; k < n; k += 1) {
      yield { ms: startOf(cycle + places[k]!, cycleMs), contract: popularity.pick() };
    }
  }
}

function* independent({ cycleMs }: LoadedScenario, { arrivals, cycles }: Traffic): Generator<PlannedRequest> {
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const requests = arrivals.flatMap((arrival, contract) => {
      const places = new Float64Array(arrival.count(cycle));
      arrival.instants(places, places.length);
      return Array.from(places, (place) => ({ ms: startOf(cycle + place, cycleMs), contract }));
    });
    yield* requests.sort((a, b) => a.ms - b.ms || a.contract - b.contract);
  }
}

/** A log with a contract for each key gives cycles only: each request comes at the start of its cycle. */
function* recorded({ cycleMs, startCycle }: LoadedScenario, { feed }: Traffic): Generator<PlannedRequest> {
  for (let cycle = feed?.next(startCycle); cycle !== undefined; cycle = feed?.next(cycle + 1)) {
    const requests: PlannedRequest[] = [];
    feed?.arrive(cycle, (contract, n, at) => {
      for (let k = 0; k < n; k += 1) requests.push({ ms: startOf(at - startCycle, cycleMs), contract });
    });
    yield* requests;
  }
}
