// The texts of the playground: what sliders show of one and what they leave untouched, and what the story says of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { backingOff, comparing, controlsOf, policies, rules, slid } from '../../../src/tools/play/controls.js';
import { steps } from '../../../src/tools/play/steps.js';

const burst = readFileSync('scenarios/burst.yaml', 'utf8');
const slidersOf = (text: string) =>
  controlsOf(text)!.sliders.map(({ label, value, unit }) => `${label}: ${value}${unit}`);

it.each<[scenario: string, sliders: string[]]>([
  [burst, ['constant rate: 1 per 2 cycles', 'burst rate: 15', 'burst length: 10', 'threshold: 100', 'window: 60']],
  ['question: Q?\n', ['threshold: 100', 'window: 60']],
  ['limiter: { like: nginx, rate: 10r/s, burst: 5 }\n', ['rate: 10r/s', 'burst: 5']],
  [
    'limiter: { primitive: gcra, params: { T_ms: 470, tau_ms: 0 } }\nclients:\n  - { kind: retrying, timeout: 1s, backoff: { policy: fixed } }\n',
    ['T ms: 470', 'tau ms: 0', 'retrying timeout: 1s', 'first pause: 100ms'],
  ],
  ['limiter: { definition: own.json }\n', []],
])('the sliders of a scenario show its numbers: %j', (text, sliders) => {
  expect(slidersOf(text)).toEqual(sliders);
});

it.each(['[1, 2]', 'just words', 'a: [', ''])('there are no sliders in %j', (text) => {
  expect(controlsOf(text)).toBeUndefined();
});

it.each(
  readdirSync('scenarios')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [name, readFileSync(`scenarios/${name}`, 'utf8')] as const),
)('each slider of %s writes its number where it read it, and nothing else changes', (name, text) => {
  for (const slider of controlsOf(text)!.sliders) {
    const changed = slid(text, slider, 2 * slider.value + 1);
    const again = controlsOf(changed)!.sliders;
    const values = controlsOf(text)!.sliders.map((one) =>
      String(one.path) === String(slider.path) ? { ...one, value: 2 * one.value + 1 } : one,
    );
    expect(again.map(({ isWhole: _, ...one }) => one)).toEqual(values.map(({ isWhole: _, ...one }) => one));
    // A place that was there keeps the lines around it to the letter.
    if (text.split('\n').length === changed.split('\n').length)
      expect(changed.split('\n').filter((line, at) => line !== text.split('\n')[at]).length, name).toBe(1);
  }
});

it('rules are added, replaced and taken away, and the scenario stays one', () => {
  const two = comparing(burst, ['nginx', 'gcra']);
  expect(two).toContain('compare: [ nginx, gcra ]');
  expect(parseScenario(two).compared.map(({ rule }) => rule)).toEqual(['weir', 'nginx', 'gcra']);
  expect(controlsOf(comparing(two, rules))!.compared).toEqual(rules);
  expect(comparing(two, [])).not.toContain('compare');
});

it.each(policies)('clients with a back-off of %s come, change and leave', (policy) => {
  const added = backingOff(burst, policy);
  expect(parseScenario(added).clients.map(({ name }) => name)).toEqual(['retrying']);
  expect(controlsOf(added)!.backoff).toBe(policy);
  expect(controlsOf(backingOff(added, 'fixed'))!.backoff).toBe('fixed');
  expect(controlsOf(backingOff(added, undefined))).toMatchObject({ backoff: undefined, takesBackoff: true });
});

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
