// The story of the playground: what a step says of a cause is so in its run, and is not so in its control.
import { expect, it } from 'vitest';
import { parseScenario } from '../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../src/harness/simulate/simulate.js';
import { steps } from '../../src/tools/play/steps.js';

const textOf = (name: string) => steps.find((step) => step.name === name)!.text;

async function figuresOf(text: string) {
  const { outcome } = await simulate(parseScenario(text));
  const figures = ({ clients }: Pick<typeof outcome, 'clients'>) => {
    const { succeeded, jobs, retry_amplification: attempts } = clients![0]!;
    return { served: succeeded / jobs, attempts };
  };
  return { run: figures(outcome), control: outcome.control && figures(outcome.control) };
}

it.each([
  ['the-refused', 0.35, 0.6],
  ['too-early', 0.35, 1],
  ['the-herd', 0.4, 1],
  ['the-storm', 0.2, 0.99],
])('the step %s of the story serves fewer jobs than its control', async (name, most, least) => {
  const { run, control } = await figuresOf(textOf(name));
  expect(run.served).toBeLessThan(most);
  expect(control!.served).toBeGreaterThanOrEqual(least);
});

it('nearly all jobs of the-herd pass at their second attempt with a jitter of 40 s', async () => {
  const { run } = await figuresOf(textOf('the-herd').replace('jitter: 0s', 'jitter: 40s'));
  expect(run.attempts).toBeLessThan(1.8);
  expect(run.served).toBe(1);
});

it.each([1000, 5000, 9000, 10_000, 12_500])('too-early is no better with a window of %i ms', async (window) => {
  const { run, control } = await figuresOf(textOf('too-early').replace('duration: 9500', `duration: ${window}`));
  expect(run.attempts).toBeGreaterThan(2 * control!.attempts);
});

it('the-storm ends with one attempt per job', async () => {
  const { run } = await figuresOf(textOf('the-storm').replace('max_attempts: 5', 'max_attempts: 1'));
  const { run: storm } = await figuresOf(textOf('the-storm'));
  expect(run.served).toBeGreaterThan(3 * storm.served);
});
