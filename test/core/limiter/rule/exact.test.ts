// Rules with a division, and rules with a period that is a fraction of a ms, beside exact fractions: no rounding of theirs may add up.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { forAll } from '../../../draws.js';

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

it.each(cases)('%s decides 2,000 requests as exact fractions do', (_, definitionFor, mostOf) => {
  forAll([drawn], (one) => {
    const times = timesOf(one);
    const rule = ruleOf(definitionFor(one));
    const state = rule.fresh(START_MS);
    const admitted = times.map((at) => rule.admit(state, at, 1, 0) !== LIMITED);
    expect(admitted).toEqual(admittedExactly(one, times, mostOf(one)));
  });
});

it.each(cases)('%s admits every request that comes exactly when a token does', (_, definitionFor, mostOf) => {
  const one = { limit: 11, windowMs: 46_620, gaps: [] };
  const burst = Array.from({ length: mostOf(one) }, () => START_MS);
  const each = Array.from({ length: 100_000 }, (_, i) => START_MS + Math.ceil(((i + 1) * one.windowMs) / one.limit));
  const rule = ruleOf(definitionFor(one));
  const state = rule.fresh(START_MS);
  const refused = [...burst, ...each].filter((at) => rule.admit(state, at, 1, 0) === LIMITED);
  expect(refused).toEqual([]);
});

it('a start of a queue is a whole number of spacings after the first, however long it goes on', () => {
  const rule = ruleOf({ primitive: 'uber_slack', params: { spacing_ms: 1000 / 3, slack: 10 } });
  const state = rule.fresh(START_MS);
  const delays = Array.from({ length: 30_001 }, () => rule.admit(state, START_MS, 1, 0));
  expect(delays.at(-1)).toBeCloseTo(10_000_000, 6);
});

/**
 * Decides in whole parts of a ms, `limit` of them: a period of windowMs / limit ms has windowMs parts. Undefined where the request is at
 * the very edge of what the product computes in doubles: either decision is right.
 * @param since parts since the limiter was made
 * @param at parts since 1970
 */
type Exact = (since: bigint, at: bigint) => boolean | undefined;

/** Counts of whole periods since an origin; a count of `within` of them is at most `most`. */
function countsOf(period: bigint, within: bigint, most: number, countsRefused: boolean, fromEpoch: boolean): Exact {
  let counts: { readonly k: bigint }[] = [];
  return (since, at) => {
    const k = (fromEpoch ? at : since) / period;
    counts = counts.filter((one) => one.k > k - within);
    const ok = counts.length < most;
    if (ok || countsRefused) counts.push({ k });
    return ok;
  };
}

/** Tokens in tenths, `rate` of which come at each tick. */
function ticksOf(period: bigint, rate: bigint, capacity: bigint, fromEpoch: boolean): Exact {
  let [tokens, last] = [capacity, undefined as bigint | undefined];
  return (since, at) => {
    const tick = (fromEpoch ? at : since) / period;
    if (last !== undefined) tokens = tokens + (tick - last) * rate;
    if (tokens > capacity) tokens = capacity;
    last = tick;
    if (tokens < 10n) return false;
    tokens -= 10n;
    return true;
  };
}

/** The count of this period and of the one before, which fades out. A refused request is forgotten: it does not begin a period either. */
function fadingOf(period: bigint, most: bigint, fromEpoch: boolean): Exact {
  let kept: { readonly start: bigint; readonly cur: bigint; readonly prev: bigint } | undefined;
  return (since, at) => {
    const t = fromEpoch ? at : since;
    let { start, cur, prev } = kept ?? { start: fromEpoch ? (t / period) * period : t, cur: 0n, prev: 0n };
    const passed = (t - start) / period;
    if (passed > 0n) {
      prev = passed === 1n ? cur : 0n;
      cur = 0n;
      start = passed === 1n || fromEpoch ? start + passed * period : t;
    }
    const over = prev * (period - (t - start)) + (cur + 1n - most) * period;
    if (over <= 0n) kept = { start, cur: cur + 1n, prev };
    return over === 0n && prev > 0n ? undefined : over <= 0n;
  };
}

