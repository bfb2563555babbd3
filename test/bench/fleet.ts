// Fleets of 1,000 contracts with Poisson arrivals: a day of cycles against a bare loop over typed arrays with the same draws, and
// contracts that follow GCRA against its bare arithmetic at the same instants.

import { RandomStream } from '../../src/math/random.js';
import { PoissonLaw } from '../../src/math/random-law.js';
import { parseScenario } from '../../src/scenario/load-scenario.js';
import { simulate } from '../../src/simulate/simulate.js';
import { type BenchRow, median } from './measure.js';

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

function bareLoop(cycles: number): number {
  const law = new PoissonLaw(MEAN);
  const streams = Array.from(
    { length: CONTRACTS },
    (_, k) => new RandomStream(1, `contract/${k + 1}/arrivals/0/counts`),
  );
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

/** The result of a body, and the processor time it takes, in seconds. */
async function secondsOf<T>(body: () => Promise<T> | T): Promise<[T, number]> {
  const before = process.cpuUsage();
  const result = await body();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1e6];
}

/** @param cycles how long; a day takes some seconds a round */
export async function benchFleet(rounds = 3, cycles = 20_000): Promise<BenchRow[]> {
  const fleet: number[] = [];
  const bare: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const loaded = parseScenario(scenario(cycles), 'fleet.yaml');
    const [{ outcome }, simulated] = await secondsOf(() => simulate(loaded));
    const [limited, looped] = await secondsOf(() => bareLoop(cycles));
    if (outcome.limited !== limited)
      throw new Error(`the bare loop limits ${limited} requests, the fleet ${outcome.limited}`);
    if (round < 0) continue;
    fleet.push((CONTRACTS * cycles) / simulated);
    bare.push((CONTRACTS * cycles) / looped);
  }
  const value = median(fleet);
  return [
    {
      what: `fleet: Poisson on ${CONTRACTS} contracts, ${cycles} cycles`,
      value,
      unit: 'contract-cycles/s',
      against: { name: 'bare loop, same draws', value: median(bare), ratio: value / median(bare), target: 0.5 },
    },
  ];
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
  const counts = Array.from(
    { length: CONTRACTS },
    (_, k) => new RandomStream(1, `contract/${k + 1}/arrivals/0/counts`),
  );
  const places = Array.from(
    { length: CONTRACTS },
    (_, k) => new RandomStream(1, `contract/${k + 1}/arrivals/0/instants`),
  );
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
  const speeds: [fleet: number, bare: number][] = [];
  for (let round = -1; round < rounds; round += 1) {
    const [{ outcome }, fleet] = await secondsOf(() => simulate(parseScenario(gcraScenario(cycles), 'fleet.yaml')));
    const [bare, looped] = await secondsOf(() => bareGcra(cycles));
    if (outcome.requests !== bare.requests) throw new Error('the bare loop and the fleet have other requests');
    if (round >= 0) speeds.push([outcome.requests / fleet, bare.requests / looped]);
  }
  const [value, other] = [median(speeds.map(([one]) => one)), median(speeds.map(([, one]) => one))];
  const against = { name: 'bare arithmetic, same counts', value: other, ratio: value / other, target: 0.07 };
  return [{ what: `fleet: ${CONTRACTS} GCRA contracts, by the ms`, value, unit: 'requests/s', against }];
}
