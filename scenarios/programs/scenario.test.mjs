// Scenarios in a test, in virtual time: node scenario.test.mjs. In vitest and jest the same lines do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadScenario, parseScenario, simulate } from '@weir/cli';

test('a burst of 150 in ten cycles closes the gate once', async () => {
  const { outcome } = await simulate(await loadScenario(`${import.meta.dirname}/../burst.yaml`));
  assert.equal(outcome.verdict, 'held');
  assert.deepEqual([outcome.admitted, outcome.limited, outcome.entries], [160, 110, 1]);
});

test('a limit of 60 lets a crowd of 30 through every 40 cycles', async () => {
  const arrivals = [(cycle) => (cycle % 40 === 0 ? 30 : 0)];
  const limiter = { threshold: 60, within: 60 };
  const crowd = parseScenario({ question: 'Who is limited?', duration: 400, arrivals, limiter });
  const { outcome } = await simulate(crowd);
  assert.equal(outcome.limited, 0);
});

// …
// # pass 2
// # fail 0
// …
