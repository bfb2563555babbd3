import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { planContract } from '../../src/limiter/validate.js';
import { compare, type EventSeen, type ObservedRun } from '../../src/live/findings-by-cycle.js';
import { type Arrived, type Model, modelOf } from '../../src/live/model.js';
import type { TransitionSeen } from '../../src/outcome/outcome-schema.js';

const NAMES = ['a', 'b'];
const plan = planContract(rateLimiter({ threshold: 2, within: 4 }));
const options = { names: NAMES, plan, cycleMs: 777, firstCycle: 0, lastCycle: 12 };
const model = (arrived: readonly Arrived[]) => modelOf(arrived, options);

const emits = (_from: string | undefined, to: string) => [to === 'limiting' ? 'rate_limited' : 'rate_restored'];
const known = { initial: 'allowing', emits, unknownFrom: () => Number.POSITIVE_INFINITY };

/** What a target that is right would have shown. */
function seenOf(right: Model, arrived: readonly Arrived[]): ObservedRun {
  const transitions = right.transitions.map((all) => [...all]);
  return {
    cells: arrived.map(({ cycle, contract }) => ({ cycle, contract, answers: [...right.answers(cycle, contract)] })),
    transitions,
    events: transitions.map((all) =>
      all.map(({ cycle, to }): EventSeen => ({ cycle, event: emits(undefined, to)[0]! })),
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

  interface Row {
    readonly name: string;
    readonly change: (seen: { transitions: TransitionSeen[][]; events: EventSeen[][] }) => unknown;
    readonly difference: readonly object[];
  }
  const rows: Row[] = [
    {
      name: 'a restore that comes a cycle early',
      change: ({ transitions }) => transitions[0]!.splice(1, 1, { cycle: 4, to: 'allowing', count: 3 }),
      difference: [
        { cycle: 4, contract: 'a', figure: 'transition', predicted: null, observed: 'allowing' },
        { cycle: 5, contract: 'a', figure: 'transition', predicted: 'allowing', observed: null },
      ],
    },
    {
      name: 'a restore that never comes',
      change: ({ transitions, events }) => [transitions[0]!.pop(), events[0]!.pop()],
      difference: [
        { cycle: 5, contract: 'a', figure: 'transition', predicted: 'allowing', observed: null },
        { cycle: 5, contract: 'a', figure: 'event', predicted: 'rate_restored', observed: null },
      ],
    },
    {
      name: 'a transition at another count',
      change: ({ transitions }) => transitions[0]!.splice(0, 1, { cycle: 1, to: 'limiting', count: 4 }),
      difference: [
        {
          cycle: 1,
          contract: 'a',
          figure: 'count',
          predicted: 3,
          observed: 4,
          note: 'of the transition to limiting',
        },
      ],
    },
    {
      name: 'an event that was told twice',
      change: ({ events }) => events[0]!.unshift({ cycle: 1, event: 'rate_limited' }),
      difference: [{ cycle: 1, contract: 'a', figure: 'event', predicted: null, observed: 'rate_limited' }],
    },
  ];

  it.each(rows)('names $name', async ({ change, difference }) => {
    const right = await model(ONCE);
    const seen = seenOf(right, ONCE) as ObservedRun & { transitions: TransitionSeen[][]; events: EventSeen[][] };
    change(seen);
    expect(compare(NAMES, seen, { ...known, model: right })).toEqual(difference);
  });
});
