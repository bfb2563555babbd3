// The template with near_limit and as a shadow: the states it goes through, and that it decides as without them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { retryAfterCycles } from '../../../src/core/limiter/forecast.js';
import { limiterParameters, rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { forAll } from '../../draws.js';
import { defined, move } from './defined.js';
import { limiterPlan, plannedGate } from './planned-gate.js';

const nearPlan = (threshold: number, within: number, near_limit: number) =>
  planContract(rateLimiter({ threshold, within, near_limit }));

it('near_limit is a state between, entered once however the count swings around its bound', () => {
  // Near from 16 on, until 14.
  const { gate, transitions } = plannedGate(nearPlan(20, 10, 0.8), 0);
  const steps: [cycle: number, requests: number, before: number, after: number][] = [
    [0, 1, 0, 1],
    [1, 14, 1, 15],
    [2, 1, 15, 16],
    [10, 1, 15, 16],
    [11, 0, 2, 2],
    [12, 20, 1, 21],
    [22, 0, 0, 0],
  ];
  for (const [cycle, requests, ...counts] of steps) {
    gate.advance(cycle);
    const before = gate.count;
    gate.decide(requests, cycle);
    expect([before, gate.count]).toEqual(counts);
  }
  expect(transitions).toEqual([
    { cycle: 2, to: 'nearing', count: 16 },
    { cycle: 11, to: 'allowing', count: 2 },
    { cycle: 12, to: 'nearing', count: 16 },
    { cycle: 12, to: 'limiting', count: 21 },
    { cycle: 20, to: 'nearing', count: 20 },
    { cycle: 22, to: 'allowing', count: 0 },
  ]);
});

it.each([
  [100, 0.8, 80, 70],
  [100, 0.55, 55, 45],
  [10, 0.75, 7.5, 6],
  [3, 0.5, 1.5, 1],
  [1, 0.8, 0.8, 0],
  [3, 0.05, 0.15, 0],
  [11, 0.99, 10.89, 9],
  [1_000_000_000, 0.99, 990_000_000, 890_000_000],
  [1000, 0.333, 333, 233],
  [100, 0.705, 70.5, 60],
])('threshold %d with near_limit %d is near from %d on, until %d', (threshold, near_limit, from, until) => {
  const made = rateLimiter({ threshold, near_limit });
  const conditions = made.transitions.map(({ trigger }) => Object(trigger).condition);
  expect(conditions.slice(1, 4)).toEqual([`count >= ${from}`, `count > ${threshold}`, `count <= ${until}`]);
  expect(limiterParameters(made)).toEqual({ threshold, within: 60, near_limit });
});

it.each([0, 1_000_000_001])('a definition with a window of %d, which no template has, is one of its own', (most) => {
  const moves = [move('calm', 'full', `count > ${most}`), move('full', 'calm', `count <= ${most}`)];
  expect(limiterParameters(defined('own', { calm: { initial: true }, full: {} }, moves))).toBeUndefined();
});

it.each([0, 1, -0.5, Number.NaN])('near_limit %d is refused', (near_limit) => {
  expect(() => rateLimiter({ near_limit })).toThrow('near_limit must be a number from 0.01 to 0.99');
});

it('near_limit changes no decision, no wait and no quota', () => {
  expect(nearPlan(100, 60, 0.8).thresholds).toEqual([100]);
  forAll([anyLimiter, fc.double({ min: 0.01, max: 0.99, noNaN: true })], ({ threshold, within, steps }, near) => {
    const plain = plannedGate(limiterPlan(threshold, within), 0).gate;
    const nearing = plannedGate(nearPlan(threshold, within, near), 0).gate;
    expect(steps.map((step) => decided(nearing, step))).toEqual(steps.map((step) => decided(plain, step)));
  });
});

const shadowPlan = (threshold: number, within: number) =>
  planContract({ ...rateLimiter({ threshold, within }), shadow: true });

it('a shadow admits all, and moves, counts and waits as the limiter that it stands for', () => {
  forAll([anyLimiter], ({ threshold, within, steps }) => {
    const plain = plannedGate(limiterPlan(threshold, within), 0);
    const shadow = plannedGate(shadowPlan(threshold, within), 0);
    for (const { n, cycle } of steps) {
      plain.gate.decide(n, cycle);
      expect(shadow.gate.decide(n, cycle)).toBe(n);
      expect(retryAfterCycles(shadow.gate)).toBe(retryAfterCycles(plain.gate));
    }
    expect(shadow.transitions).toEqual(plain.transitions);
    expect([shadow.gate.count, shadow.gate.remaining]).toEqual([plain.gate.count, plain.gate.remaining]);
  });
});

it('a quota leads through all states that admit', () => {
  const plan = planContract(
    defined('steps', { calm: { initial: true }, busy: { admits: true }, full: {}, shut: {} }, [
      move('calm', 'busy', 'count > 3'),
      move('busy', 'full', 'count > 7'),
      move('full', 'shut', 'count > 9'),
      move('shut', 'calm', 'count == 0'),
    ]),
  );
  const { gate } = plannedGate(plan, 0);
  expect([plan.thresholds, gate.decide(20, 0)]).toEqual([[7], 7]);
});

/** Bursts with gaps, in cycles that only grow. */
const anyLimiter = fc
  .record({
    threshold: fc.integer({ min: 1, max: 12 }),
    within: fc.integer({ min: 1, max: 8 }),
    gaps: fc.array(fc.tuple(fc.nat(6), fc.integer({ min: 1, max: 15 })), { maxLength: 30 }),
  })
  .map(({ threshold, within, gaps }) => {
    let cycle = 0;
    const steps = gaps.map(([gap, n]) => {
      cycle += gap;
      return { n, cycle };
    });
    return { threshold, within, steps };
  });

function decided(gate: ReturnType<typeof plannedGate>['gate'], { n, cycle }: { n: number; cycle: number }) {
  const admitted = gate.decide(n, cycle);
  return { admitted, waits: retryAfterCycles(gate), remaining: gate.remaining, admits: gate.admits };
}
