import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import type { EventSeen } from '../../../src/harness/live/event-listener.js';
import { compare, type ObservedRun } from '../../../src/harness/live/findings-by-cycle.js';
import { type Arrived, type Model, modelOf } from '../../../src/harness/live/model.js';

const NAMES = ['a', 'b'];
const plan = planContract(rateLimiter({ threshold: 2, within: 4 }));
const options = { names: NAMES, plan, cycleMs: 777, firstCycle: 0, lastCycle: 12 };
const model = (arrived: readonly Arrived[]) => modelOf(arrived, options);

const known = { plan, unknownFrom: Number.POSITIVE_INFINITY };

const transition = (cycle: number, to: string, count: number): EventSeen => ({ event: 'transition', cycle, to, count });
const event = (cycle: number, to: string): EventSeen => ({
  event: to === 'limiting' ? 'rate_limited' : 'rate_restored',
  cycle,
  to,
  count: undefined,
});

/** What a target that is right would have shown: each transition, and the event that it emits. */
function seenOf(right: Model, arrived: readonly Arrived[]): ObservedRun & { readonly events: EventSeen[][] } {
  return {
    cells: arrived.map(({ cycle, contract }) => ({ cycle, contract, answers: [...right.answers(cycle, contract)] })),
    events: right.transitions.map((all) =>
      all.flatMap(({ cycle, to, count }) => [transition(cycle, to, count), event(cycle, to)]),
    ),
  };
}

const arrivals = fc
  .array(fc.record({ cycle: fc.integer({ min: 0, max: 8 }), contract: fc.nat(1), n: fc.integer({ min: 1, max: 5 }) }))
  .map((all) => [...new Map(all.map((one) => [`${one.cycle}/${one.contract}`, one])).values()]);

//  cycle      0  1  2  3  4  5  6
//  requests   1  3  .  .  .  .  .       threshold 2 within 4
//  count      1  4  4  4  3  0          trips at the second of cycle 1, restored in cycle 5
const ONCE: readonly Arrived[] = [
  { cycle: 0, contract: 0, n: 1 },
  { cycle: 1, contract: 0, n: 3 },
];

describe('what a target did, held against the model', () => {
  it('shows no difference where both did the same, in whatever order the answers came', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, fc.nat(), async (arrived, turn) => {
        const right = await model(arrived);
        const { cells, ...rest } = seenOf(right, arrived);
        const turned = cells.map(({ answers, ...cell }) => {
          const at = turn % answers.length;
          return { ...cell, answers: [...answers.slice(at), ...answers.slice(0, at)] };
        });
        expect(compare(NAMES, { cells: turned, ...rest }, { ...known, model: right })).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('shows any one answer that was changed, in its cycle', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, fc.nat(), fc.constantFrom('decision', 'count'), async (arrived, pick, what) => {
        fc.pre(arrived.length > 0);
        const right = await model(arrived);
        const seen = seenOf(right, arrived);
        const { cycle, contract, answers } = seen.cells[pick % seen.cells.length]!;
        const place = pick % answers.length;
        const { admitted, count = 0, state } = answers[place]!;
        answers[place] =
          what === 'decision' ? { admitted: !admitted, count, state } : { admitted, count: count + 100, state };
        const [first] = compare(NAMES, seen, { ...known, model: right });
        expect([first?.cycle, first?.contract]).toEqual([cycle, NAMES[contract]]);
      }),
      { numRuns: 60 },
    );
  });

  //  events     transition to limiting, rate_limited, transition to allowing, rate_restored
  // biome-ignore format: one case a line
  it.each<[name: string, change: (events: EventSeen[]) => unknown, difference: object[]]>([
    ['a restore that comes a cycle early', (events) => events.splice(2, 1, transition(4, 'allowing', 3)), [
      { cycle: 4, figure: 'transition', predicted: null, observed: 'allowing' },
      { cycle: 5, figure: 'transition', predicted: 'allowing', observed: null },
    ]],
    ['a restore that never comes', (events) => events.splice(2), [
      { cycle: 5, figure: 'transition', predicted: 'allowing', observed: null },
      { cycle: 5, figure: 'event', predicted: 'rate_restored', observed: null },
    ]],
    ['a transition at another count', (events) => events.splice(0, 1, transition(1, 'limiting', 4)), [
      { cycle: 1, figure: 'count', predicted: 3, observed: 4, note: 'of the transition to limiting' },
    ]],
    ['an event that was told twice', (events) => events.unshift(event(1, 'limiting')), [
      { cycle: 1, figure: 'event', predicted: null, observed: 'rate_limited' },
    ]],
  ])('names %s', async (_, change, differences) => {
    const right = await model(ONCE);
    const seen = seenOf(right, ONCE);
    change(seen.events[0]!);
    const expected = differences.map((one) => ({ contract: 'a', ...one }));
    expect(compare(NAMES, seen, { ...known, model: right })).toEqual(expected);
  });
});
