// Limiters in virtual time, behind latency and jitter: each is recognised with its numbers, and one that is none of them gets no name.
import { describe, expect, it } from 'vitest';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { answerOf } from '../../../src/tools/identify/answer.js';
import { investigate } from '../../../src/tools/identify/investigation.js';
import { investigateKeyed } from '../../../src/tools/identify/key-check.js';
import { few, isAll } from '../../draws.js';
import { type Decide, limiterOf, type Network, played } from './virtual.js';

const options = { budget: 500, timeMs: 300_000, hasKeys: false };
const near: Network = { latencyMs: 2, jitterMs: 1 };
/** Of those that get no name, most of the time goes into the last hundreds of answers. */
const shorter = isAll ? {} : { budget: 150 };

function answered(decide: Decide, network = near, seed = 1, more = {}) {
  return answerOf(played(investigate({ ...options, ...more }), decide, network, seed));
}

const window1s = { limit: 10, window_ms: 1000 };
const haproxy: RuleDefinition = {
  primitive: 'sliding_counter',
  params: { ...window1s, count_refused: true, even_ms: true },
  clock_resolution_ms: 1,
};
/** Structure, limit and span that have to be found, and the rule. Grids and windows are found below, too. */
// biome-ignore format: one case a line
const known: readonly [name: string, structure: string, limit: number, spanMs: number, rule: RuleDefinition][] = [
  ['a token bucket', 'bucket', 10, 100, { primitive: 'token_bucket', params: { rate: 10, per_ms: 1000, capacity: 10 } }],
  ['a fixed window on a grid', 'fixed-grid', 10, 1000, { primitive: 'fixed_window', params: { ...window1s, align: 'epoch' } }],
  ['HAProxy http_req_rate', 'counter-refused', 10, 1000, haproxy],
  ['a fixed window', 'fixed', 10, 1000, { primitive: 'fixed_window', params: { ...window1s, count_refused: true } }],
  ['a sliding log', 'log', 10, 1000, { primitive: 'sliding_log', params: window1s }],
  ['a sliding counter on a grid', 'counter-grid-floor', 10, 1000,
    { primitive: 'sliding_counter', params: { ...window1s, align: 'epoch', floor_prev: true }, clock_resolution_ms: 1 }],
];

