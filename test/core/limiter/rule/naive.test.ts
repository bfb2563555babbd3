// Rules against models written as slowly and plainly as possible: each looks through everything that ever came, or lives through every
// ms. Whole ms and whole costs, so that a model in integers is exact.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { forAll } from '../../../draws.js';
import { compare, limiters } from './decisions.js';

interface Came {
  readonly t: number;
  readonly n: number;
  readonly hold: number;
  /** The delay, or LIMITED. */
  readonly delay: number;
}

/** The delay of the next request, from all that came before it, or LIMITED. */
type Model = (before: readonly Came[], t: number, n: number) => number;

const START_MS = 1_000_000;
const [L, W] = [5, 100];
const sum = (some: readonly Came[]) => some.reduce((total, { n }) => total + n, 0);
const admitted = (before: readonly Came[]) => before.filter(({ delay }) => delay !== LIMITED);
const ok = (holds: boolean) => (holds ? 0 : LIMITED);

/** Parts left at `t` of `full`, through every ms since the start: at each come `tick`, and `per` go for each token admitted then. */
function left(before: readonly Came[], t: number, [full, per]: [number, number], tick: (ms: number) => number): number {
  let parts = full;
  for (let ms = START_MS; ms <= t; ms += 1) {
    if (ms > START_MS) parts = Math.min(full, parts + tick(ms));
    for (const one of admitted(before)) if (one.t === ms) parts -= one.n * per;
  }
  return parts;
}

/** Tokens in parts of 1 / per, so that they are whole. */
const bucket =
  (rate: number, per: number, capacity: number, longest = 0): Model =>
  (before, t, n) => {
    const parts = left(before, t, [capacity * per, per], () => rate);
    const wait = Math.max(0, n * per - parts) / rate;
    return n <= capacity && wait <= longest ? wait : LIMITED;
  };

const models: Readonly<Record<string, readonly [RuleDefinition, Model]>> = {
  'rolling count': [
    { primitive: 'rolling_count', params: { threshold: L, within: 5, cycle_ms: 20 } },
    (before, t, n) => {
      const cycle = (ms: number) => Math.floor(ms / 20);
      return ok(sum(before.filter((one) => cycle(one.t) > cycle(t) - 5)) + n <= L);
    },
  ],
  'fixed window': [
    { primitive: 'fixed_window', params: { limit: L, window_ms: W, count_refused: true } },
    (before, t, n) => {
      let start = Number.NEGATIVE_INFINITY;
      for (const one of [...before, { t }]) if (one.t >= start + W) start = one.t;
      return ok(sum(before.filter((one) => one.t >= start)) + n <= L);
    },
  ],
  'fixed window of the epoch': [
    { primitive: 'fixed_window', params: { limit: L, window_ms: W, align: 'epoch' } },
    (before, t, n) => {
      const window = (ms: number) => Math.floor(ms / W);
      return ok(sum(admitted(before).filter((one) => window(one.t) === window(t))) + n <= L);
    },
  ],
  'sliding log': [
    { primitive: 'sliding_log', params: { limit: L, window_ms: W } },
    (before, t, n) => ok(sum(admitted(before).filter((one) => one.t > t - W)) + n <= L),
  ],
  'sliding log that ends late': [
    { primitive: 'sliding_log', params: { limit: L, window_ms: W, edge: 'expires_after_end' } },
    (before, t, n) => ok(sum(admitted(before).filter((one) => one.t >= t - W)) + n <= L),
  ],
  'segmented window': [
    { primitive: 'segmented_window', params: { limit: L, window_ms: W, segments: 4 } },
    (before, t, n) => {
      const segment = (ms: number) => Math.floor((ms - START_MS) / 25);
      return ok(sum(admitted(before).filter((one) => segment(one.t) > segment(t) - 4)) + n <= L);
    },
  ],
  'sliding counter': [
    { primitive: 'sliding_counter', params: { limit: L, window_ms: W, align: 'epoch', floor_total: true } },
    (before, t, n) => {
      const start = Math.floor(t / W) * W;
      const inside = (from: number) => sum(admitted(before).filter((one) => one.t >= from && one.t < from + W));
      return ok(Math.floor((inside(start - W) * (start + W - t)) / W) + inside(start) + n <= L);
    },
  ],
  'token bucket': [{ primitive: 'token_bucket', params: { rate: 3, per_ms: 100, capacity: L } }, bucket(3, 100, L)],
  'token bucket that holds': [
    { primitive: 'token_bucket', params: { rate: 3, per_ms: 100, capacity: L, max_wait_ms: 60 } },
    bucket(3, 100, L, 60),
  ],
  gcra: [{ primitive: 'gcra', params: { T_ms: 20, tau_ms: 80 } }, bucket(1, 20, 5)],
  'nginx limit_req': [
    { primitive: 'nginx_limit_req', params: { rate_1000: 50_000, burst: 4, nodelay: true } },
    bucket(1, 20, 5),
  ],
  'token bucket by intervals': [
    { primitive: 'token_bucket', params: { rate: 2, per_ms: 40, capacity: L, refill: 'interval' } },
    (before, t, n) => ok(left(before, t, [L, 1], (ms) => ((ms - START_MS) % 40 === 0 ? 2 : 0)) >= n),
  ],
  'leaky queue': [
    { primitive: 'leaky_queue', params: { spacing_ms: 20, max_wait_ms: 70 } },
    (before, t, n) => {
      const last = admitted(before).at(-1);
      const first = last === undefined ? t : Math.max(t, last.t + last.delay + 20);
      const delay = first + (n - 1) * 20 - t;
      return delay <= 70 ? delay : LIMITED;
    },
  ],
  'many nodes, exact and failing over': [
    {
      primitive: 'many_nodes',
      params: {
        ...{ design: 'exact', nodes: 3, threshold: L, within: 5, cycle_ms: 20 },
        failover: { at_ms: 120, replica_lag_ms: 45 },
      },
    },
    (before, t, n) => {
      const isIn = (one: Came) => Math.floor(one.t / 20) > Math.floor(t / 20) - 5;
      const failMs = START_MS + 120;
      const isLost = (one: Came) => t >= failMs && one.t < failMs && one.t + 45 > failMs;
      return ok(sum(before.filter((one) => isIn(one) && !isLost(one))) + n <= L);
    },
  ],
  'many nodes, batched': [
    {
      primitive: 'many_nodes',
      params: { design: 'batched', nodes: 3, threshold: L, within: 5, cycle_ms: 20, sync_ms: 30, lag_ms: 7 },
    },
    (before, t, n) => {
      const isIn = (one: Came) => Math.floor(one.t / 20) > Math.floor(t / 20) - 5;
      const isKnown = (one: Came) => (Math.floor(one.t / 30) + 1) * 30 + 7 <= t;
      const isOwn = (index: number) => index % 3 === before.length % 3;
      return ok(sum(before.filter((one, index) => isIn(one) && (isOwn(index) || isKnown(one)))) + n <= L);
    },
  ],
  concurrency: [
    { primitive: 'concurrency', params: { limit: L } },
    (before, t, n) => ok(sum(admitted(before).filter((one) => one.t + one.hold > t)) + n <= L),
  ],
  'concurrency with a line': [
    { primitive: 'concurrency_queue', params: { limit: L, max_wait_ms: 50 } },
    (before, t, n) => {
      // The first ms at which enough servers are free of all that were promised one.
      for (let wait = 0; wait <= 50; wait += 1) {
        const busy = admitted(before).filter((one) => one.t + one.delay + one.hold > t + wait);
        if (sum(busy) + n <= L) return wait;
      }
      return LIMITED;
    },
  ],
};

