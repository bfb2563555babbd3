import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { type BackoffPlan, backoffPolicies, pauses } from '../../../src/harness/clients/backoff.js';
import type { Wait } from '../../../src/harness/clients/behaviour.js';
import { forAll } from '../../draws.js';

const drawn = (wait: Wait, draw: RandomStream) => (typeof wait === 'number' ? wait : wait.drawMs(draw));

/** The first pauses of a client, each fed with the one before. */
function first(n: number, plan: BackoffPlan, u: number): number[] {
  const next = pauses(plan);
  const draw = { uniform: () => u } as RandomStream;
  const all: number[] = [];
  for (let k = 1; k <= n; k += 1) all.push(drawn(next(k, all.at(-1) ?? 0), draw));
  return all;
}

it.each<[policy: BackoffPlan['policy'], u: number, pauses: number[]]>([
  ['none', 0.5, [0, 0, 0, 0, 0]],
  ['fixed', 0.5, [5, 5, 5, 5, 5]],
  ['exponential', 0.5, [10, 20, 40, 60, 60]],
  ['equal_jitter', 0, [5, 10, 20, 30, 30]],
  ['equal_jitter', 0.5, [7.5, 15, 30, 45, 45]],
  ['full_jitter', 0, [0, 0, 0, 0, 0]],
  ['full_jitter', 0.5, [5, 10, 20, 30, 30]],
  ['decorrelated', 0, [5, 5, 5, 5, 5]],
  ['decorrelated', 0.5, [10, 17.5, 28.75, 45.625, 60]],
])('the first five pauses of %s, where chance says %d, are those of its formula', (policy, u, expected) => {
  expect(first(5, { policy, baseMs: 5, capMs: 60 }, u)).toEqual(expected);
});

it.each<[rule: string, plan: Omit<BackoffPlan, 'policy'>, longest: number]>([
  ['a base of 0 never grows', { baseMs: 0, capMs: 1000 }, 0],
  ['a base that is the cap stays there', { baseMs: 7, capMs: 7 }, 7],
  ['a thousand doublings end at the cap', { baseMs: 0.001, capMs: 1e12 }, 1e12],
])('%s', (_rule, plan, longest) => {
  const policy = 'exponential';
  expect(pauses({ policy, ...plan })(1000, 0)).toBe(longest);
});

// Multiples of 1/1024 ms: halves of them are doubles, too.
const ms = fc.integer({ min: 0, max: 2 ** 30 }).map((n) => n / 1024);
const plan = fc.tuple(ms, ms).map(([a, b]) => ({ baseMs: Math.min(a, b), capMs: Math.max(a, b) }));
const v = (n: number, { baseMs, capMs }: { baseMs: number; capMs: number }) => Math.min(capMs, baseMs * 2 ** n);

it.each(backoffPolicies)('every pause of %s lies within the bounds of its policy', (policy) => {
  forAll(
    [plan, fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat()],
    (given, n, part, seed) => {
      const { baseMs, capMs } = given;
      const lastMs = baseMs + part * (capMs - baseMs);
      const pauseMs = drawn(pauses({ policy, ...given })(n, lastMs), new RandomStream(seed, 'pauses'));
      const [least, most] = {
        none: [0, 0],
        fixed: [baseMs, baseMs],
        exponential: [v(n, given), v(n, given)],
        equal_jitter: [v(n, given) / 2, v(n, given)],
        full_jitter: [0, v(n, given)],
        decorrelated: [baseMs, Math.min(capMs, 3 * lastMs)],
        geometric: [v(n - 1, given), v(n - 1, given)],
        linear: [Math.min(capMs, n * baseMs), Math.min(capMs, n * baseMs)],
      }[policy] as [number, number];
      const rounding = 1e-9 * capMs;
      expect({
        pauseMs,
        isWithin: pauseMs >= least - rounding && pauseMs <= most + rounding && pauseMs <= capMs,
      }).toEqual({
        pauseMs,
        isWithin: true,
      });
    },
  );
});

it('an exponential pause has that of the policy as its mean, and is never shorter than announced', () => {
  const next = pauses({ policy: 'geometric', baseMs: 100, capMs: 1000, isExponential: true });
  const draw = new RandomStream(1, 'pauses');
  const mean = (n: number) =>
    Array.from({ length: 20_000 }, () => drawn(next(n, 0), draw)).reduce((a, b) => a + b) / 20_000;
  // 3.3 standard errors of 0.7 %.
  expect([mean(1) / 100, mean(3) / 400].every((ratio) => Math.abs(ratio - 1) < 0.0235)).toBe(true);
  expect(drawn(next(1, 0, 5000), draw)).toBeGreaterThanOrEqual(5000);
  expect(next(1, 0, 0)).not.toBe(100);
});