const period = ({ limit, windowMs }: Drawn) => windowMs / limit;
const bucket = { capacity: 4, refill: 'interval' } as const;
// biome-ignore format: one case a line
const periodic: readonly (readonly [string, (one: Drawn) => RuleDefinition, (periodParts: bigint) => Exact])[] = [
  [
    'fixed window of a process',
    (one) => ({ primitive: 'fixed_window', params: { limit: 1, window_ms: period(one), align: 'construction' } }),
    (parts) => countsOf(parts, 1n, 1, false, false),
  ],
  ['fixed window of the epoch', (one) => ({ primitive: 'fixed_window', params: { limit: 1, window_ms: period(one), align: 'epoch' } }),
    (parts) => countsOf(parts, 1n, 1, false, true)],
  ['interval bucket of a process', (one) => ({ primitive: 'token_bucket', params: { ...bucket, rate: 1, per_ms: period(one) } }),
    (parts) => ticksOf(parts, 10n, 40n, false)],
  [
    'interval bucket of the epoch',
    (one) => ({ primitive: 'token_bucket', params: { ...bucket, rate: 1, per_ms: period(one), align: 'epoch' } }),
    (parts) => ticksOf(parts, 10n, 40n, true),
  ],
  ['interval bucket with parts of a token', (one) => ({ primitive: 'token_bucket', params: { ...bucket, rate: 0.7, per_ms: period(one) } }),
    (parts) => ticksOf(parts, 7n, 40n, false)],
  ['segmented window', (one) => ({ primitive: 'segmented_window', params: { limit: 3, window_ms: 4 * period(one), segments: 4 } }),
    (parts) => countsOf(parts, 4n, 3, false, false)],
  ['rolling count', (one) => ({ primitive: 'rolling_count', params: { threshold: 3, within: 3, cycle_ms: period(one) } }),
    (parts) => countsOf(parts, 3n, 3, true, true)],
  [
    'one of many nodes',
    (one) => ({ primitive: 'many_nodes', params: { nodes: 1, design: 'exact', threshold: 3, within: 3, cycle_ms: period(one) } }),
    (parts) => countsOf(parts, 3n, 3, true, true),
  ],
  ['sliding counter',
    (one) => ({ primitive: 'sliding_counter', params: { limit: 2, window_ms: period(one) } }), (parts) => fadingOf(parts, 2n, false)],
  [
    'sliding counter of the epoch',
    (one) => ({ primitive: 'sliding_counter', params: { limit: 2, window_ms: period(one), align: 'epoch' } }),
    (parts) => fadingOf(parts, 2n, true),
  ],
];

/** Decides at these times, and beside it exactly; what differs, at first. */
function firstDifference(definition: RuleDefinition, exact: Exact, limit: number, times: readonly number[]) {
  const rule = ruleOf(definition);
  const state = rule.fresh(START_MS);
  for (const [index, t] of times.entries()) {
    const wanted = exact(BigInt(t - START_MS) * BigInt(limit), BigInt(t) * BigInt(limit));
    const next = rule.nextAdmission(state, t, 1);
    const admitted = rule.admit(state, t, 1, 0) !== LIMITED;
    if (wanted === undefined) {
      // The model has admitted it; from a refusal on, the two would count differently.
      if (!admitted) return undefined;
    } else if (admitted !== wanted) return { index, t, admitted };
    if ((next === t) !== admitted) return { index, t, admitted, next };
  }
  return undefined;
}

it.each(periodic)('%s decides 2,000 requests over parts of a ms as exact fractions do', (_, definitionFor, exactOf) => {
  forAll([drawn], (one) => {
    const exact = exactOf(BigInt(one.windowMs));
    expect(firstDifference(definitionFor(one), exact, one.limit, timesOf(one))).toBeUndefined();
  });
});

it.each(periodic)('%s keeps to its periods of 1000 / 3 ms for hours', (_, definitionFor, exactOf) => {
  const one = { limit: 3, windowMs: 1000, gaps: [] };
  const times = Array.from({ length: 30_000 }, (_, i) => START_MS + Math.ceil((i * 1000) / 3));
  expect(firstDifference(definitionFor(one), exactOf(1000n), 3, times)).toBeUndefined();
});
