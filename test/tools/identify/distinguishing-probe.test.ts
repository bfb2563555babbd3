// The probe that would tell rules apart: asked of a limiter that follows one of them, it bears out that one, and no other.
import { expect, it } from 'vitest';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { documentText } from '../../../src/report/terminal-blocks.js';
import { answerDocument } from '../../../src/tools/identify/answer-document.js';
import { distinguishingProbe } from '../../../src/tools/identify/distinguishing-probe.js';
import { answersAt, limiterOf, settled } from './virtual.js';

const fixed: RuleDefinition = { primitive: 'fixed_window', params: { limit: 10, window_ms: 1000 } };
const log: RuleDefinition = { primitive: 'sliding_log', params: { limit: 10, window_ms: 1000 } };
const one: RuleDefinition = { primitive: 'token_bucket', params: { rate: 1, per_ms: 1000, capacity: 1 } };

/** A burst, then single requests every 90 ms: too little to tell some rules apart. */
const BURST = [...Array.from({ length: 12 }, () => 5_000), ...Array.from({ length: 14 }, (_, k) => 5_090 + 90 * k)];

function left(definition: RuleDefinition, ids: readonly string[]) {
  const decide = limiterOf(definition, 0);
  return { ...settled(answersAt(decide, BURST), ids), decide };
}

it.each([
  ['a fixed window from a sliding log', fixed, 'fixed', ['log']],
  ['a sliding log from a fixed window and one with a block', log, 'log', ['fixed', 'log-block']],
])('the probe tells %s', (_, definition, truth, others) => {
  const { evidence, alive, decide } = left(definition, [truth, ...others]);
  expect(alive.map(({ best }) => best.structure.id).sort()).toEqual([truth, ...others].sort());
  const { restMs, volleys, expected } = distinguishingProbe(alive, evidence)!;
  const fromMs = BURST.at(-1)! + restMs;
  const admitted = volleys.map(
    ({ atMs, n }) => Array.from({ length: n }, () => decide(fromMs + atMs, 'a')).filter((ms) => ms !== LIMITED).length,
  );
  const borneOut = expected.filter(({ least, most }) => admitted.at(-1)! >= least && admitted.at(-1)! <= most);
  expect(borneOut.map(({ structure }) => structure)).toEqual([truth]);
});

it('no probe is known where rules admit alike: for a single request, a window, a log and a bucket are one', () => {
  const { evidence, alive } = left(one, ['fixed', 'log', 'bucket']);
  expect([alive.length, distinguishingProbe(alive, evidence)]).toEqual([3, undefined]);
});

it('the probe is said with what each rule would make of it', () => {
  const distinguishing = {
    restMs: 2_150,
    volleys: [
      { atMs: 0, n: 11 },
      { atMs: 125, n: 1 },
      { atMs: 250, n: 1 },
      { atMs: 376, n: 1 },
      { atMs: 1_070, n: 11 },
    ],
    counts: 'admitted',
    expected: [
      { structure: 'fixed', words: 'a fixed window', least: 10, most: 10 },
      { structure: 'log', words: 'a sliding log', least: 0, most: 1 },
    ],
    distinguishesAll: true,
  } as const;
  const text = documentText(
    answerDocument(
      { verdict: 'ambiguous', rules: [], remarks: [], distinguishing, requests: 26, seconds: 1.3 },
      'a limiter',
    ),
    { columns: 100, color: false, unicode: true, uncut: true },
  );
  expect(text.split('\n\n')[1]).toBe(
    'This would distinguish them, with 25 requests: after 2.15 s without a request, 11 requests at once, 3 times 1, each 0.125 s, from 0.125 s on and 11 more at 1.07 s.\n' +
      'admits of the last  rule\n' +
      '10                  a fixed window\n' +
      '0 to 1              a sliding log\n',
  );
});
