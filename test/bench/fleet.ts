// Fleets of 1,000 contracts with Poisson arrivals: a day of cycles against a bare loop over typed arrays with the same draws, and
// contracts that follow GCRA against its bare arithmetic at the same instants; and one whose contracts all move in every cycle.

import { RandomStream } from '../../src/core/math/random.js';
import { PoissonLaw } from '../../src/core/math/random-law.js';
import { parseScenario, type ScenarioObject } from '../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../src/harness/simulate/simulate.js';
import { type BenchRow, beside, inTurn, secondsOf } from './measure.js';

const CONTRACTS = 1_000;
const WITHIN = 60;
const THRESHOLD = 100;
const MEAN = 1;
/** A day of cycles. */
export const DAY = 111_197;

const fleetOf = (duration: number, limiter: object, arrival: object) =>
  ({
    question: 'How fast is a fleet?',
    ...{ duration, drain: 0, limiter },
    contracts: { count: CONTRACTS, independent: true },
    arrivals: [arrival],
  }) as ScenarioObject;
const outcomeOf = async (fleet: ScenarioObject) => (await simulate(parseScenario(fleet, 'fleet'))).outcome;
const poisson = { model: 'poisson', rate: MEAN };

/** A stream of each contract, as a run draws. */
const streamsOf = (what: 'counts' | 'instants') =>
  Array.from({ length: CONTRACTS }, (_, k) => new RandomStream(1, `contract/${k + 1}/arrivals/0/${what}`));

function bareLoop(cycles: number): number {
  const law = new PoissonLaw(MEAN);
  const streams = streamsOf('counts');
  const rings = new Float64Array(CONTRACTS * WITHIN);
  const counts = new Float64Array(CONTRACTS);
  const limiting = new Uint8Array(CONTRACTS);
  let limited = 0;
  let slot = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    slot = slot + 1 === WITHIN ? 0 : slot + 1;
    for (let k = 0; k < CONTRACTS; k += 1) {
      const n = law.draw(streams[k]!);
      const place = k * WITHIN + slot;
      let count = counts[k]! - rings[place]!;
      if (limiting[k] === 1 && count <= THRESHOLD) limiting[k] = 0;
      rings[place] = n;
      count += n;
      if (limiting[k] === 1) limited += n;
      else if (count > THRESHOLD) {
        limiting[k] = 1;
        limited += count - THRESHOLD;
      }
      counts[k] = count;
    }
  }
  return limited;
}

/** Rates of the fleet and of a bare loop, for a second of the processor. They have to find the same in every round. */
async function ratesOf(
  of: number,
  rounds: number,
  fleet: () => Promise<number>,
  bare: () => number,
): Promise<{ fleet: number; bare: number }> {
  let [found, expected] = [0, 0];
  const rate = async (work: () => unknown) => of / (await secondsOf(work, 'processor'));
  return inTurn(
    {
      fleet: () => rate(async () => (found = await fleet())),
      bare: async () => {
        const value = await rate(() => (expected = bare()));
        if (found !== expected) throw new Error(`the bare loop finds ${expected} requests, the fleet ${found}`);
        return value;
      },
    },
    rounds,
  );
}

/** @param cycles how long; a day takes some seconds a round */
export async function benchFleet(rounds = 3, cycles = 20_000): Promise<BenchRow[]> {
  const scenario = fleetOf(cycles, { threshold: THRESHOLD, within: WITHIN }, poisson);
  const limited = async () => (await outcomeOf(scenario)).limited;
  const { fleet, bare } = await ratesOf(CONTRACTS * cycles, rounds, limited, () => bareLoop(cycles));
  const what = `fleet: Poisson on ${CONTRACTS} contracts, ${cycles} cycles`;
  const against = beside(fleet, 'bare loop, same draws', bare, 0.35);
  return [{ what, value: fleet, unit: 'contract-cycles/s', against }];
}

/** One request a cycle of 777 ms on average, and one allowed: a tenth comes too early. */
const T_MS = 777;
const TAU_MS = 4 * T_MS;

function bareGcra(cycles: number): { requests: number; limited: number } {
  const law = new PoissonLaw(MEAN);
  const [counts, places] = [streamsOf('counts'), streamsOf('instants')];
  const tats = new Float64Array(CONTRACTS);
  const drawn = new Float64Array(1_000);
  let [requests, limited] = [0, 0];
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    for (let k = 0; k < CONTRACTS; k += 1) {
      const n = law.draw(counts[k]!);
      for (let i = 0; i < n; i += 1) drawn[i] = places[k]!.uniform();
      if (n > 1) drawn.subarray(0, n).sort();
      for (let i = 0; i < n; i += 1) {
        const t = (cycle + drawn[i]!) * 777;
        const tat = Math.max(tats[k]!, t) + T_MS;
        if (t >= tat - TAU_MS - T_MS) tats[k] = tat;
        else limited += 1;
      }
      requests += n;
    }
  }
  return { requests, limited };
}

export async function benchGcraFleet(rounds = 3, cycles = 300): Promise<BenchRow[]> {
  const { requests } = bareGcra(cycles);
  const scenario = fleetOf(cycles, { primitive: 'gcra', params: { T_ms: T_MS, tau_ms: TAU_MS } }, poisson);
  const requested = async () => (await outcomeOf(scenario)).requests;
  const { fleet, bare } = await ratesOf(requests, rounds, requested, () => bareGcra(cycles).requests);
  const against = beside(fleet, 'bare arithmetic, same counts', bare, 0.05);
  return [{ what: `fleet: ${CONTRACTS} GCRA contracts, by the ms`, value: fleet, unit: 'requests/s', against }];
}

/** Each contract changes its state in every cycle: the time of its actor. */
export async function benchMovingFleet(rounds = 3, cycles = 100): Promise<BenchRow[]> {
  const counts = Array.from({ length: cycles }, (_, cycle) => (cycle % 2 === 0 ? 2 : 0));
  const scenario = fleetOf(cycles, { threshold: 1, within: 1 }, { model: 'counts', counts });
  const run = async () => (CONTRACTS * cycles) / (await secondsOf(() => outcomeOf(scenario), 'processor'));
  const { moves } = await inTurn({ moves: run }, rounds);
  return [{ what: `fleet: ${CONTRACTS} contracts that move in every cycle`, value: moves, unit: 'moves/s' }];
}
