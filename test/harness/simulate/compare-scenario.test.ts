// `compare:` of a scenario: the window as a rule decides as the window itself, and every rule sees the same requests.
import { expect, it } from 'vitest';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { compareScenario } from '../../../src/harness/simulate/compare-scenario.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';

const scenario = (more: object) =>
  parseScenario({
    question: 'Which rule?',
    seed: 3,
    duration: 120,
    limiter: { threshold: 20, within: 30 },
    compare: ['gcra', 'fixed'],
    arrivals: [
      { model: 'poisson', rate: 0.6 },
      { model: 'burst', burst_rate: 12, at: 40, for: 4 },
    ],
    ...more,
  });

// biome-ignore format: one case a line
it.each([
  ['requests that nobody reacts to', {}],
  ['requests at the edge of the window', { arrivals: [{ model: 'edge', requests: 20 }] }],
  ['independent contracts', { contracts: { count: 4, independent: true } }],
  ['clients that try again', { clients: [{ kind: 'retrying', backoff: { policy: 'none' } }] }],
  ['a service with a queue',
    { clients: [{ kind: 'retrying', timeout: 2 }], service: { servers: 1, queue: 20, time: { law: 'constant', time: '900ms' } } }],
])('the first rule of %s gives the figures of the run itself', async (_, more) => {
  const loaded = scenario(more);
  const { outcome } = await simulate(loaded, { seed: 5 });
  const compared = await compareScenario(loaded, 5);
  expect(compared?.rules.map(({ name }) => name)).toEqual(['weir', 'gcra', 'fixed']);
  const { requests, admitted, limited, contracts, contracts_limited, clients, service } = outcome;
  expect(limited).toBeGreaterThan(0);
  expect(compared).toMatchObject({ keys: contracts });
  expect(compared?.rules[0]).toMatchObject({
    ...{ requests, admitted, limited, keys_limited: contracts_limited },
    ...(clients && { retries: clients[0]!.retries, goodput_per_second: clients[0]!.goodput_per_second }),
    ...(service && { served_in_vain: service.wasted }),
  });
  const sums = (parts: readonly (readonly number[])[]) => parts.map((ofRule) => ofRule.reduce((sum, n) => sum + n, 0));
  expect([sums(compared!.timeline.requests), sums(compared!.timeline.refused)]).toEqual([
    compared!.rules.map((one) => one.requests),
    compared!.rules.map((one) => one.limited),
  ]);
});

it('the closure and the burst of a compared rule are those that its requests show', async () => {
  const compared = await compareScenario(
    scenario({ duration: 60, limiter: { threshold: 5, within: 10 }, arrivals: [{ model: 'constant', rate: 1 }] }),
    1,
  );
  // One in the middle of each cycle of 777 ms, the sixth and the last with 54 cycles between. The window of the last five holds 5 once
  // the sixth last has left, at a start of a cycle. Refused requests count in the window, which stays closed from the sixth on; a bucket admits half of them.
  expect(
    compared?.rules.map(({ name, limited, worst_burst_1s, fairness }) => [name, limited, worst_burst_1s, fairness]),
  ).toEqual([
    ['weir', 55, 2, 1],
    ['gcra', 26, 2, 1],
    ['fixed', 30, 2, 1],
  ]);
  expect(compared?.rules[0]?.longest_closure_ms).toBe(59.5 * 777);
});

it('nothing is compared unless the scenario says so, nor after a stop', async () => {
  expect(await compareScenario(scenario({ compare: undefined }), 1)).toBeUndefined();
  const stop = new AbortController();
  const onRule = () => stop.abort();
  expect(await compareScenario(scenario({}), 1, { signal: stop.signal, onRule })).toBeUndefined();
});
