import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standardOperators } from '../../../src/core/operator/registry.js';
import { load } from '../../../src/run/load.js';
import { parseScenario } from '../../../src/scenario/load.js';
import { type Running, startRunning } from '../../node/running.js';

const operators = standardOperators();
const findOperator = (id: string) => operators.get(id);
const scenario = (text: string) => parseScenario(`question: Does it agree?\n${text}`, 'test.yaml', findOperator);

let node: Running;
beforeAll(async () => {
  node = await startRunning({ cycleMs: 50 });
});
afterAll(async () => {
  await node.close();
});

describe('a scenario sent to a node of ours', () => {
  it('agrees', async () => {
    const { observed, predicted } = await load(
      scenario(`
seed: 7
duration: 30
limiter: { threshold: 5, within: 8 }
arrivals:
  - { model: constant, rate: 1 per 3 cycles }
  - { model: burst, burst_rate: 4, at: 10, for: 3 }
`),
      { url: node.url, findOperator, key: node.keyOf('test') },
    );
    console.log(JSON.stringify(observed.outcome, null, 1), JSON.stringify(predicted.outcome.by_contract));
    expect(observed.outcome.comparison?.verdict).toBe('agrees');
  });
});