describe('what is recognised', () => {
  const buckets: readonly (readonly [what: string, capacity: number, spanMs: number])[] = [
    ['three requests and a half', 3.5, 200],
    ['37 tokens, of which a request takes three', 37 / 3, 300],
  ];
  it.each(few(buckets, 1))('a bucket of no whole number of requests is recognised: %s', (_, capacity, spanMs) => {
    const decide = limiterOf({ primitive: 'token_bucket', params: { rate: 1, per_ms: spanMs, capacity } }, 0);
    const { rules } = answered(decide, { latencyMs: 0.3, jitterMs: 0.2 });
    expect(rules.map(({ structure }) => structure)).toEqual(['bucket-part']);
    const { limit, token_ms: token } = rules[0]!.parameters;
    expect(Math.abs(limit!.value - capacity)).toBeLessThan(0.1);
    expect([token!.least < spanMs, token!.most > spanMs]).toEqual([true, true]);
  });

  it.each(few(known, 1))('%s is recognised with its numbers', (_, structure, limit, spanMs, rule) => {
    const { verdict, rules } = answered(limiterOf(rule, 0));
    const [found] = rules;
    const span = found?.parameters['window_ms'] ?? found?.parameters['token_ms'];
    expect([verdict, found?.structure, found?.parameters['limit']?.value]).toEqual(['identified', structure, limit]);
    expect(Math.abs(span!.value - spanMs) / spanMs).toBeLessThan(0.02);
  });

  const nginx = { primitive: 'nginx_limit_req', clock_resolution_ms: 1 } as const;
  const narrow: Network = { latencyMs: 0.3, jitterMs: 0.4 };
  // Of probes of one or two requests, forty do not decide on instants known to within 5 ms or sent up to 40 ms too late. Over the others
  // one window of 8 or 10 segments came so near that it was named too.
  const unsure: readonly (readonly [over: string, seed: number, Network, more: object])[] = [
    ...[23, 25, 29].map((seed) => ['a narrow network', seed, narrow, { timeMs: 120_000 }] as const),
    ...[1, 4].map((seed) => ['a busy machine', seed, { latencyMs: 0.1, jitterMs: 0.3, lateMs: 40 }, {}] as const),
    ...[1, 4].map((seed) => ['jitter', seed, { latencyMs: 0.1, jitterMs: 5 }, {}] as const),
  ];
  it.each(few(unsure, 1))(
    'nginx with 10 requests a second and no burst is recognised over %s: seed %i',
    (_, seed, network, more) => {
      const decide = limiterOf({ ...nginx, params: { rate_1000: 10_000, burst: 0 } }, 0);
      const { verdict, rules } = answered(decide, network, seed, more);
      expect([verdict, rules.map(({ structure }) => structure)]).toEqual(['identified', ['bucket']]);
    },
  );

  // Few of its answers are refusals, and a machine that stalls reads some of those that it holds much later.
  const held: readonly (readonly [how: string, structure: string, more: object, stallMs: number])[] = [
    ['delays but for two, read by a machine that stalls', 'queue/2', { delay: 2 }, 140],
    ['delays', 'queue/0', {}, 0],
    ['delays, read by a machine that stalls', 'queue/0', {}, 140],
  ];
  it.each(few(held, 2))(
    'nginx with 10 requests a second is recognised by its burst of five, which it %s',
    (_, structure, more, stallMs) => {
      const limiter = limiterOf({ ...nginx, params: { rate_1000: 10_000, burst: 5, ...more } }, 0);
      for (const seed of few([1, 2, 3, 4], 1)) {
        const random = new RandomStream(seed, 'stalls');
        const decide: Decide = (tMs, key) => {
          const delayMs = limiter(tMs, key);
          return delayMs > 0 && random.uniform() < 0.06 ? delayMs + random.uniform() * stallMs : delayMs;
        };
        const { verdict, rules } = answered(decide, { latencyMs: 0.1, jitterMs: 5 }, seed);
        const [limit, token] = ['limit', 'token_ms'].map((name) => rules[0]?.parameters[name]);
        expect([verdict, rules[0]?.structure, limit?.value]).toEqual(['identified', structure, 6]);
        expect([token!.least <= 100, token!.most >= 100]).toEqual([true, true]);
      }
    },
  );
});

it('an investigation plans each probe from the end of the search on, so the last one meets the limit', () => {
  const decide = limiterOf({ primitive: 'fixed_window', params: { limit: 8, window_ms: 1_200, align: 'epoch' } }, 0);
  const last: string[][] = [];
  const found = played(investigate(options), decide, { ...near, searchMs: 5_000 }, 1, ({ probe }, { seen }) => {
    if (probe.words === 'what is expected, once more') last.push(seen.map(({ decision }) => decision));
  });
  const { verdict, rules } = answerOf(found);
  expect([verdict, rules[0]?.structure]).toEqual(['identified', 'fixed-grid']);
  expect(last.map((decisions) => decisions.includes('limited'))).toEqual([true]);
});

it('an investigation keeps time for a further search: the last one ends before the time is over', () => {
  const decide = limiterOf({ primitive: 'fixed_window', params: { limit: 3, window_ms: 1_000 } }, 0);
  const [timeMs, searchMs] = [60_000, 5_000];
  const { ended, elapsedMs } = played(investigate({ ...options, timeMs }), decide, { ...near, searchMs }, 1);
  expect([ended, elapsedMs + searchMs < timeMs]).toEqual(['time', true]);
});

