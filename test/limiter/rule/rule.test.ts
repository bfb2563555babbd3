// What every rule promises, whichever it is: the pure form, the times it names, clocks that step back, costs without end.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RuleDefinition, ruleOf } from '../../../src/limiter/rule/definition.js';
import { LIMITED, NEVER, type Rule, step } from '../../../src/limiter/rule/rule.js';

const bucket = { rate: 3, per_ms: 100, capacity: 5 };
const window = { limit: 4, window_ms: 100 };
const rules: Readonly<Record<string, RuleDefinition>> = {
  'rolling count': { primitive: 'rolling_count', params: { threshold: 4, within: 5, cycle_ms: 20 } },
  'fixed window': { primitive: 'fixed_window', params: window },
  'fixed window of the epoch': { primitive: 'fixed_window', params: { ...window, align: 'epoch', phase_ms: 7 } },
  'fixed window of a process': { primitive: 'fixed_window', params: { ...window, align: 'construction' } },
  'fixed window that ends late': { primitive: 'fixed_window', params: { ...window, edge: 'reset_after_end' } },
  'fixed window, all count': { primitive: 'fixed_window', params: { ...window, count_refused: true } },
  'fixed window with a block': { primitive: 'fixed_window', params: { ...window, count_refused: true, block_ms: 250 } },
  'fixed window, local block': { primitive: 'fixed_window', params: { ...window, local_block_ms: 60 } },
  'fixed window, block that rearms': {
    primitive: 'fixed_window',
    params: { ...window, local_block_ms: 60, refused_rearm: true },
  },
  'fixed window, restarts': {
    primitive: 'fixed_window',
    params: { ...window, count_refused: true, refused_restart_window: true },
  },
  'fixed window, elastic': {
    primitive: 'fixed_window',
    params: { ...window, count_refused: true, every_hit_restarts_window: true },
  },
  'fixed window, backoff': {
    primitive: 'fixed_window',
    params: { ...window, count_refused: true, refused_backoff: 2 },
  },
  'fixed window that is forgotten': {
    primitive: 'fixed_window',
    params: { ...window, edge: 'reset_after_end', state_ttl_from_last_admit_ms: 90 },
  },
  'fixed window, even': { primitive: 'fixed_window_exec_evenly', params: window },
  'sliding log': { primitive: 'sliding_log', params: window },
  'sliding log that ends late': { primitive: 'sliding_log', params: { ...window, edge: 'expires_after_end' } },
  'sliding log, all count': { primitive: 'sliding_log', params: { ...window, count_refused: true } },
  'sliding log with a block': { primitive: 'sliding_log_block', params: { ...window, block_ms: 130 } },
  'segmented window': { primitive: 'segmented_window', params: { ...window, segments: 4 } },
  'sliding counter': { primitive: 'sliding_counter', params: window },
  'sliding counter of the epoch': {
    primitive: 'sliding_counter',
    params: { ...window, align: 'epoch', floor_total: true },
  },
  'sliding counter of HAProxy': {
    primitive: 'sliding_counter',
    params: { ...window, count_refused: true, even_ms: true },
  },
  'sliding counter of Upstash': {
    primitive: 'sliding_counter',
    params: { ...window, align: 'epoch', floor_prev: true, cost_overshoot: true, block_until_window_end: true },
  },
  'sliding counter with a block': { primitive: 'sliding_counter', params: { ...window, block_ms: 150 } },
  'token bucket': { primitive: 'token_bucket', params: bucket },
  'token bucket, empty at first': { primitive: 'token_bucket', params: { ...bucket, initial: 0, exact_float: true } },
  'token bucket that holds': { primitive: 'token_bucket', params: { ...bucket, max_wait_ms: 80 } },
  'token bucket that is forgotten': {
    primitive: 'token_bucket',
    params: { ...bucket, rate: 1, state_ttl_from_last_admit_ms: 120 },
  },
  'token bucket by intervals': { primitive: 'token_bucket', params: { ...bucket, refill: 'interval' } },
  'token bucket by intervals that holds': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval', max_wait_ms: 150, allow_over_capacity: true },
  },
  'token bucket by intervals of juju': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval', stale_tick_when_full: true },
  },
  'token bucket by intervals of Upstash': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval', align: 'first', forget_when_full: true },
  },
  'token bucket of whole tokens': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval_trunc' },
    clock_resolution_ms: 1,
  },
  'token bucket of whole tokens with a block': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval_trunc', block_ms: 70 },
    clock_resolution_ms: 1,
  },
  'token bucket and interval': {
    primitive: 'token_bucket_and_interval',
    params: { ...bucket, capacity: 3, interval_ms: 100 },
  },
  gcra: { primitive: 'gcra', params: { T_ms: 30, tau_ms: 90 } },
  'nginx limit_req': { primitive: 'nginx_limit_req', params: { rate_1000: 31_700, burst: 3 }, clock_resolution_ms: 1 },
  'leaky queue': { primitive: 'leaky_queue', params: { spacing_ms: 20, max_queue: 3 } },
  'uber slack': { primitive: 'uber_slack', params: { spacing_ms: 20, slack: 3 } },
  'Guava, bursty': { primitive: 'guava_bursty', params: { interval_ms: 20, max_stored: 5 } },
  'Guava, bursty, that waits': {
    primitive: 'guava_bursty',
    params: { interval_ms: 20, max_stored: 5, max_wait_ms: 50 },
  },
  'Guava, warming up': { primitive: 'guava_warmup', params: { interval_ms: 20, warmup_ms: 200 } },
  concurrency: { primitive: 'concurrency', params: { limit: 3 } },
  'concurrency with a line': { primitive: 'concurrency_queue', params: { limit: 3, max_wait_ms: 40 } },
  aimd: { primitive: 'adaptive', params: { algorithm: 'aimd', initial: 3, min: 1, max: 8, timeout_ms: 60 } },
  vegas: { primitive: 'adaptive', params: { algorithm: 'vegas', initial: 3, max: 20 } },
  gradient2: { primitive: 'adaptive', params: { algorithm: 'gradient2', initial: 3, min: 1, max: 20 } },
  or: {
    primitive: 'or',
    params: {
      a: { primitive: 'fixed_window', params: { limit: 2, window_ms: 50 } },
      b: { primitive: 'fixed_window', params: { limit: 3, window_ms: 200 } },
    },
  },
  and: {
    primitive: 'and',
    params: {
      of: [
        { primitive: 'gcra', params: { T_ms: 10, tau_ms: 20 } },
        { primitive: 'sliding_log', params: window },
      ],
    },
  },
  'and, all charged': {
    primitive: 'and_all_charged',
    params: {
      limits: [
        [2, 50],
        [5, 200],
      ],
    },
  },
};

