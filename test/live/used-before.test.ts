// A limiter that was in use before a run is not accused, and one that is another is not called in use.
import { describe, expect, it } from 'vitest';
import { isExplained } from '../../src/explain/explain.js';
import type { SeenRequest } from '../../src/explain/seen-request.js';
import { planRule } from '../../src/limiter/planned-rule.js';
import { type RuleDefinition, uncheckedRule } from '../../src/limiter/rule/rule-definition.js';
import { withCountsBy } from '../../src/live/near-rules.js';
import type { Announced } from '../../src/live/request-log.js';
import { usedBefore } from '../../src/live/used-before.js';
import { rules } from '../explain/rule-definitions.js';
import { seenOf } from '../explain/simulated-answers.js';

const options = { slackMs: 2 };
const SEED = 7;

/** What is seen of a run of `n` requests, one each `gapMs`, of a limiter that counted a request `earlierMs` before it, each. */
function runOf(rule: RuleDefinition, n: number, gapMs: number, earlierMs: readonly number[] = []): SeenRequest[] {
  const made = uncheckedRule(rule);
  const firstMs = Math.max(0, ...earlierMs) + 1;
  const earlier = earlierMs.map((ms) => firstMs - ms).sort((a, b) => a - b);
  const own = Array.from({ length: n }, (_, k) => firstMs + (k + 0.5) * gapMs);
  const sent = [...earlier, ...own].map((sentMs) => ({ sentMs, upMs: 1, downMs: 1 }));
  const seen = seenOf(sent, SEED, (madeMs) => {
    const state = made.fresh(madeMs);
    return (atMs) => made.decide(state, atMs, 1, 0);
  });
  return seen.slice(earlier.length);
}

const verdictOf = (seen: readonly SeenRequest[], rule: RuleDefinition, announced?: Announced) => {
  if (isExplained(seen, [rule], options) === true) return 'agrees';
  const words = usedBefore(seen, [rule], options, announced);
  return words === undefined ? 'differs' : /^(The limiter was in use before|Either)/.exec(words)![0];
};

// The search of the others takes seconds.
const searched = Object.entries(rules).filter(
  ([name, { primitive }]) =>
    !/^(segmented_window|sliding_counter|token_bucket_and_interval|fixed_window_delay|uber_slack)$/.test(primitive) &&
    !/intervals|seconds/.test(name),
);

describe.each(searched)('%s', (_, rule) => {
  const { most, spanMs } = planRule(rule);
  const gapMs = Math.max(5, spanMs / 30);

  it('is not accused after other requests', () => {
    const found = [0.05, 0.3, 0.7].flatMap((share) =>
      [1, Math.ceil(most / 2), most, 2 * most].map((count) => {
        const earlier = Array.from({ length: count }, (__, k) => share * spanMs + k);
        return verdictOf(runOf(rule, 40, gapMs, earlier), rule);
      }),
    );
    expect(found).not.toContain('differs');
  });

  it('is not called in use where its limit is smaller than given', () => {
    const smaller = [1, 2].flatMap((by) => withCountsBy(-by, [rule]).map(({ rules: [other] }) => other!));
    const found = smaller.flatMap((other) =>
      [20, 120].map((n) => verdictOf(runOf(other, n, n === 20 ? gapMs / 2 : gapMs), rule)),
    );
    expect(found).not.toContain('The limiter was in use before');
  });
});

describe('a window of 6 in 60 s', () => {
  const rule: RuleDefinition = { primitive: 'fixed_window', params: { limit: 6, window_ms: 60_000 } };
  const of = (limit: number) => ({ ...rule, params: { limit, window_ms: 60_000 } });
  /** Answers of 8 s, 20 per s, with the wait to the end of the window, in whole seconds. */
  const answers = (limit: number, earlierMs: readonly number[], announces: boolean) => {
    const first = Math.max(0, ...earlierMs);
    return runOf(of(limit), 160, 50, earlierMs).map((one, _, all): SeenRequest => {
      const endMs = (earlierMs.length === 0 ? all[0]!.sentMs : all[0]!.sentMs - 26 - first) + 60_000;
      return one.decision === 'limited' && announces
        ? { ...one, announcedMs: 1000 * Math.ceil((endMs - one.sentMs) / 1000) }
        : one;
    });
  };
  const said = (seen: readonly SeenRequest[], announced?: Partial<Announced>) =>
    usedBefore(
      seen,
      [rule],
      options,
      announced && {
        isWhole: true,
        limit: undefined,
        remaining: undefined,
        status: 200,
        answeredMs: seen[0]!.answeredMs,
        ...announced,
      },
    );
  const full = Array.from({ length: 6 }, (_, k) => 28_000 + k);

  it('says how long to wait where the first answer is a refusal', () => {
    expect(said(answers(6, full, true), { status: 429 })).toBe(
      'The limiter was in use before: the first answer was a 429 that asks to wait 32 s. Wait 32 s and run again.',
    );
    expect(said(answers(6, full, false), { status: 429 })).toBe(
      'The limiter was in use before, or admits nothing: the first answer was a 429, and so were all others. Wait 60 s and run again.',
    );
  });

  it('says that it was in use where its own words settle that', () => {
    const two = [28_000, 28_001];
    const used =
      'The limiter was in use before: 4 were admitted before the first refusal, and 6 are of a limiter that is not in use. Wait 60 s and run again.';
    expect(said(answers(6, two, true))).toBe(used);
    expect(said(answers(6, two, false), { limit: 6, remaining: 3 })).toBe(used);
  });

  it('is another limit where its own words settle that', () => {
    expect(said(answers(5, [], true))).toBeUndefined();
    expect(said(answers(5, [], false), { limit: 5 })).toBeUndefined();
    expect(said(answers(5, [], false), { limit: 99, remaining: 98 })).toBeUndefined();
  });

  it('is undecided otherwise, and says what both explain', () => {
    expect(said(answers(5, [], false))).toBe(
      'Either the limiter was in use before or it has another limit, such as 5 in 60 s: 5 were admitted before the first refusal, and 6 are of a limiter that is not in use. Wait 60 s and run again. If the answers are the same then, the limit is another.',
    );
  });

  it('names a limit that is announced and not the one given', () => {
    expect(said(answers(5, full, true), { status: 429, limit: 5 })).toContain('It announces a limit of 5. Wait 32 s');
  });

  it('is another limit where a whole window was seen', () => {
    expect(said(runOf(of(5), 150, 500))).toBeUndefined();
    expect(said(runOf(of(5), 150, 500, [20_000]))).toBeUndefined();
  });
});