const requests = fc.array(
  fc.record({
    gap: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }) }, fc.integer({ min: 0, max: 250 })),
    n: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 7 })),
    hold: fc.integer({ min: 1, max: 120 }),
  }),
  { maxLength: 30 },
);

it.each(Object.entries(models))('%s decides as its model', (_, [definition, model]) => {
  const rule = ruleOf(definition);
  forAll([requests], 150, (asked) => {
    const state = rule.fresh(START_MS);
    const before: Came[] = [];
    let t = START_MS;
    for (const { gap, n, hold } of asked) {
      t += gap;
      const expected = model(before, t, n);
      const delay = rule.admit(state, t, n, hold);
      expect(delay).toBeCloseTo(expected, 6);
      before.push({ t, n, hold, delay: expected });
    }
  });
});

// Every rule against the decisions of the real limiters that follow it: admitted or not, delays, and the waits they announce.
/** In one run over real time the server answered once 25 ms late. */
const lateAnswers: Readonly<Record<string, number>> = { 'nginx-limit_req-10rs-burst10-delay3': 1 };

it.each(limiters)('the rule of $name decides as the limiter does', (limiter) => {
  const { requests, ...wrong } = compare(limiter);
  expect(requests).toBeGreaterThan(0);
  expect(wrong).toEqual({ wrong: 0, wrongDelays: lateAnswers[limiter.name] ?? 0, wrongWaits: 0 });
});

it('the model of one limiter is not that of another', () => {
  const byName = new Map(limiters.map((limiter) => [limiter.name, limiter]));
  const wrongAs = (name: string, other: string) =>
    compare({ ...byName.get(name)!, rule: byName.get(other)!.rule }).wrong;
  expect(wrongAs('express-rate-limit-memory', 'fastify-rate-limit-redis')).toBeGreaterThan(0);
  expect(wrongAs('nginx-limit_req-10rs.exact', 'nginx-limit_req-60rm.exact')).toBeGreaterThan(0);
  expect(wrongAs('go-x-time-rate-allow', 'varnish-vsthrottle-10-1s.exact')).toBeGreaterThan(0);
});
