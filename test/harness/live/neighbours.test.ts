// Which limits near the one given explain the same answers, and whether the load that is named distinguishes them.
import { expect, it } from 'vitest';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { parseRate, parseTimeMs } from '../../../src/core/schema/quantity.js';
import { countingOf } from '../../../src/harness/explain/counting-of.js';
import { explain } from '../../../src/harness/explain/explain.js';
import { nearRulesOf } from '../../../src/harness/live/near-rules.js';
import { distinguishingLoad, neighbourWords } from '../../../src/harness/live/neighbours.js';
import { few } from '../../draws.js';
import { limiterOf, rules } from '../explain/rule-definitions.js';
import { seenOf } from '../explain/simulated-answers.js';

const options = { slackMs: 2 };
const inMinute = { primitive: 'fixed_window', params: { limit: 6, window_ms: 60_000 } } as const;
const sliding = { primitive: 'sliding_log', params: { limit: 100, window_ms: 60_000 } } as const;
const nginx = { primitive: 'nginx_limit_req', params: { rate_1000: 100_000, burst: 150, nodelay: true } } as const;

/** What is seen of a load at a rate for a time. */
function seenAt(rule: RuleDefinition, rate: string, duration: string, seed = 3) {
  const { requests, cycles } = parseRate(rate, 1);
  const n = Math.floor((parseTimeMs(duration, 1) * requests) / cycles);
  const sent = Array.from({ length: n }, (_, k) => ({ sentMs: ((k + 0.5) * cycles) / requests, upMs: 1, downMs: 1 }));
  return seenOf(sent, seed, (madeMs) => limiterOf(rule, madeMs));
}

const wordsOf = (rule: RuleDefinition, rate: string, duration: string) =>
  neighbourWords([seenAt(rule, rate, duration)], [rule], options);

it('answers fit other limits where none was met', () => {
  expect(wordsOf(inMinute, '2/s', '2s')).toMatch(
    /^These answers agree with 5 in 60 s, 7 in 60 s, 6 in 57 s and 6 in 63 s as well: no request was refused; --rate \S+\/min --for \d+s would distinguish them\.$/,
  );
});

it('answers fit other windows where none was over', () => {
  expect(wordsOf(inMinute, '20/s', '8s')).toMatch(
    /^These answers agree with 6 in 57 s and 6 in 63 s as well; --rate \S+ --for \d+s would/,
  );
  expect(wordsOf(nginx, '50/s', '2s')).toContain('a rate of 95/s, a rate of 105/s, burst 142 and burst 158 as well');
});

it('answers fit no other limit where it was met from both sides, for longer than its window', () => {
  expect(wordsOf(inMinute, '2/s', '140s')).toBeUndefined();
  expect(wordsOf(nginx, '500/s', '3s')).toBeUndefined();
});

it('no neighbours are named where there are no answers', () => {
  expect(neighbourWords([], [inMinute], options)).toBeUndefined();
});

const quick = Object.entries({ ...rules, 'a minute': inMinute, 'a log of a minute': sliding, nginx }).filter(
  ([, rule]) => countingOf(rule)?.isBounded,
);

it.each(few(quick, 10))('a load that is named gets answers of each that the other does not explain: %s', (_, rule) => {
  const found = distinguishingLoad([rule], nearRulesOf([rule]), options, 3);
  for (const { rules: others } of found?.near ?? []) {
    const { rate, duration } = found!;
    const own = explain(seenAt(rule, rate, duration), others, options).type;
    const theirs = explain(seenAt(others[0]!, rate, duration), [rule], options).type;
    expect([rate, duration, own, theirs]).toEqual([rate, duration, 'refuted', 'refuted']);
  }
});

it.each(['a minute', 'a log of a minute', 'nginx', 'gcra', 'token_bucket'])(
  'a load that is named distinguishes all neighbours of %s',
  (name) => {
    const rule = Object.fromEntries(quick)[name]!;
    const near = nearRulesOf([rule]);
    const found = distinguishingLoad([rule], near, options, 3);
    expect(found?.near.map(({ words }) => words).sort()).toEqual(near.map(({ words }) => words).sort());
  },
);