const START_MS = 1_699_999_200_000;

interface Asked {
  readonly gapMs: number;
  readonly n: number;
  readonly holdMs: number;
}

const asked = fc.array(
  fc.record({
    gapMs: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 40 }) }, fc.integer({ min: 0, max: 400 })),
    n: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 7 })),
    holdMs: fc.integer({ min: 0, max: 120 }),
  }),
  { maxLength: 40 },
);

/** The state after some requests, and the time then. */
function stateAfter<State>(rule: Rule<State>, requests: readonly Asked[]): { state: State; tMs: number } {
  const state = rule.fresh(START_MS);
  let tMs = START_MS;
  for (const { gapMs, n, holdMs } of requests) {
    tMs += gapMs;
    rule.decide(state, tMs, n, holdMs);
  }
  return { state, tMs };
}

/** Whether a request would be admitted, without charging it. */
function admits<State>(rule: Rule<State>, state: State, tMs: number, n: number): boolean {
  return step(rule, state, { tMs, n, holdMs: 1 })[1].admitted;
}

describe.each(Object.entries(rules))('%s', (_, definition) => {
  const rule = ruleOf(definition);
  const grainMs = definition.clock_resolution_ms ?? 2 ** -11;
  const check = (holds: (requests: readonly Asked[]) => void, numRuns = 60) =>
    fc.assert(fc.property(asked, holds), { numRuns });

  it('leaves the state alone in its pure form, which decides as the one in place', () => {
    check((requests) => {
      let state = rule.fresh(START_MS);
      const inPlace = rule.fresh(START_MS);
      let tMs = START_MS;
      for (const { gapMs, n, holdMs } of requests) {
        tMs += gapMs;
        const before = structuredClone(state);
        const [next, decision] = step(rule, state, { tMs, n, holdMs });
        const delay = rule.decide(inPlace, tMs, n, holdMs);
        expect(state).toEqual(before);
        expect(decision.admitted).toBe(delay !== LIMITED);
        if (decision.admitted) expect(decision.delayMs).toBe(delay);
        state = next;
      }
      expect(state).toEqual(inPlace);
    });
  });

  it('names the earliest time at which a request would be admitted', () => {
    fc.assert(
      fc.property(asked, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 90 }), (requests, n, laterMs) => {
        const { state, tMs } = stateAfter(rule, requests);
        const now = tMs + laterMs;
        const at = rule.nextAdmission(state, now, n);
        if (at === NEVER) expect(admits(rule, state, now + 31_557_600_000, n)).toBe(false);
        else expect(admits(rule, state, at, n)).toBe(true);
        const before = at === NEVER ? now : at - 2 * grainMs;
        if (before > now) expect(admits(rule, state, before, n)).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  it('counts what would be admitted now', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      const remaining = rule.remaining(state, tMs);
      const copy = structuredClone(state);
      let admitted = 0;
      while (admitted < 30 && rule.decide(copy, tMs, 1, 100) !== LIMITED) admitted += 1;
      expect(Math.min(remaining, 30)).toBe(admitted);
    });
  });

  it('names a time before which that does not change', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      const now = rule.remaining(state, tMs);
      const at = rule.nextChange(state, tMs);
      if (at === NEVER) expect(rule.remaining(state, tMs + 31_557_600_000)).toBe(now);
      else {
        expect(at).toBeGreaterThan(tMs);
        if (at - 2 * grainMs > tMs) expect(rule.remaining(state, at - 2 * grainMs)).toBe(now);
      }
    });
  });

  it('is forgettable only where a new state decides alike', () => {
    fc.assert(
      fc.property(asked, fc.integer({ min: 0, max: 500 }), asked, (requests, idleMs, later) => {
        const { state, tMs } = stateAfter(rule, requests);
        if (!rule.forgettable(state, tMs + idleMs)) return;
        const fresh = rule.fresh(START_MS);
        let at = tMs + idleMs;
        for (const { gapMs, n, holdMs } of later) {
          at += gapMs;
          expect(rule.decide(fresh, at, n, holdMs)).toBeCloseTo(rule.decide(state, at, n, holdMs), 3);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives nothing back when the clock steps back', () => {
    fc.assert(
      fc.property(asked, fc.integer({ min: 1, max: 50_000 }), (requests, backMs) => {
        const { state, tMs } = stateAfter(rule, requests);
        expect(rule.remaining(state, tMs - backMs)).toBeLessThanOrEqual(rule.remaining(state, tMs));
        const copy = structuredClone(state);
        rule.decide(copy, tMs - backMs, 1, 10);
        expect(rule.remaining(copy, tMs)).toBeLessThanOrEqual(rule.remaining(state, tMs));
      }),
      { numRuns: 60 },
    );
  });

  it('admits as much as at first after years of silence', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      const years = tMs + 3_155_760_000_000;
      // What adapts keeps what it learnt, and a block of doubled length may outlast the years.
      if (definition.primitive === 'adaptive' || JSON.stringify(definition).includes('backoff')) return;
      expect(rule.remaining(state, years)).toBeGreaterThanOrEqual(rule.remaining(rule.fresh(START_MS), START_MS));
    }, 20);
  });

  it('stays finite and never negative with a cost of 2^53 - 1', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      for (let i = 0; i < 3; i += 1) rule.decide(state, tMs + i, Number.MAX_SAFE_INTEGER, 10);
      expect(rule.remaining(state, tMs + 3)).toBeGreaterThanOrEqual(0);
      expect(JSON.stringify(state)).not.toMatch(/null/);
      expect(rule.nextAdmission(state, tMs + 3, 1)).toBeGreaterThanOrEqual(tMs + 3);
    }, 20);
  });
});

it('a bucket that keeps a stale tick while it is full admits one request more after idling', () => {
  const rule = ruleOf(rules['token bucket by intervals of juju']!);
  const state = rule.fresh(START_MS);
  const tMs = START_MS + 150;
  expect([rule.remaining(state, START_MS), rule.remaining(state, tMs)]).toEqual([5, 6]);
  const decided = Array.from({ length: 7 }, () => rule.decide(state, tMs, 1, 0));
  expect(decided).toEqual([0, 0, 0, 0, 0, 0, LIMITED]);
});
