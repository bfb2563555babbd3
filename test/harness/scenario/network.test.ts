// The network of a scenario: a one-way time between clients and gate.
import { expect, it } from 'vitest';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { refusalOf } from './reading.js';

const retries = (network: string) => `question: Do retries meet the same full queue?
seed: 4
cycle_ms: 10
duration: 20s
limiter: none
arrivals: [{ model: poisson, rate: 12/s }]
clients: [{ kind: retrying, max_attempts: 4, backoff: { policy: none } }]
service: { servers: 1, time: 100ms, queue: 0 }
${network}
`;
const clientsOf = async (text: string) => (await simulate(parseScenario(text))).outcome.clients![0]!;

it('a network lets retries meet another queue than the attempt before: at once they all meet the same', async () => {
  const [without, within] = [await clientsOf(retries('')), await clientsOf(retries('network: { one_way: 30ms }'))];
  // A job whose first attempt finds the server busy fails in the same ms three more times.
  expect(without.retries).toBe(3 * without.given_up);
  expect(within.succeeded).toBeGreaterThan(1.3 * without.succeeded);
});

it('a network adds its time twice to what a client waits, and nothing to what the service takes', async () => {
  const text = (network: string) => `question: Q?
seed: 1
duration: 10s
limiter: none
arrivals: [{ model: constant, rate: 2/s }]
service: { servers: 9, time: 100ms }
drain: 5s
${network}
`;
  const [bare, far] = await Promise.all(
    ['', 'network: { one_way: { law: constant, time: 70ms } }'].map(
      async (one) => (await simulate(parseScenario(text(one)))).outcome,
    ),
  );
  expect(far!.clients![0]!.job_latency_ms!.max).toBeCloseTo(bare!.clients![0]!.job_latency_ms!.max + 140, 0);
  expect(far!.service!.response_ms).toEqual(bare!.service!.response_ms);
});

it('a network delays the news of a transition for devices that hold back', async () => {
  const text = (network: string) => `question: Q?
seed: 2
cycle_ms: 100
duration: 30s
limiter: { threshold: 5, within: 10 }
arrivals: [{ model: poisson, rate: 10/s }]
clients: [{ kind: holding, count: 20, buffer: 500 }]
drain: 60s
${network}
`;
  const [at, later] = [await clientsOf(text('')), await clientsOf(text('network: { one_way: 400ms }'))];
  // More are sent before the devices know that the gate is closed.
  expect(later.retries).toBeGreaterThan(at.retries);
  expect(later.succeeded + later.given_up + later.dropped).toBeLessThanOrEqual(later.jobs);
});

it('the one-way time of a network is drawn anew for each way, and is the same for a seed', async () => {
  const text = retries('network: { one_way: { law: lognormal, mean: 30ms, deviation: 30ms } }');
  const [first, again] = await Promise.all(
    [0, 1].map(async () => (await simulate(parseScenario(text))).outcome.digest),
  );
  expect(first).toBe(again);
  const { p50, p99 } = (await clientsOf(text)).attempt_latency_ms!;
  expect(p99).toBeGreaterThan(2 * p50);
});

it.each([
  ['network: 20ms', '/network'],
  ['network: { one_way: soon }', '/network/one_way'],
  ['network: {}', '/network/one_way'],
])('%s is refused at %s', (network, path) => {
  expect(refusalOf(retries(network)).some((one) => one.includes(`(${path})`))).toBe(true);
});
