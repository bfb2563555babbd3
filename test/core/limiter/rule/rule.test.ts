// What every rule promises, whichever it is: copies of its state, the times it names, clocks that step back, costs without end.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyOf, LIMITED, NEVER, type Rule } from '../../../../src/core/limiter/rule/rule.js';
import { primitives, ruleOf, stateCellsOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { forAll } from '../../../draws.js';
import { type Asked, askedUpTo, rules } from './every-rule.js';

const asked = askedUpTo(40);

const START_MS = 1_699_999_200_000;

/** The state after some requests, and the time then. */
function stateAfter<State>(rule: Rule<State>, requests: readonly Asked[]): { state: State; tMs: number } {
  const state = rule.fresh(START_MS);
  let tMs = START_MS;
  for (const { gapMs, n, holdMs } of requests) {
    tMs += gapMs;
    rule.admit(state, tMs, n, holdMs);
  }
  return { state, tMs };
}

it('every rule is in every suite over rules', () => {
  const shown = new Set<string>(Object.values(rules).map(({ primitive }) => primitive));
  expect(Object.keys(primitives).filter((name) => !shown.has(name))).toEqual([]);
});

it('windows that are given as limits take the room of fixed windows', () => {
  const limits = [
    [3, 100],
    [5, 1000],
  ] as const;
  const of = limits.map(([limit, window_ms]) => ({ primitive: 'fixed_window' as const, params: { limit, window_ms } }));
  const [asLimits, asWindows] = [{ limits }, { of }].map((params) =>
    stateCellsOf({ primitive: 'and_all_charged', params }),
  );
  expect(asLimits).toBe(asWindows);
});

/** Whether a request would be admitted, without charging it. */
function admits<State>(rule: Rule<State>, state: State, tMs: number, n: number): boolean {
  return rule.admit(copyOf(state), tMs, n, 1) !== LIMITED;
}

it.each(Object.entries(rules).filter(([, definition]) => ruleOf(definition).additive))(
  '%s admits many at one instant as it admits one that costs as much',
  (_, definition) => {
    const rule = ruleOf(definition);
    const holds = (requests: readonly Asked[]) => {
      const { state, tMs } = stateAfter(rule, requests);
      const [room, copy] = [rule.remaining(state, tMs), copyOf(state)];
      const ones = Array.from({ length: room }, () => rule.admit(copy, tMs, 1, 50));
      expect(ones).toEqual(ones.map(() => 0));
      if (room > 0) expect(rule.admit(state, tMs, room, 50)).toBe(0);
      expect(state).toEqual(copy);
    };
    forAll([asked], 60, holds);
  },
);

describe.each(Object.entries(rules))('%s', (_, definition) => {
  const rule = ruleOf(definition);
  const grainMs = definition.clock_resolution_ms ?? 2 ** -11;
  const check = (holds: (requests: readonly Asked[]) => void) => forAll([asked], holds);

  it('a rule decides on a copy of the state as on the state, which the copy leaves alone', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      const [before, copy] = [structuredClone(state), copyOf(state)];
      const delay = rule.admit(copy, tMs, 1, 50);
      expect(state).toEqual(before);
      expect(rule.admit(state, tMs, 1, 50)).toBe(delay);
      expect(state).toEqual(copy);
    });
  });

  it('a rule names the earliest time at which a request would be admitted', () => {
    forAll([asked, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 90 })], 150, (requests, n, laterMs) => {
      const { state, tMs } = stateAfter(rule, requests);
      const now = tMs + laterMs;
      const at = rule.nextAdmission(state, now, n);
      if (at === NEVER) expect(admits(rule, state, now + 31_557_600_000, n)).toBe(false);
      else expect(admits(rule, state, at, n)).toBe(true);
      const before = at === NEVER ? now : at - 2 * grainMs;
      if (before > now) expect(admits(rule, state, before, n)).toBe(false);
    });
  });

  it('a rule says so where a refused request brings the next admission forward', () => {
    if (rule.hastens) return;
    check((requests) => {
      const state = rule.fresh(START_MS);
      let [tMs, dueMs] = [START_MS, 0];
      for (const { gapMs, holdMs } of requests) {
        // Dense, so that many are refused in a row.
        tMs += gapMs % 10;
        const refused = rule.admit(state, tMs, 1, holdMs) === LIMITED;
        const againMs = rule.nextAdmission(state, tMs, 1);
        if (refused) expect(againMs).toBeGreaterThanOrEqual(dueMs);
        dueMs = refused ? againMs : 0;
      }
    });
  });

  it('a rule counts what would be admitted now', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      const remaining = rule.remaining(state, tMs);
      const copy = structuredClone(state);
      let admitted = 0;
      while (admitted < 30 && rule.admit(copy, tMs, 1, 100) !== LIMITED) admitted += 1;
      expect(Math.min(remaining, 30)).toBe(admitted);
    });
  });

  it('a rule names a time before which what would be admitted does not change', () => {
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

  it('a state is forgettable only where a new state decides alike', () => {
    forAll([asked, fc.integer({ min: 0, max: 500 }), asked], 60, (requests, idleMs, later) => {
      const { state, tMs } = stateAfter(rule, requests);
      if (!rule.forgettable(state, tMs + idleMs)) return;
      const fresh = rule.fresh(START_MS);
      let at = tMs + idleMs;
      for (const { gapMs, n, holdMs } of later) {
        at += gapMs;
        expect(rule.admit(fresh, at, n, holdMs)).toBeCloseTo(rule.admit(state, at, n, holdMs), 3);
      }
    });
  });

  it('a rule gives nothing back when the clock steps back', () => {
    // The next request is for another node, which may have room.
    if (definition.primitive === 'many_nodes' && !JSON.stringify(definition).includes('"one"')) return;
    forAll([asked, fc.integer({ min: 1, max: 50_000 })], 60, (requests, backMs) => {
      const { state, tMs } = stateAfter(rule, requests);
      expect(rule.remaining(state, tMs - backMs)).toBeLessThanOrEqual(rule.remaining(state, tMs));
      const copy = structuredClone(state);
      rule.admit(copy, tMs - backMs, 1, 10);
      expect(rule.remaining(copy, tMs)).toBeLessThanOrEqual(rule.remaining(state, tMs));
    });
  });

  it('a rule admits as much as at first after years of silence', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      const years = tMs + 3_155_760_000_000;
      // What adapts keeps what it learnt, and a block of doubled length may outlast the years.
      if (definition.primitive === 'adaptive' || JSON.stringify(definition).includes('backoff')) return;
      expect(rule.remaining(state, years)).toBeGreaterThanOrEqual(rule.remaining(rule.fresh(START_MS), START_MS));
    });
  });

  it('a rule stays finite and never negative with a cost of 2^53 - 1', () => {
    check((requests) => {
      const { state, tMs } = stateAfter(rule, requests);
      for (let i = 0; i < 3; i += 1) rule.admit(state, tMs + i, Number.MAX_SAFE_INTEGER, 10);
      expect(rule.remaining(state, tMs + 3)).toBeGreaterThanOrEqual(0);
      expect(JSON.stringify(state)).not.toMatch(/null/);
      expect(rule.nextAdmission(state, tMs + 3, 1)).toBeGreaterThanOrEqual(tMs + 3);
    });
  });
});

it('a bucket that keeps a stale tick while it is full admits one request more after idling', () => {
  const rule = ruleOf(rules['token bucket by intervals of juju']!);
  const state = rule.fresh(START_MS);
  const tMs = START_MS + 150;
  expect([rule.remaining(state, START_MS), rule.remaining(state, tMs)]).toEqual([5, 6]);
  const decided = Array.from({ length: 7 }, () => rule.admit(state, tMs, 1, 0));
  expect(decided).toEqual([0, 0, 0, 0, 0, 0, LIMITED]);
});
