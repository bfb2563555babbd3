import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HOLD_MS, mostStarts } from '../../../../src/core/limiter/rule/most-starts.js';
import { LIMITED, type Rule } from '../../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { few, forAll, isAll, tries } from '../../../draws.js';
import { rules } from './every-rule.js';

interface Sent {
  readonly gapMs: number;
  readonly n: number;
}

const START_MS = 1_699_999_200_000;

/** The most starts in a time of this length, counted at every start. */
function mostOf(rule: Rule, sent: readonly Sent[], intervalMs: number): number {
  const state = rule.fresh(START_MS);
  const starts: number[] = [];
  let at = START_MS;
  for (const { gapMs, n } of sent) {
    at += gapMs;
    for (let k = 0; k < n; k += 1) {
      const delay = rule.admit(state, at, 1, HOLD_MS);
      if (delay !== LIMITED) starts.push(at + delay);
    }
  }
  starts.sort((a, b) => a - b);
  let most = 0;
  for (let from = 0, behind = 0; from < starts.length; from += 1) {
    while (behind < starts.length && starts[behind]! < starts[from]! + intervalMs) behind += 1;
    most = Math.max(most, behind - from);
  }
  return most;
}

/** Every schedule of three moments, or four: gaps near the lengths of the rules, one request, as many as a window takes, and one more. */
function* everySchedule(length = isAll ? 4 : 3): Generator<Sent[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (const rest of everySchedule(length - 1))
    for (const gapMs of [1, 60, 99]) for (const n of [1, 4, 5]) yield [{ gapMs, n }, ...rest];
}

const every = [...everySchedule()];

const schedules = fc.array(
  fc.record({
    gapMs: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(50, 99, 100, 101, 150, 199, 200, 201, 250)),
    n: fc.integer({ min: 1, max: 7 }),
  }),
  { minLength: 1, maxLength: 14 },
);

/** Where the figure is not exact it is the best of a search, and no bound: each run draws the same. */
const SEED = 1;

it.each(Object.entries(rules))('no schedule gets more through %s than the attack', (_, definition) => {
  for (const intervalMs of few([130, 100], 1)) {
    const { starts } = mostStarts(definition, intervalMs);
    const rule = ruleOf(definition);
    let most = 0;
    for (const sent of every) most = Math.max(most, mostOf(rule, sent, intervalMs));
    expect(starts).toBeGreaterThanOrEqual(most);
    forAll([schedules], { numRuns: tries(2000), seed: SEED }, (sent) => mostOf(rule, sent, intervalMs) <= starts);
  }
});

/** Rules of drawn parameters: windows and buckets with what modifies them. */
const drawn = fc
  .record({
    limit: fc.integer({ min: 1, max: 6 }),
    window_ms: fc.integer({ min: 20, max: 160 }),
    align: fc.constantFrom('first', 'epoch'),
    flag: fc.boolean(),
    other: fc.boolean(),
    block_ms: fc.constantFrom(undefined, 15, 70, 300),
    which: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ limit, window_ms, align, flag, other, block_ms, which }): RuleDefinition => {
    const block = block_ms === undefined ? {} : { block_ms };
    const ms = { clock_resolution_ms: 1 };
    switch (which) {
      case 0:
        return { primitive: 'fixed_window', params: { limit, window_ms, align, count_refused: flag, ...block } };
      case 1:
        return {
          primitive: 'sliding_counter',
          params: { limit, window_ms, align, count_refused: flag, floor_total: other, ...block },
          ...ms,
        };
      case 2:
        return {
          primitive: 'sliding_counter',
          params: { limit, window_ms, count_refused: true, even_ms: flag },
          ...ms,
        };
      case 3:
        return { primitive: 'sliding_log_block', params: { limit, window_ms, block_ms: block_ms ?? window_ms } };
      case 4:
        return {
          primitive: 'token_bucket',
          params: { rate: 1, per_ms: window_ms, capacity: limit, ...(flag && { refill: 'interval' as const }) },
        };
      default:
        return {
          primitive: 'nginx_limit_req',
          params: { rate_1000: Math.floor(1e6 / window_ms), burst: limit, nodelay: flag },
          ...ms,
        };
    }
  });

it('no schedule gets more through a rule of drawn parameters than the attack', () => {
  forAll(
    [drawn, fc.constantFrom(60, 100, 130), fc.noShrink(fc.array(schedules, { minLength: 60, maxLength: 60 }))],
    { numRuns: tries(150), seed: SEED },
    (definition, intervalMs, all) => {
      const { starts } = mostStarts(definition, intervalMs);
      const rule = ruleOf(definition);
      for (const sent of all) expect(mostOf(rule, sent, intervalMs)).toBeLessThanOrEqual(starts);
    },
  );
});

it.each([
  ['rolling_count', { threshold: 1_000_000, within: 86_400, cycle_ms: 30_000 }, 1_000_000],
  ['rolling_count', { threshold: 1_000_000_000, within: 120, cycle_ms: 500 }, 1_000_000_000],
  ['segmented_window', { limit: 1_000_000, window_ms: 864_000_000, segments: 10 }, 1_000_000],
  ['sliding_counter', { limit: 1_000_000, window_ms: 864_000_000 }, 1_000_001],
  ['fixed_window', { limit: 1_000_000_000, window_ms: 60_000, align: 'first' }, 1_999_999_999],
] as const)('a %s of %o is asked for many at once, and gives as many', (primitive, params, starts) => {
  const definition = { primitive, params };
  expect(ruleOf(definition).additive).toBe(true);
  expect(mostStarts(definition, 1000).starts).toBe(starts);
});
