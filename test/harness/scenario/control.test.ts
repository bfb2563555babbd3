// The control of a scenario: the same run without what is claimed to be the cause.
import { expect, it } from 'vitest';
import type { Failure } from '../../../src/core/schema/failure.js';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { replicate } from '../../../src/harness/simulate/replicate.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';

const burst = `question: Does the burst trip the gate?
seed: 5
duration: 60
limiter: { threshold: 20, within: 10 }
arrivals:
  - { model: poisson, rate: 1 }
  - { model: burst, burst_rate: 8, at: 20, for: 5 }
`;
const calm = `control:
  name: without the burst
  arrivals:
    - { model: poisson, rate: 1 }
`;

it('a control is the run of the scenario with its fields replaced', async () => {
  const expect_ = 'expect: ["limited > control.limited", "control.limited == 0", "control.requests < requests"]\n';
  const { outcome } = await simulate(parseScenario(burst + calm + expect_));
  const alone = burst.split('\n').filter((line) => !line.includes('burst_rate'));
  const { outcome: without } = await simulate(parseScenario(alone.join('\n')));
  const { requests, admitted, limited, entries, peak_count } = without;
  expect(outcome.control).toMatchObject({
    name: 'without the burst',
    requests,
    admitted,
    limited,
    entries,
    peak_count,
  });
  expect(outcome.expectations.map(({ held, actual }) => [held, actual])).toEqual([
    [true, `limited ${outcome.limited}, control.limited 0`],
    [true, 0],
    [true, `control.requests ${requests}, requests ${outcome.requests}`],
  ]);
  expect(outcome.limited).toBeGreaterThan(0);
});

it('a control leaves the run of the scenario as it is without one', async () => {
  const { outcome: run } = await simulate(parseScenario(burst + calm));
  const { outcome: alone } = await simulate(parseScenario(burst));
  const { control: _, digest: _own, ...same } = run;
  const { digest: _other, ...whole } = alone;
  expect(same).toEqual(whole);
});

it('a control is compared over a phase and with the clients of its own', async () => {
  const text = `${burst}clients:
  - { kind: retrying, max_attempts: 5, backoff: { policy: none } }
phases: { after: { from: 30, to: 60 } }
control:
  name: without retries
  clients:
    - { kind: open }
expect:
  - { that: requests > control.requests, phase: after }
  - clients.retrying.retries > 0 && control.clients.open.retries == 0
`;
  const { outcome } = await simulate(parseScenario(text));
  expect(outcome.expectations.map(({ held }) => held)).toEqual([true, true]);
  expect(outcome.control?.clients?.map(({ kind }) => kind)).toEqual(['all', 'open']);
});

it('a control has its own figures in replications, and takes its limiter as a text', async () => {
  const scenario = parseScenario(
    `${burst}control: { name: without a limiter, limiter: none }\nexpect: [control.limited == 0]\n`,
  );
  const found = await replicate(scenario, { seed: 5, n: 4, threads: 1 });
  const { limited, ['control.limited']: free } = found!.replications.figures;
  expect([limited!.min > 0, free!.max, found!.heldIn]).toEqual([true, 0, [4]]);
});

it.each<[control: string, fault: string]>([
  ['{ name: nothing }', '/control'],
  ['{ arrivals: [{ model: poisson, rate: 1 }] }', '/control/name'],
  ['{ name: x, arrivals: [{ model: poisson }] }', '/control/arrivals/0/rate'],
  ['{ name: x, arrivals: [{ model: poisson, rate: soon }] }', '/control/arrivals/0/rate'],
  ['{ name: x, clients: [{ kind: retryin }] }', '/control/clients/0/kind'],
  ['{ name: x, limiter: { tresholds: 5 } }', '/control/limiter/tresholds'],
  ['{ name: x, limiter: nginxx 10r/s }', '/control/limiter'],
  ['{ name: x, seed: 5 }', '/control/seed'],
  ['5', '/control'],
])('the control %s is refused at %s', (control, path) => {
  let faults: readonly string[] = [];
  try {
    parseScenario(`${burst}control: ${control}\n`);
  } catch (error) {
    faults = (error as Failure).faults.map((one) => one.path);
  }
  expect(faults.map((one) => /\((.*)\)/.exec(one)?.[1])).toContain(path);
});
