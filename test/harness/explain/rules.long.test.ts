// Thousands of runs: a limiter of the rule is never found to differ, whatever the network does; limiters that are wrong in one way are.
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { explain, saysEnough } from '../../../src/harness/explain/explain.js';
import { behindMs } from '../../../src/harness/explain/seen-request.js';
import { windowRules } from '../../../src/harness/live/findings-by-order.js';
import { isAll } from '../../draws.js';
import { limiterOf, rules, wrongLimiters } from './rule-definitions.js';
import { drawn, seenOf, steady } from './simulated-answers.js';

/** The most that a request or an answer is under way, in ms, and the share of them that is lost. */
const networks = [
  [2, 0],
  [15, 0],
  [60, 0],
  [4, 0.05],
] as const;
/** WEIR_SEEDS for more: the figures of a release take 20. Without it two, of which each network has one. */
const SEEDS = Number(process.env['WEIR_SEEDS'] ?? 2);
const hasAll = process.env['WEIR_SEEDS'] !== undefined;
const LONGEST_MS = 600_000;
/** These hold requests and refuse none. */
const holding = new Set([
  'fixed_window_delay',
  'fixed_window_exec_evenly',
  'uber_slack',
  'guava_bursty',
  'guava_warmup',
]);

it.each(Object.entries(rules))(
  'a limiter of the rule is never found to differ: %s',
  (_, definition) => {
    for (const [index, [longestMs, lost]] of networks.entries()) {
      for (let seed = hasAll ? 0 : index % SEEDS; seed < SEEDS; seed += hasAll ? 1 : SEEDS) {
        const seen = seenOf(drawn(seed, 16, longestMs, lost), seed, (madeMs) => limiterOf(definition, madeMs));
        // As the one who asks may know how fast the network is.
        const transportMs = seed % 2 === 0 ? undefined : 2 * longestMs;
        const found = explain(seen, [definition], { slackMs: 0, transportMs, mostNodes: 4_000 });
        expect(found, `seed ${seed}, ${longestMs} ms`).not.toMatchObject({ type: 'refuted' });
      }
    }
  },
  LONGEST_MS,
);

const short = [{ fromMs: 400, toMs: 550 }];
const longer = [...short, { fromMs: 600, toMs: 900 }];

it.each(Object.entries(rules))(
  'a limiter whose machine stood still is never found to differ: %s',
  (_, definition) => {
    const make = (madeMs: number) => limiterOf(definition, madeMs);
    // In 7 and 12 instants of one state, taken for the latest of them, once refuted a sliding counter.
    for (const [pauses, longestMs, transportMs] of [
      [short, 4, 200],
      [longer, 4, 600],
      [longer, 0, undefined],
    ] as const)
      for (let seed = 7; seed < 7 + SEEDS; seed += 1) {
        const share = [0.3, 0.7, 1][seed % 3]!;
        const sent = seed % 2 === 0 ? drawn(seed, 20, longestMs) : steady(seed, 40, 50, 1, longestMs);
        const seen = seenOf(sent, seed, make, (atMs) => share * behindMs(pauses, atMs));
        const found = explain(seen, [definition], { slackMs: 0, transportMs, pauses, mostNodes: 20_000 });
        expect(found, `seed ${seed}`).not.toMatchObject({ type: 'refuted' });
      }
  },
  LONGEST_MS,
);

it.each(Object.entries(rules).filter(([, { primitive }]) => !holding.has(primitive)))(
  'a limiter that limits nothing is found, though a machine stood still: %s',
  (_, definition) => {
    const seen = seenOf(steady(1, 120, 25, 1, 1), 1, wrongLimiters(definition)['never limits']!);
    expect(explain(seen, [definition], { slackMs: 0, pauses: short })).toMatchObject({ type: 'refuted' });
  },
  LONGEST_MS,
);

