import fc from 'fast-check';
import { expect, it } from 'vitest';
import { restoresInCycles, retryAfterCycles } from '../../../src/core/limiter/forecast.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { forAll } from '../../draws.js';
import { defined, move } from './defined.js';
import { NaiveLimiter } from './naive-limiter.js';
import { limiterPlan, plannedGate } from './planned-gate.js';

/** Steps of a run: go on some cycles (gaps up to beyond the window), then n events at once, some of them late. */
const runs = fc.record({
  threshold: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(100)),
  within: fc.constantFrom(1, 2, 3, 10, 59, 60, 61, 10_000),
  start: fc.constantFrom(0, -(2 ** 31), 2 ** 31 - 3, 2_306_790_000, 2 ** 32 - 9, 2 ** 40),
  steps: fc.array(
    fc.record({
      gap: fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 8 }) },
        fc.integer({ min: 55, max: 65 }),
        fc.constant(20_000),
      ),
      n: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 90, max: 120 })),
      late: fc.option(fc.integer({ min: 0, max: 70 }), { freq: 3 }),
    }),
    { maxLength: 30 },
  ),
});

it('a gate decides, counts and moves as a list of every event says, over gaps, batches and late events', () => {
  forAll([runs], 300, ({ threshold, within, start, steps }) => {
    const { gate, transitions } = plannedGate(limiterPlan(threshold, within), start);
    const naive = new NaiveLimiter(threshold, within, start);
    let cycle = start;
    for (const { gap, n, late } of steps) {
      // The model looks at each cycle of a gap; a far one is as good as any that empties the window.
      cycle += Math.min(gap, within + 200);
      const happened = cycle - (late ?? 0);
      if (late === null || happened < start) {
        const admitted = gate.decide(n, cycle);
        expect({ admitted, limited: n - admitted }).toEqual(naive.decide(n, cycle));
      } else {
        gate.advance(cycle);
        naive.advance(cycle);
        const admitted = gate.decideLate(n, happened);
        if (late >= within) expect(admitted).toBeUndefined();
        else expect({ admitted, limited: n - admitted! }).toEqual(naive.decideAt(n, happened));
      }
      expect([gate.count, gate.plan.states[gate.state]!.name]).toEqual([naive.count, naive.state]);
    }
    expect(transitions).toEqual(naive.transitions);
  });
});

it('a gate goes on from its image as if it had never stopped', () => {
  forAll([runs, fc.nat(30)], 100, ({ threshold, within, start, steps }, cut) => {
    const plan = limiterPlan(threshold, within);
    const whole = plannedGate(plan, start);
    let { gate } = plannedGate(plan, start);
    let cycle = start;
    steps.forEach(({ gap, n }, index) => {
      cycle += gap;
      if (index === cut) {
        const image = JSON.parse(JSON.stringify(gate.image()));
        gate = plannedGate(plan, image.windows[0].cycle, image).gate;
      }
      expect(gate.decide(n, cycle)).toBe(whole.gate.decide(n, cycle));
    });
    expect(gate.image()).toEqual(whole.gate.image());
  });
});

it('millions of idle cycles are one step, and a restore on the way keeps its own cycle', () => {
  const { gate, transitions } = plannedGate(limiterPlan(100, 60), 0);
  gate.decide(150, 7);
  gate.decide(1, 7 + 50_000_000);
  expect(transitions).toEqual([
    { cycle: 7, to: 'limiting', count: 101 },
    { cycle: 67, to: 'allowing', count: 0 },
  ]);
  expect(gate.count).toBe(1);
});

it('counts beyond 2^32 in one cycle are exact', () => {
  const { gate } = plannedGate(limiterPlan(1_000_000_000, 60), 0);
  expect(gate.decide(2 ** 40, 3)).toBe(1_000_000_000);
  expect(gate.count).toBe(2 ** 40);
});

/** Whether a request that comes k cycles from now, alone, is admitted: asked of the slow model. */
const admittedAfter = (naive: NaiveLimiter, k: number) => naive.copy().decide(1, naive.cycle + k).admitted === 1;

it('retry_after_cycles is exact: waiting that long admits, one cycle less does not', () => {
  const small = fc.record({
    threshold: fc.integer({ min: 1, max: 8 }),
    within: fc.constantFrom(1, 2, 5, 30),
    steps: fc.array(fc.record({ gap: fc.integer({ min: 0, max: 6 }), n: fc.integer({ min: 0, max: 7 }) }), {
      maxLength: 20,
    }),
    hold: fc.option(
      fc.record({
        state: fc.constantFrom('allowing' as const, 'limiting' as const),
        cycles: fc.integer({ min: 1, max: 12 }),
      }),
    ),
  });
  forAll([small], 500, ({ threshold, within, steps, hold }) => {
    const plan = limiterPlan(threshold, within);
    let { gate } = plannedGate(plan, 0);
    const naive = new NaiveLimiter(threshold, within, 0);
    let cycle = 0;
    for (const { gap, n } of steps) {
      cycle += gap;
      gate.decide(n, cycle);
      naive.decide(n, cycle);
    }
    if (hold !== null) {
      const image = { ...gate.image(), state: hold.state, heldUntilCycle: cycle + hold.cycles };
      ({ gate } = plannedGate(plan, cycle, image));
      naive.hold(hold.state, hold.cycles);
    }
    const now = naive.copy().decideAt(1, cycle).admitted === 1;
    const retry = retryAfterCycles(gate)!;
    expect(retry === 0).toBe(now);
    if (retry > 0) {
      expect(admittedAfter(naive, retry)).toBe(true);
      if (retry > 1) expect(admittedAfter(naive, retry - 1)).toBe(false);
    }
    const restores = restoresInCycles(gate);
    expect(restores === undefined).toBe(gate.admits);
    if (restores !== undefined) {
      const later = naive.copy();
      later.advance(cycle + restores - 1);
      expect(later.state).toBe('limiting');
      later.advance(cycle + restores);
      expect(later.state).toBe('allowing');
    }
  });
});

it('a state that nothing leaves is never forecast to admit', () => {
  const fuse = defined('fuse', { whole: { initial: true }, blown: {} }, [move('whole', 'blown', 'count > 2')]);
  const { gate } = plannedGate(planContract(fuse), 0);
  expect(gate.decide(10, 0)).toBe(2);
  expect([retryAfterCycles(gate), restoresInCycles(gate)]).toEqual([undefined, undefined]);
});
