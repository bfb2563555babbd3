import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RetryBudgetPlan, retryBudget } from '../../../src/harness/clients/retry-limits.js';

/** Requests (`.`) and retries asked for (`r`) at given instants; `R` where the budget gave one. */
function play(plan: RetryBudgetPlan, events: readonly (readonly [ms: number, what: string])[]): string {
  const budget = retryBudget(plan, 0);
  return events
    .map(([ms, what]) =>
      [...what]
        .map((one) => {
          if (one === 'r') return budget.takeRetry(ms, 'failed') ? 'R' : 'r';
          budget.requested(ms);
          return one;
        })
        .join(''),
    )
    .join(' ');
}

// biome-ignore format: one case a line
it.each<[rule: string, plan: RetryBudgetPlan, given: [number, string][], taken: string]>([
  ['of nothing gives nothing', { share: 0, floor: 0, overMs: 1000 }, [[0, '..rr']], '..rr'],
  ['of one in two gives one retry to two requests', { share: 0.5, floor: 0, overMs: 1000 }, [[0, '.r.rr...rr']], '.r.Rr...Rr'],
  ['with a floor gives that without any request', { share: 0, floor: 2, overMs: 1000 }, [[0, 'rrr']], 'RRr'],
  ['of more than one allows more retries than requests', { share: 2, floor: 0, overMs: 1000 }, [[0, '.rrr']], '.RRr'],
  ['forgets requests and retries as they leave its window',
    { share: 0.5, floor: 0, overMs: 1000 }, [[0, '..rr'], [950, '..r'], [1050, 'rr'], [2200, 'r']], '..Rr ..R rr r'],
])('a budget %s', (_rule, plan, given, taken) => {
  expect(play(plan, given)).toBe(taken);
});

it('a budget never gives more than its share of the requests in its window, and its floor', () => {
  const plan = fc.record({
    share: fc.constantFrom(0, 0.1, 0.25, 1, 2),
    floor: fc.integer({ min: 0, max: 3 }),
    overMs: fc.constantFrom(10, 100, 1000),
  });
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.constantFrom('.', 'r')), { maxLength: 200 });
  fc.assert(
    fc.property(plan, steps, (given, moves) => {
      const budget = retryBudget(given, 0);
      const sliceMs = Math.ceil(given.overMs / 10);
      const seen: { slice: number; isRetry: boolean }[] = [];
      let ms = 0;
      for (const [gapMs, what] of moves) {
        ms += gapMs;
        const slice = Math.floor(ms / sliceMs);
        const recent = seen.filter((one) => slice - one.slice < 10);
        const retries = recent.filter(({ isRetry }) => isRetry).length;
        const allowed = retries + 1 <= given.share * (recent.length - retries) + given.floor;
        if (what === '.') {
          budget.requested(ms);
          seen.push({ slice, isRetry: false });
        } else {
          expect(budget.takeRetry(ms, 'failed')).toBe(allowed);
          if (allowed) seen.push({ slice, isRetry: true });
        }
      }
    }),
  );
});
