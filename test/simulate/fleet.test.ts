import { expect, it } from 'vitest';
import { standardOperators } from '../../src/operator/registry.js';
import { parseScenario } from '../../src/scenario/load.js';
import { simulate } from '../../src/simulate/simulate.js';

const operators = standardOperators();
const findOperator = (id: string) => operators.get(id);

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
    findOperator,
  );
  const { outcome } = await simulate(scenario, { findOperator });
  expect(outcome.by_contract.map(({ id, requests, peak_count }) => [id, requests, peak_count])).toEqual([
    ['1', 45, 45],
    ['2', 45, 45],
    ['3', 45, 45],
  ]);
});
