// A limiter of the rule is never found to differ, however late it counts; a wrong one is, as far as what is not known allows.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/limiter/plan.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { explain, saysEnough } from '../../../src/harness/explain/explain.js';
import { windowRules } from '../../../src/harness/live/findings-by-order.js';
import { tries } from '../../draws.js';
import {
  type Limiter,
  overNetwork,
  rolling,
  type Sent,
  type Setting,
  sliding,
  wrongLimiters,
} from './simulated-network.js';

const CYCLE_MS = 100;

const windows = ({ threshold, within, cycleMs }: Pick<Setting, 'threshold' | 'within' | 'cycleMs'>) =>
  windowRules({ thresholds: [threshold], aggregates: [{ within }] } as unknown as Plan, cycleMs).rules;

/** Whether the answers cannot be those of the rules; those of a rolling window unless others are given. */
function differs(setting: Setting, sent: readonly Sent[], limiter: Limiter, rules = windows(setting)): boolean {
  return explain(overNetwork(sent, limiter), rules, { slackMs: 0, mostNodes: 20_000 }).type === 'refuted';
}

/** A part of a ms that sums and differences do not round: whether 601 + 700 is 1301 must not depend on how it is added up. */
const exact = (ms: number) => Math.round(ms * 1024) / 1024;

const settings = fc.record({
  threshold: fc.integer({ min: 1, max: 12 }),
  within: fc.integer({ min: 1, max: 8 }),
  cycleMs: fc.constant(CYCLE_MS),
  phaseMs: fc.double({ min: 0, max: CYCLE_MS, noNaN: true }).map(exact),
});

/** Requests of some cycles, now and then in bursts; every delay up to `longestMs`. */
const requests = fc
  .record({
    longestMs: fc.constantFrom(0, 1, 10, 50, 150, 400),
    gaps: fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 3, 30, 120, 700), fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: 1,
      maxLength: 80,
    }),
    delays: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: 80,
      maxLength: 80,
    }),
    losses: fc.array(fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 'request', 'answer'), {
      minLength: 80,
      maxLength: 80,
    }),
    isLossy: fc.boolean(),
  })
  .map(({ longestMs, gaps, delays, losses, isLossy }) => {
    let atMs = 0;
    return gaps.map(([gap, u], k): Sent => {
      atMs += exact(gap * u);
      const [up, down] = delays[k]!;
      const loses = isLossy ? (losses[k] as Sent['loses']) : undefined;
      return { sentMs: atMs, upMs: exact(up * longestMs), downMs: exact(down * longestMs), loses };
    });
  });

it.each([
  ['by cycles of any phase', rolling],
  ['to the millisecond', sliding],
])('a limiter of the rule is explained, with delays, overtaking and losses: %s', (_, limiter) => {
  fc.assert(
    fc.property(settings, requests, (setting, sent) => !differs(setting, sent, limiter(setting))),
    { numRuns: tries(3000) },
  );
});

// Other rules that count by cycles of a clock.
const otherRules: Record<string, (setting: Setting) => { readonly rule: RuleDefinition; readonly limiter: Limiter }> = {
  'a fixed window from cycle 0 of its clock': ({ threshold, within, cycleMs, phaseMs }) => {
    let [window, n] = [Number.NaN, 0];
    return {
      limiter: (atMs) => {
        const now = Math.floor(Math.floor((atMs - phaseMs) / cycleMs) / within);
        n = now === window ? n + 1 : 1;
        window = now;
        return n <= threshold;
      },
      rule: {
        primitive: 'fixed_window',
        params: { limit: threshold, window_ms: within * cycleMs, align: 'epoch', count_refused: true },
        clock_resolution_ms: cycleMs,
      },
    };
  },
  'a bucket of `threshold` tokens, one more each cycle, that only admitted requests take': ({
    threshold,
    cycleMs,
    phaseMs,
  }) => {
    let [tokens, last] = [threshold, Number.NaN];
    return {
      limiter: (atMs) => {
        const cycle = Math.floor((atMs - phaseMs) / cycleMs);
        if (!Number.isNaN(last)) tokens = Math.min(threshold, tokens + cycle - last);
        last = cycle;
        if (tokens < 1) return false;
        tokens -= 1;
        return true;
      },
      rule: {
        primitive: 'token_bucket',
        params: { rate: 1, per_ms: cycleMs, capacity: threshold, refill: 'interval', align: 'construction' },
      },
    };
  },
};

