// Charges that are corrected: a request is charged something when it comes, and the difference to its cost when it ends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITED, NEVER, type Rule } from '../../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { forAll } from '../../../draws.js';
import { rules } from './every-rule.js';

const START_MS = 1_699_999_200_000;
const correctable = Object.entries(rules).filter(([, definition]) => ruleOf(definition).charge !== undefined);

it('each family has rules whose charges can be corrected', () => {
  const primitives = new Set(correctable.map(([, { primitive }]) => primitive));
  const families = ['token_bucket', 'gcra', 'fixed_window', 'rolling_count', 'sliding_log', 'segmented_window', 'and'];
  expect([...primitives]).toEqual(expect.arrayContaining(families));
});

const steps = fc.array(
  fc.record({
    gapMs: fc.integer({ min: 0, max: 60 }),
    n: fc.integer({ min: 0, max: 4 }),
    by: fc.integer({ min: -4, max: 9 }),
  }),
  { maxLength: 30 },
);

function run<State>(rule: Rule<State>, requests: { gapMs: number; n: number; by: number }[]) {
  const state = rule.fresh(START_MS);
  let tMs = START_MS;
  for (const { gapMs, n, by } of requests) {
    tMs += gapMs;
    if (rule.admit(state, tMs, n, 0) !== LIMITED) rule.charge!(state, tMs, Math.max(-n, by), tMs);
  }
  return { state, tMs };
}

describe.each(correctable)('%s', (_, definition) => {
  const rule = ruleOf(definition);
  const grainMs = definition.clock_resolution_ms ?? 2 ** -11;

  it('a rule has charged the cost, whatever was charged first', () => {
    forAll([steps, fc.nat({ max: 4 }), fc.nat({ max: 4 })], (before, first, cost) => {
      const { state, tMs } = run(rule, before);
      const other = structuredClone(state);
      if (rule.admit(state, tMs, cost, 0) === LIMITED || rule.admit(other, tMs, first, 0) === LIMITED) return;
      rule.charge!(other, tMs, cost - first, tMs);
      expect(rule.remaining(other, tMs)).toBe(rule.remaining(state, tMs));
    });
  });

  it('a rule names the earliest time of an admission, in debt too', () => {
    forAll([steps, fc.integer({ min: 1, max: 4 })], (before, n) => {
      const { state, tMs } = run(rule, before);
      const at = rule.nextAdmission(state, tMs, n);
      const admitsAt = (ms: number) => rule.admit(structuredClone(state), ms, n, 0) !== LIMITED;
      if (at === NEVER) expect(admitsAt(tMs + 31_557_600_000)).toBe(false);
      else expect(admitsAt(at)).toBe(true);
      if (at !== NEVER && at - 2 * grainMs > tMs) expect(admitsAt(at - 2 * grainMs)).toBe(false);
    });
  });
});

it.each([
  ['fixed window', { primitive: 'fixed_window', params: { limit: 10, window_ms: 100, align: 'epoch' } }],
  ['sliding log', { primitive: 'sliding_log', params: { limit: 10, window_ms: 100 } }],
  ['rolling count', { primitive: 'rolling_count', params: { threshold: 10, within: 5, cycle_ms: 20 } }],
] as const)('a %s gives nothing back of what it no longer counts', (_, definition) => {
  const rule = ruleOf(definition);
  const state = rule.fresh(START_MS);
  expect(rule.admit(state, START_MS + 10, 8, 0)).toBe(0);
  expect(rule.admit(state, START_MS + 130, 6, 0)).toBe(0);
  rule.charge!(state, START_MS + 130, -8, START_MS + 10);
  expect(rule.remaining(state, START_MS + 130)).toBe(4);
  rule.charge!(state, START_MS + 130, -6, START_MS + 130);
  expect(rule.remaining(state, START_MS + 130)).toBe(10);
});

it('a rule counts requests beside what they cost', () => {
  const member = (capacity: number, counts?: 'requests') =>
    ({ primitive: 'token_bucket', params: { rate: 1, per_ms: 1000, capacity }, ...(counts && { counts }) }) as const;
  const both: RuleDefinition = { primitive: 'and', params: { of: [member(3, 'requests'), member(100)] } };
  const rule = ruleOf(both);
  const state = rule.fresh(START_MS);
  const decisions = [40, 70, 40, 20, 1].map((cost) => rule.admit(state, START_MS, cost, 0));
  // 70 does not fit into what 40 left; then the third request that was admitted was the last.
  expect(decisions).toEqual([0, LIMITED, 0, 0, LIMITED]);
  expect(rule.nextAdmission(state, START_MS, 2) - START_MS).toBeCloseTo(2000, 2);
  expect(rule.nextAdmission(state, START_MS, 1) - START_MS).toBeCloseTo(1000, 2);
});
