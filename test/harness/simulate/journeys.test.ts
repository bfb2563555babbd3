// Single requests of a run: their sums are the figures of its outcome.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { type Fate, fates, journeyRecorder } from '../../../src/harness/simulate/journeys.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';

const journeysOf = async (text: string) => {
  const recorder = journeyRecorder();
  const { outcome } = await simulate(parseScenario(text), { journeys: recorder });
  const { journeys } = recorder;
  const with_ = (fate: Fate) => journeys.fates.filter((one) => one === fates.indexOf(fate)).length;
  return { journeys, outcome, count: with_ };
};
const shipped = (name: string) => readFileSync(`scenarios/${name}.yaml`, 'utf8');

it.each([
  ['a window', shipped('burst')],
  [
    'a rule',
    'question: q\nlimiter: { like: nginx, rate: 10r/s, burst: 5 }\narrivals: [{ model: poisson, rate: 15/s }]\nduration: 20s\n',
  ],
])('journeys of a run without clients add up to the requests of its outcome: %s', async (_, text) => {
  const { journeys, outcome, count } = await journeysOf(text);
  expect(journeys.decidedMs.length).toBe(outcome.requests);
  expect([count('served'), count('limited')]).toEqual([outcome.admitted, outcome.limited]);
  expect(journeys.decidedMs).toEqual([...journeys.decidedMs].sort((a, b) => a - b));
});

it.each(['backpressure', 'herd', 'nginx-burst', 'retry-storm-cured'])(
  'journeys of a run with clients are their attempts: %s',
  async (name) => {
    const { journeys, outcome, count } = await journeysOf(shipped(name).replace(/^warm_up: .*\n/m, ''));
    const [all] = outcome.clients!;
    expect(journeys.decidedMs.length + journeys.left).toBe(all!.attempts);
    expect(count('limited')).toBe(outcome.limited);
    expect(journeys.admittedMs.filter((ms) => !Number.isNaN(ms)).length).toBe(outcome.admitted);
    for (const [index, decidedMs] of journeys.decidedMs.entries()) {
      const steps = [decidedMs, journeys.admittedMs[index]!, journeys.startedMs[index]!, journeys.endedMs[index]!];
      const known = steps.filter((ms) => !Number.isNaN(ms));
      expect(known).toEqual([...known].sort((a, b) => a - b));
    }
  },
);

it('a recorder of journeys changes nothing of the run', async () => {
  const plain = await simulate(parseScenario(shipped('outage')));
  expect((await journeysOf(shipped('outage'))).outcome.digest).toBe(plain.outcome.digest);
});
