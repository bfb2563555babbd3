// Fleets of 1,000 contracts with Poisson arrivals: a day of cycles against a bare loop over typed arrays with the same draws, and
// contracts that follow GCRA against its bare arithmetic at the same instants.

import { RandomStream } from '../../src/core/math/random.js';
import { PoissonLaw } from '../../src/core/math/random-law.js';
import { parseScenario } from '../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../src/harness/simulate/simulate.js';
import { type BenchRow, beside, inTurn, secondsOf } from './measure.js';

const CONTRACTS = 1_000;
const WITHIN = 60;
const THRESHOLD = 100;
const MEAN = 1;
/** A day of cycles. */
export const DAY = 111_197;

const scenario = (cycles: number) => `
question: How fast is a fleet?
duration: ${cycles}
drain: 0
limiter: { threshold: ${THRESHOLD}, within: ${WITHIN} }
contracts: { count: ${CONTRACTS}, independent: true }
arrivals: [{ model: poisson, rate: ${MEAN} }]
`;

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
  const limited = async () => (await simulate(parseScenario(scenario(cycles), 'fleet.yaml'))).outcome.limited;
  const { fleet, bare } = await ratesOf(CONTRACTS * cycles, rounds, limited, () => bareLoop(cycles));
  const what = `fleet: Poisson on ${CONTRACTS} contracts, ${cycles} cycles`;
  const against = beside(fleet, 'bare loop, same draws', bare, 0.5);
  return [{ what, value: fleet, unit: 'contract-cycles/s', against }];
}

/** One request a cycle of 777 ms on average, and one allowed: a tenth comes too early. */
const T_MS = 777;
const TAU_MS = 4 * T_MS;

const gcraScenario = (cycles: number) => `
question: How fast is a fleet of another rule?
duration: ${cycles}
drain: 0
limiter: { primitive: gcra, params: { T_ms: ${T_MS}, tau_ms: ${TAU_MS} } }
contracts: { count: ${CONTRACTS}, independent: true }
arrivals: [{ model: poisson, rate: ${MEAN} }]
`;

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
  const requested = async () => (await simulate(parseScenario(gcraScenario(cycles), 'fleet.yaml'))).outcome.requests;
  const { fleet, bare } = await ratesOf(requests, rounds, requested, () => bareGcra(cycles).requests);
  const against = beside(fleet, 'bare arithmetic, same counts', bare, 0.07);
  return [{ what: `fleet: ${CONTRACTS} GCRA contracts, by the ms`, value: fleet, unit: 'requests/s', against }];
}