const slow = [
  [60, 10],
  [700, 4],
  [60, 1],
  [150, 4],
] as const;
// By default one rule meets the first and the next one the second.
it.each(
  Object.entries(rules).map(
    ([name, definition], index) => [name, definition, isAll ? slow : slow.slice(index % 2, (index % 2) + 1)] as const,
  ),
)(
  'a limiter of the rule is known behind a slow network: %s',
  (_, definition, networks) => {
    for (const [wayMs, jitterMs] of networks) {
      const seen = seenOf(steady(1, 60, 80, wayMs, jitterMs), 1, (madeMs) => limiterOf(definition, madeMs));
      const found = explain(seen, [definition], { slackMs: 2, mostNodes: 100_000 });
      expect([found.type, saysEnough(found)], `${wayMs} ms`).toEqual(['explained', true]);
    }
  },
  LONGEST_MS,
);

it.each<RuleDefinition>([
  { primitive: 'rolling_count', params: { threshold: 6, within: 10, cycle_ms: 100 } },
  { primitive: 'sliding_log', params: { limit: 6, window_ms: 1000, count_refused: true } },
])('answers of a window are explained, whether it counts by cycles or by the ms: $primitive', (rule) => {
  const followed = windowRules(planContract(rateLimiter({ threshold: 6, within: 10 })), 100).rules;
  for (let seed = 0; seed < 20; seed += 1) {
    const seen = seenOf(steady(seed, 80, 160, 1, 2), seed, (madeMs) => limiterOf(rule, madeMs));
    expect([seed, explain(seen, followed, { slackMs: 0 }).type]).toEqual([seed, 'explained']);
  }
});

/**
 * What 60 requests do not tell apart: a fixed window admits as many whether refused requests count, and from the first one of a busy key on
 * a grid is as good as any; where refused requests move its end, or it is long beside the pauses, its length does not show.
 */
const alike: Readonly<Record<string, readonly string[]>> = {
  'fixed_window from the first request': ['refused the other way'],
  'fixed_window, refused do not count': ['refused the other way'],
  'fixed_window at multiples since 1970': ['refused the other way', 'other alignment'],
  'fixed_window of a process': ['refused the other way', 'other alignment'],
  'fixed_window restarted by refused requests': ['10 % longer', '10 % shorter', 'other alignment'],
  'fixed_window restarted by every request': ['10 % longer', 'other alignment'],
  'fixed_window with backoff': ['10 % longer', '10 % shorter'],
  'fixed_window with a block': ['10 % longer', '10 % shorter'],
  'fixed_window with a local block': ['10 % longer', '10 % shorter', 'refused the other way', 'other alignment'],
  'fixed_window in seconds': ['10 % longer', '10 % shorter', 'refused the other way'],
  'fixed_window of a length that divides no second': ['refused the other way'],
  'fixed_window of seconds that do not divide it': [
    '10 % longer',
    '10 % shorter',
    'refused the other way',
    'other alignment',
  ],
  'sliding_log, refused count': ['10 % longer', '10 % shorter'],
  sliding_log_block: ['10 % longer', '10 % shorter'],
  segmented_window: ['10 % longer'],
  sliding_counter: ['other alignment'],
  guava_warmup: ['10 % longer'],
};

it.each(
  Object.entries(rules).flatMap(([name, definition]) =>
    Object.entries(wrongLimiters(definition))
      .filter(([wrong]) => !alike[name]?.includes(wrong))
      .map(([wrong, make]) => [name, wrong, definition, make] as const),
  ),
)(
  'a limiter of %s that is wrong in one way is found by at most 60 requests over a quick network: %s',
  (_, __, definition, make) => {
    const isFound = [0, 1, 2].some((seed) => {
      const seen = seenOf(drawn(seed, 60, 2), seed, make);
      return explain(seen, [definition], { slackMs: 0, transportMs: 4 }).type === 'refuted';
    });
    expect(isFound).toBe(true);
  },
);