const used = (rule: RuleDefinition): Decide => {
  const limiter = limiterOf(rule, 0);
  let isUsed = false;
  return (tMs, key) => {
    if (!isUsed) for (let k = 0; k < 25; k += 1) limiter(tMs - 900 + 35 * k, key);
    isUsed = true;
    return limiter(tMs, key);
  };
};

// biome-ignore format: one case a line
const cases: readonly (readonly [string, string, number, number, RuleDefinition, number])[] = [
  // Its first answers looked like those of a counter that blocks.
  ['nginx', 'bucket', 6, 100, { primitive: 'nginx_limit_req', params: { rate_1000: 10_000, burst: 5, nodelay: true } }, 3],
  // After a rest several periods of its grid explain the answers: one that explains the first ones, too, is looked for.
  ['a fixed window on a grid', 'fixed-grid', 10, 2000, { primitive: 'fixed_window', params: { limit: 10, window_ms: 2000, align: 'epoch' } }, 1],
  // What it had counted can lie in too many ways: all of it at one instant.
  ['HAProxy http_req_rate', 'counter-refused', 10, 2000, { ...haproxy, params: { limit: 10, window_ms: 2000, count_refused: true, even_ms: true } }, 1],
  ['a token bucket', 'bucket', 10, 50, { primitive: 'token_bucket', params: { rate: 20, per_ms: 1000, capacity: 10 } }, 2],
  ['a sliding log', 'log', 10, 2000, { primitive: 'sliding_log', params: { limit: 10, window_ms: 2000 } }, 1],
  ['a fixed window', 'fixed', 10, 1000, { primitive: 'fixed_window', params: window1s }, 3],
  ['a sliding counter on a grid', 'counter-grid', 10, 2000, { primitive: 'sliding_counter', params: { limit: 10, window_ms: 2000, align: 'epoch' } }, 1],
  ['a sliding counter', 'counter-floor', 10, 2000, { primitive: 'sliding_counter', params: { limit: 10, window_ms: 2000, floor_total: true } }, 1],
];
it.each(few(cases, 2))(
  '%s that was in use is named, and what it had admitted before is said',
  (_, structure, limit, spanMs, rule, seed) => {
    const { verdict, rules, remarks, requests } = answered(used(rule), { latencyMs: 0.3, jitterMs: 0.5 }, seed);
    const [found] = rules;
    expect([verdict, found?.structure, found?.parameters['limit']?.value]).toEqual(['identified', structure, limit]);
    const span = found!.parameters['window_ms'] ?? found!.parameters['token_ms']!;
    expect([span.least <= spanMs, span.most >= spanMs]).toEqual([true, true]);
    expect(remarks[0]).toMatch(
      /^The limiter was in use before: the first \d+ answers are explained if it had admitted \d+ requests/,
    );
    expect(requests).toBeLessThan(200);
  },
);

describe('keys', () => {
  const window: RuleDefinition = {
    primitive: 'fixed_window',
    params: { limit: 10, window_ms: 1000, count_refused: true },
  };
  const { hasKeys: _, ...limits } = options;
  const each = limiterOf(window, 0);
  const all = limiterOf(window, 0);

  it.each<[string, Decide, string]>([
    ['each on its own', each, 'fixed'],
    ['one count for all', (tMs) => all(tMs, 'all'), 'fixed'],
  ])('it is found how keys are counted: %s', (keys, decide, structure) => {
    const asked: string[] = [];
    const found = played(investigateKeyed(limits), decide, near, 1, ({ key, probe }) => {
      if (probe.words.startsWith('a new key')) asked.push(key);
    });
    const { verdict, rules } = answerOf(found);
    expect([found.keys, verdict, rules[0]?.structure]).toEqual([keys, 'identified', structure]);
    const own = ['weir-0-other-0', 'weir-0', 'weir-0-other-1', 'weir-0', 'weir-0', 'weir-0'];
    expect(asked).toEqual(keys === 'each on its own' ? own : own.slice(0, 1));
    expect(found.evidence.keys.length > 1).toBe(keys === 'each on its own');
  });

  it('keys are never said to be counted apart where one bucket is for all, however quickly it fills', () => {
    // The first six fill too quickly to be known.
    const quickness = [0, 12, 5, 6, 19, 1, 2, 3, 4, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18];
    const told = few(quickness, 2).map((k) => {
      const decide = limiterOf({ primitive: 'token_bucket', params: { rate: 1, per_ms: 1 + 1.5 * k, capacity: 1 } }, 0);
      const found = played(investigateKeyed({ ...limits, budget: 14 }), (tMs) => decide(tMs, 'all'), near, k);
      return found.keys ?? 'not asked';
    });
    expect([...new Set(told)].sort()).toEqual(['not known', 'one count for all']);
  });
});