it.each(Object.entries(otherRules))('a limiter of another rule is explained by that rule: %s', (_, make) => {
  fc.assert(
    fc.property(settings, requests, (setting, sent) => {
      const { limiter, rule } = make(setting);
      return !differs(setting, sent, limiter, [rule]);
    }),
    { numRuns: tries(500) },
  );
});

/** 80 cycles of none to two requests, at instants drawn in the first half of each; delays up to `longestMs` each way. */
function schedule(seed: number, longestMs: number): Sent[] {
  const draw = new RandomStream(seed, 'schedule');
  return Array.from({ length: 80 }, (_, cycle) =>
    Array.from({ length: Math.floor(draw.uniform() * 3) }, (): Sent => {
      const sentMs = cycle * CYCLE_MS + 5 + draw.uniform() * 50;
      return { sentMs, upMs: draw.uniform() * longestMs, downMs: draw.uniform() * longestMs };
    }),
  ).flat();
}

describe('wrong limiters', () => {
  const found = (make: (setting: Setting) => Limiter, longestMs: number) =>
    Array.from({ length: 20 }, (_, seed) => {
      const phaseMs = new RandomStream(seed, 'phase').uniform() * CYCLE_MS;
      const setting = { threshold: 6, within: 8, cycleMs: CYCLE_MS, phaseMs };
      return differs(setting, schedule(seed, longestMs), make(setting));
    }).filter(Boolean).length;

  it.each(Object.entries(wrongLimiters))(
    'a limiter that %s is found, in most of 20 runs over a quick network and in some over a slow one',
    (_, make) => {
      expect(found(make, 5)).toBeGreaterThan(10);
      expect(found(make, 75)).toBeGreaterThan(0);
    },
  );

  it('a right limiter is found to differ in none of 20 runs, over a quick network and over a slow one', () => {
    expect([found(rolling, 5), found(rolling, 75), found(sliding, 5), found(sliding, 75)]).toEqual([0, 0, 0, 0]);
  });
});

it('a right limiter behind 700 ms is known, and a wrong one is not taken for it', () => {
  const known = (make: (setting: Setting) => Limiter) =>
    Array.from({ length: 20 }, (_, seed) => {
      const phaseMs = new RandomStream(seed, 'phase').uniform() * CYCLE_MS;
      const setting = { threshold: 6, within: 8, cycleMs: CYCLE_MS, phaseMs };
      const slow = schedule(seed, 2).map((one) => ({ ...one, upMs: one.upMs + 300, downMs: one.downMs + 400 }));
      const seen = overNetwork(slow, make(setting));
      return saysEnough(explain(seen, windows(setting), { slackMs: 0 }));
    }).filter(Boolean).length;
  expect(known(rolling)).toBeGreaterThan(15);
  expect(known(wrongLimiters['never limits']!)).toBe(0);
  expect(known(wrongLimiters['counts every request twice']!)).toBe(0);
});

it('an explanation says whether requests could have been decided either way', () => {
  const isAmbiguous = (answeredMs: number) => {
    const requests = [
      { sentMs: 10, answeredMs: 10.5, decision: 'admitted' as const },
      { sentMs: 20, answeredMs, decision: 'limited' as const },
      { sentMs: 20, answeredMs, decision: 'limited' as const },
    ];
    const found = explain(requests, windows({ threshold: 1, within: 2, cycleMs: CYCLE_MS }), { slackMs: 0 });
    return found.type === 'explained' && found.ambiguous > 0;
  };
  expect([isAmbiguous(11), isAmbiguous(400)]).toEqual([false, true]);
});
