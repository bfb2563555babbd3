// Owns the sliders of the playground as places in a text: what they show, and what they leave untouched.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseScenario } from '../../src/harness/scenario/load-scenario.js';
import { backingOff, comparing, controlsOf, policies, rules, slid } from '../../src/tools/play/controls.js';

const shipped = readdirSync('scenarios')
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => [name, readFileSync(`scenarios/${name}`, 'utf8')] as const);
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

it.each(shipped)('each slider of %s writes its number where it read it, and nothing else changes', (name, text) => {
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