// Of chance and of two limits outsiders.long.test.ts has a draw in the short form, too.
it.runIf(isAll)('a limiter that refuses at random gets no name', () => {
  const random = new RandomStream(5, 'refusals');
  const { verdict, rules } = answered(() => (random.uniform() < 0.4 ? LIMITED : 0), near, 1, shorter);
  expect(['none', 'undecided']).toContain(verdict);
  expect(rules).toEqual([]);
});

it('a limiter that refuses one in six at random gets no name, seen from a machine that stalls', () => {
  const random = new RandomStream(1, 'refusals');
  const network = { latencyMs: 1, jitterMs: 1, stallMs: 150 };
  const { verdict, rules } = answered(() => (random.uniform() < 0.17 ? LIMITED : 0), network, 1, shorter);
  expect([verdict, rules]).toEqual(['undecided', []]);
});

it('a limiter that refuses at random, and serves one after the other, gets no name', () => {
  // Of few refusals more structures are searched, for longer.
  const [share, more] = isAll ? [0.1, {}] : [0.25, { budget: 40 }];
  for (const seed of few([1, 2, 3, 4], 1)) {
    const random = new RandomStream(seed, 'refusals');
    let freeMs = 0;
    const decide: Decide = (tMs) => {
      if (random.uniform() < share) return LIMITED;
      const fromMs = Math.max(tMs, freeMs);
      freeMs = fromMs + 100;
      return fromMs - tMs;
    };
    expect(answered(decide, near, seed, more).rules).toEqual([]);
  }
});

it.runIf(isAll)('a limiter with a second limit, over a longer time, gets no name', () => {
  // A rare rule explains 92 answers: it is named only if it predicts a further series.
  const limits = [
    { limit: 5, window_ms: 1_000 },
    { limit: 20, window_ms: 10_000 },
  ].map((params) => ruleOf({ primitive: 'sliding_log', params }));
  const states = limits.map((rule) => rule.fresh(0));
  const decide: Decide = (tMs) => {
    if (limits.some((rule, k) => rule.remaining(states[k], tMs) < 1)) return LIMITED;
    return Math.max(...limits.map((rule, k) => rule.admit(states[k], tMs, 1, 0)));
  };
  expect(answered(decide, { latencyMs: 0.3, jitterMs: 0.4 }, 5, shorter).rules).toEqual([]);
});

it('a limiter that changes its limit half-way gets no name', () => {
  const limits = [10, 6].map((limit) =>
    limiterOf({ primitive: 'fixed_window', params: { limit, window_ms: 1000 } }, 0),
  );
  let fromMs: number | undefined;
  const decide: Decide = (tMs, key) => {
    fromMs ??= tMs;
    return limits[tMs < fromMs + 6_000 ? 0 : 1]!(tMs, key);
  };
  const { verdict, rules, remarks } = answered(decide, near, 1, shorter);
  expect([verdict, rules]).toEqual(['none', []]);
  expect(remarks.join(' ')).toMatch(/the first that none explains is request \d+/);
});

it('a limiter that never refuses gets no name', () => {
  expect(answered(() => 0)).toMatchObject({ verdict: 'never limited', rules: [] });
});
