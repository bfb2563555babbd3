// Requests without an answer were counted or not: a right node is never blamed for them, and one that is wrong in each world is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import type { EventSeen } from '../../../src/harness/live/event-listener.js';
import { compare, explainLost } from '../../../src/harness/live/findings-by-cycle.js';
import { type Arrived, type CountedAnswer, type Model, modelOf } from '../../../src/harness/live/model.js';
import type { Difference, TransitionSeen } from '../../../src/harness/outcome/outcome-schema.js';
import { forAllAsync } from '../../draws.js';

const plan = planContract(rateLimiter({ threshold: 2, within: 4 }));
const options = { names: ['a'], plan, cycleMs: 777, firstCycle: 0, lastCycle: 24 };
const known = { at: 0, unknownFrom: Number.POSITIVE_INFINITY };

/** What a right target reports of each transition. */
const reportOf = ({ cycle, to, count }: TransitionSeen): EventSeen[] => [
  { event: 'transition', cycle, to, count },
  { event: to === 'limiting' ? 'rate_limited' : 'rate_restored', cycle, to, count: undefined },
];

type Answered = CountedAnswer & Arrived;

function differencesOf(
  answered: readonly Answered[],
  lost: readonly number[],
  transitions?: Model['transitions'],
): Promise<readonly Difference[] | undefined> {
  const seen = { contract: 'a', answered, events: transitions?.[0]?.flatMap(reportOf) };
  return explainLost(answered, lost, options, (model) => compare(seen, model, known));
}

const answers = (cycle: number, counts: readonly number[]): Answered[] =>
  counts.map((count) => ({
    ...{ cycle, contract: 0, count },
    ...(count <= 2 ? { decision: 'admitted', state: 'allowing' } : { decision: 'limited', state: 'limiting' }),
  }));

//  cycle      0  1  2  3  4  5  6  7      threshold 2 within 4; one was sent in cycle 1 that has no answer
describe.each<[string, Record<number, number[]>, number | undefined]>([
  ['was not counted', { 0: [1], 1: [2, 3], 3: [4] }, undefined],
  ['was counted first', { 0: [1], 1: [3, 4], 3: [5] }, undefined],
  ['was counted in between', { 0: [1], 1: [2, 4], 3: [5] }, undefined],
  ['was counted last', { 0: [1], 1: [2, 3], 3: [5] }, undefined],
  ['was counted two cycles later', { 0: [1], 1: [2, 3], 2: [4], 3: [6], 6: [3] }, undefined],
  ['was counted twice', { 0: [1], 1: [2, 5], 3: [5] }, 1],
  ['was counted, and forgotten a cycle too early', { 0: [1], 1: [3, 4], 3: [5], 4: [4] }, 4],
  ['was counted, and forgotten a cycle too late', { 0: [1], 1: [3, 4], 5: [4] }, 5],
  ['was counted before it was sent', { 0: [2], 1: [3, 4] }, 0],
])('a request without an answer that %s', (_, counts, first) => {
  it(
    first === undefined ? 'the request is no difference' : `the request is a difference in cycle ${first}`,
    async () => {
      const answered = Object.entries(counts).flatMap(([cycle, own]) => answers(Number(cycle), own));
      const found = await differencesOf(answered, [1]);
      expect(found?.reduce((least, { cycle }) => Math.min(least, cycle), 99)).toBe(first ?? 99);
    },
  );
});

it('a limiter that limits nothing is found behind lost answers', async () => {
  const answered = Array.from({ length: 12 }, (_, cycle): Answered[] =>
    answers(cycle, [cycle + 1]).map((one) => ({ ...one, decision: 'admitted', state: 'allowing' })),
  );
  expect((await differencesOf(answered.flat(), [2, 5]))?.length).toBeGreaterThan(0);
});

it('nothing is concluded where the worlds are too many', async () => {
  const cycles = Array.from({ length: 12 }, (_, cycle) => ({ cycle, contract: 0 }));
  const right = await modelOf(cycles, options);
  // Nothing was told but whether requests were admitted, and the last answer is wrong.
  const answered = cycles.flatMap(({ cycle, contract }) =>
    right.answers(cycle, contract).map(
      ({ decision }): Answered => ({
        ...{ cycle, contract, count: undefined, state: undefined },
        decision: cycle === 11 ? 'admitted' : decision,
      }),
    ),
  );
  expect(await differencesOf(answered, [0, 0, 0, 0, 1, 1, 1, 1])).toBeUndefined();
});

/** Requests of some cycles; each is answered, or its answer is lost and it was counted in this cycle or a later one, or never. */
const requests = fc.array(
  fc.record({
    cycle: fc.nat(9),
    loses: fc.option(fc.constantFrom(0, 0, 1, 3, undefined), { freq: 5, nil: null }),
  }),
  { minLength: 1, maxLength: 14 },
);

it('a right node is never blamed', async () => {
  await forAllAsync([requests, fc.nat()], 250, async (all, turn) => {
    const counted = new Map<number, boolean[]>();
    const lost: number[] = [];
    const count = (cycle: number, isAnswered: boolean) =>
      counted.set(cycle, [...(counted.get(cycle) ?? []), isAnswered]);
    for (const { cycle, loses } of all) {
      if (loses === null) {
        count(cycle, true);
        continue;
      }
      lost.push(cycle);
      if (loses !== undefined) count(cycle + loses, false);
    }
    const arrived = [...counted].flatMap(([cycle, own]): Arrived[] => own.map(() => ({ cycle, contract: 0 })));
    const right = await modelOf(arrived, options);
    const answered = [...counted].flatMap(([cycle, own]) => {
      const at = turn % own.length;
      const order = [...own.slice(at), ...own.slice(0, at)];
      const told = right.answers(cycle, 0).filter((_, k) => order[k]);
      return told.map((answer) => ({ ...answer, cycle, contract: 0 }));
    });
    const found = await differencesOf(answered, lost, right.transitions);
    expect(found ?? []).toEqual([]);
  });
});
