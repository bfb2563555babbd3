// Rules with a division beside exact fractions: no rounding of theirs may add up.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITED } from '../../../src/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../src/limiter/rule/rule-definition.js';

const START_MS = 1_767_600_000_000;

interface Drawn {
  readonly limit: number;
  readonly windowMs: number;
  readonly gaps: readonly number[];
}

/** `limit` in `windowMs`: a token comes back after windowMs / limit, which is rarely a whole ms. */
const drawn = fc.record({
  limit: fc.integer({ min: 2, max: 40 }),
  windowMs: fc.integer({ min: 100, max: 60_000 }),
  gaps: fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 2000, maxLength: 2000 }),
});

/** Whole ms: about one request for each token that comes back. */
const timesOf = ({ limit, windowMs, gaps }: Drawn) => {
  let at = START_MS;
  return gaps.map((gap) => {
    at += Math.round((gap * windowMs) / limit);
    return at;
  });
};

/** A meter in parts of a ms, `limit` of them: full at the limit, and each request adds windowMs of these parts. */
function admittedExactly({ limit, windowMs }: Drawn, times: readonly number[], most: number): boolean[] {
  let [level, last] = [0, START_MS];
  return times.map((at) => {
    level = Math.max(0, level - (at - last) * limit);
    last = at;
    if (level + windowMs > most * windowMs) return false;
    level += windowMs;
    return true;
  });
}

const cases: readonly (readonly [string, (one: Drawn) => RuleDefinition, (one: Drawn) => number])[] = [
  [
    'gcra',
    ({ limit, windowMs }) => ({
      primitive: 'gcra',
      params: { T_ms: windowMs / limit, tau_ms: (limit - 1) * (windowMs / limit) },
    }),
    ({ limit }) => limit,
  ],
  [
    'token bucket',
    ({ limit, windowMs }) => ({
      primitive: 'token_bucket',
      params: { rate: limit, per_ms: windowMs, capacity: limit },
    }),
    ({ limit }) => limit,
  ],
  [
    'leaky queue',
    ({ limit, windowMs }) => ({ primitive: 'leaky_queue', params: { spacing_ms: windowMs / limit, max_queue: 3 } }),
    () => 4,
  ],
];

describe('decides 2,000 requests as exact fractions do', () => {
  it.each(cases)('%s', (_, definitionFor, mostOf) => {
    fc.assert(
      fc.property(drawn, (one) => {
        const times = timesOf(one);
        const rule = ruleOf(definitionFor(one));
        const state = rule.fresh(START_MS);
        const admitted = times.map((at) => rule.decide(state, at, 1, 0) !== LIMITED);
        expect(admitted).toEqual(admittedExactly(one, times, mostOf(one)));
      }),
      { numRuns: 60 },
    );
  });
});

it.each(cases)('%s admits every request that comes exactly when a token does', (_, definitionFor, mostOf) => {
  const one = { limit: 11, windowMs: 46_620, gaps: [] };
  const burst = Array.from({ length: mostOf(one) }, () => START_MS);
  const each = Array.from({ length: 100_000 }, (_, i) => START_MS + Math.ceil(((i + 1) * one.windowMs) / one.limit));
  const rule = ruleOf(definitionFor(one));
  const state = rule.fresh(START_MS);
  const refused = [...burst, ...each].filter((at) => rule.decide(state, at, 1, 0) === LIMITED);
  expect(refused).toEqual([]);
});

it('a start of a queue is a whole number of spacings after the first, however long it goes on', () => {
  const rule = ruleOf({ primitive: 'uber_slack', params: { spacing_ms: 1000 / 3, slack: 10 } });
  const state = rule.fresh(START_MS);
  const delays = Array.from({ length: 30_001 }, () => rule.decide(state, START_MS, 1, 0));
  expect(delays.at(-1)).toBeCloseTo(10_000_000, 6);
});
