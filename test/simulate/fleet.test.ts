import { expect, it } from 'vitest';
import { parseScenario } from '../../src/scenario/load-scenario.js';
import { simulate } from '../../src/simulate/simulate.js';

it('every independent contract has all arrivals to itself', async () => {
  const scenario = parseScenario(
    `
question: Does each contract get both streams?
duration: 20
contracts: { count: 3, independent: true }
arrivals:
  - { model: constant, rate: 2 }
  - { model: spikes, requests: 5, at: 3 }
`,
    'fleet.yaml',
  );
  const { outcome } = await simulate(scenario);
  expect(outcome.by_contract.map(({ id, requests, peak_count }) => [id, requests, peak_count])).toEqual([
    ['1', 45, 45],
    ['2', 45, 45],
    ['3', 45, 45],
  ]);
});
