// A limiter that was in use before a run is not accused, and one that differs is not called in use.
import { describe, expect, it } from 'vitest';
import { planRule } from '../../../src/core/limiter/planned-rule.js';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { countingOf } from '../../../src/harness/explain/counting-of.js';
import { isExplained } from '../../../src/harness/explain/explain.js';
import type { SeenRequest } from '../../../src/harness/explain/seen-request.js';
import { memoryMs } from '../../../src/harness/live/near-rules.js';
import { usedBefore } from '../../../src/harness/live/used-before.js';
import { type Decide, limiterOf, rules, wrongLimiters } from '../explain/rule-definitions.js';
import { drawn, seenOf } from '../explain/simulated-answers.js';

const options = { slackMs: 2 };
const ACROSS_MS = 3;

/** What is seen of the requests at `atMs`, after those of others that come before them. */
function seenAfter(make: (madeMs: number) => Decide, earlierMs: readonly number[], atMs: readonly number[], seed = 7) {
  const sent = [...earlierMs, ...atMs].map((sentMs) => ({ sentMs, upMs: 1, downMs: ACROSS_MS - 1 }));
  return seenOf(sent, seed, make).slice(earlierMs.length);
}

const verdictOf = (seen: readonly SeenRequest[], rule: RuleDefinition) => {
  if (isExplained(seen, [rule], options) !== false) return 'agrees, or unknown';
  return usedBefore(seen, [rule], options, undefined) === undefined ? 'differs' : 'used';
};

const every = (n: number, gapMs: number, fromMs = 0) => Array.from({ length: n }, (_, k) => fromMs + k * gapMs);

/** `n` instants of bursts, steady requests and pauses. */
const times = (seed: number, n: number, fromMs: number) => drawn(seed, n, 0).map(({ sentMs }) => fromMs + sentMs);

/** States of a sliding counter are searched at a few instants of the time before: not each use is found. */
const isSearched = ({ primitive }: RuleDefinition) => primitive !== 'sliding_counter';
/** Refused requests can lengthen a window without end. */
const isForgotten = ({ params }: RuleDefinition) => !('refused_backoff' in (params as object));

describe.each(Object.entries(rules))('%s', (_, rule) => {
  const spanMs = memoryMs(rule);
  const { most } = planRule(rule);
  const runs = countingOf(rule)?.isBounded ? [1, 2] : [1];

  it.runIf(isSearched(rule))('a right limiter is not accused after any use', () => {
    const found = runs.map((seed) => {
      const draw = new RandomStream(seed, 'use');
      const n = 1 + Math.floor(draw.uniform() * 2 * Math.min(most, 20));
      const earlier = Array.from({ length: n }, () => draw.uniform() * spanMs).sort((a, b) => a - b);
      const seen = seenAfter((madeMs) => limiterOf(rule, madeMs), earlier, times(seed, 40, spanMs + 5), seed);
      return verdictOf(seen, rule);
    });
    expect(found).not.toContain('differs');
  });

  it('a right limiter is not accused by a search too short for all uses', () => {
    const sent = [...every(8, 1), ...every(10, 5, 0.6 * spanMs)].map((sentMs) => ({ sentMs, upMs: 1, downMs: 2 }));
    const seen = seenOf(sent, 7, (madeMs) => limiterOf(rule, madeMs)).slice(8);
    const earlier = { spanMs, most: 30, isTried: () => true };
    const found = [10, 40, 160].map((mostNodes) => isExplained(seen, [rule], { ...options, mostNodes, earlier }));
    expect(found).not.toContain(false);
  });

  const wrong = Object.entries(wrongLimiters(rule)).filter(([name]) => /one|10 %|the other way|always/.test(name));
  it.runIf(isForgotten(rule)).each(wrong)(
    'a wrong limiter is not called in use where no use explains what it does once that is forgotten: %s',
    (__, make) => {
      for (const seed of runs) {
        const early = times(seed, 15, 0);
        const late = times(seed + 100, 25, early.at(-1)! + spanMs + 100);
        const seen = seenAfter(make, [], [...early, ...late], seed);
        // Where the later answers alone are not those of the rule, nothing before them explains them.
        if (isExplained(seen.slice(early.length), [rule], options) === false)
          expect([seed, verdictOf(seen, rule)]).not.toEqual([seed, 'used']);
      }
    },
  );
});

const of = (limit: number): RuleDefinition => ({ primitive: 'fixed_window', params: { limit, window_ms: 60_000 } });
const load = every(160, 50, 28_000);
const said = (limit: number, earlier: readonly number[], asks?: number, announced?: number, atMs = load) => {
  const seen = seenAfter((madeMs) => limiterOf(of(limit), madeMs), earlier, atMs);
  const waits = seen.map((one) => (one.decision === 'limited' ? { ...one, announcedMs: asks } : one));
  return usedBefore(waits, [of(6)], options, announced);
};
const again = 'Wait 60 s and run again: if the answers are the same then, it is another.';

it('a refusal as the first answer says how long to wait', () => {
  expect(said(6, every(6, 1), 32_000)).toBe(
    'The limiter was in use before the run, or it admits nothing: the first answer was a refusal and asked to wait 32 s. Wait 60 s and run again.',
  );
  expect(said(6, every(6, 1), undefined, undefined, every(100, 1000, 28_000))).toBe(
    'The limiter was in use before the run: the first answer was a refusal. Wait 60 s and run again.',
  );
  expect(said(6, every(6, 1), 90_000)).toContain('Wait 90 s');
});

it('a run too short to distinguish them says both, that the limiter was in use and that it is another', () => {
  const words = `The limiter was in use before the run, or it is another: it admitted 4 before the first refusal, and one that was not in use admits 6. ${again}`;
  expect([said(6, every(2, 1)), said(4, []), said(6, every(2, 1), 32_000, 6)]).toEqual([words, words, words]);
});

it('a limiter differs where it admits as many as it announces, and not those asked for', () => {
  expect(said(5, [], 32_000, 5)).toBeUndefined();
});

it('a limiter differs where a whole window of it was seen, or nothing was admitted for longer', () => {
  const long = every(150, 500, 28_000);
  expect(said(5, [], undefined, undefined, long)).toBeUndefined();
  expect(said(5, every(2, 1), undefined, undefined, long)).toBeUndefined();
  const closed = seenAfter(() => () => LIMITED, [], long);
  expect(usedBefore(closed, [of(6)], options, undefined)).toBeUndefined();
});

it('a limiter that admits more may be another, or its window was about to end', () => {
  const both = `The limiter was in use before the run, or it is another: it admitted 7 before the first refusal, and one that was not in use admits 6. ${again}`;
  expect([said(7, []), said(7, [], undefined, 7), said(12, [])]).toEqual([both, undefined, undefined]);
});
