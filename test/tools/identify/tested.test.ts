// A rule that explains the answers is named only if a stranger would hardly give them.
import { expect, it } from 'vitest';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import type { Seen } from '../../../src/tools/identify/evidence.js';
import { onlyTested } from '../../../src/tools/identify/tested.js';
import { answersAt, limiterOf, settled } from './virtual.js';

/** One request in six was refused by chance, on a machine that stalled: when each was sent, how long it took, and whether it was admitted. */
const BY_CHANCE = `0+86a 144+185l 144+184a 424+24a 490+10a 536+1a 536+10a 588+20a 588+36a 588+19a 588+20a 692+64a 692+64a 692+64a 692+64l
  8721+54a 8721+54a 26172+40a 26172+40a 26172+40a 26172+40a 26172+40a 26173+40a 26173+40a 26173+40a 29340+10a 29341+10l
  30385+1a 30385+15a 30385+15a 30385+15a 30385+15a 30385+15l 30385+15a 30385+15a`;

const seenIn = (text: string): Seen[] =>
  [...text.matchAll(/(\d+)\+(\d+)([al])/g)].map(([, sent, took, decision]) => ({
    key: 'a',
    sentMs: Number(sent),
    answeredMs: Number(sent) + Number(took),
    decision: decision === 'a' ? 'admitted' : 'limited',
  }));

const ids = (all: readonly { readonly best: { readonly structure: { readonly id: string } } }[] = []) =>
  all.map(({ best }) => best.structure.id);

it('a limit on what is in flight explains refusals by chance, and is not named', () => {
  const { alive, evidence } = settled(seenIn(BY_CHANCE), ['in-flight']);
  const { alive: named, untested } = onlyTested(alive, evidence);
  expect([ids(alive), ids(named), ids(untested)]).toEqual([['in-flight'], [], ['in-flight']]);
});

/** A window of eighty, filled by larger bursts each time. */
const filled = (times: number, gapMs = 0.01) =>
  Array.from({ length: times }).flatMap((_, k) => Array.from({ length: 90 + 10 * k }, (_, n) => 1015 * k + n * gapMs));

// biome-ignore format: one case a line
it.each<[string, string, RuleDefinition, readonly number[], boolean]>([
  ['a window of two, in four requests', 'log', { primitive: 'sliding_log', params: { limit: 2, window_ms: 1000 } }, [0, 10, 20, 1015], false],
  ['a window of two, in twelve windows', 'log', { primitive: 'sliding_log', params: { limit: 2, window_ms: 1000 } }, Array.from({ length: 12 }).flatMap((_, k) => [0, 10, 20, 30, 980].map((ms) => 1015 * k + ms)), true],
  ['a window of eighty, filled twice: it may as well close by chance', 'log', { primitive: 'sliding_log', params: { limit: 80, window_ms: 1000 } }, filled(2), false],
  ['a window of eighty, filled six times at once: two windows of forty answer the same', 'log', { primitive: 'sliding_log', params: { limit: 80, window_ms: 1000 } }, filled(6), false],
  ['a window of eighty, filled six times one by one', 'log', { primitive: 'sliding_log', params: { limit: 80, window_ms: 1000 } }, filled(6, 5), true],
])('a rule is named only where a stranger would hardly give its answers: %s', (_, id, rule, instants, isNamed) => {
  const { alive, evidence } = settled(answersAt(limiterOf(rule, 0), instants), [id]);
  const { alive: named, untested } = onlyTested(alive, evidence);
  expect([ids(named), ids(untested)]).toEqual(isNamed ? [[id], []] : [[], [id]]);
});
