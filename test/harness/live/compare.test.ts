import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import type { EventSeen } from '../../../src/harness/live/event-listener.js';
import { compare, type ObservedContract } from '../../../src/harness/live/findings-by-cycle.js';
import { type Arrived, type CountedAnswer, type Model, modelOf } from '../../../src/harness/live/model.js';
import { forAllAsync } from '../../draws.js';

const NAMES = ['a', 'b'];
const plan = planContract(rateLimiter({ threshold: 2, within: 4 }));
const options = { names: NAMES, plan, cycleMs: 777, firstCycle: 0, lastCycle: 12 };
const model = (arrived: readonly Arrived[]) => modelOf(arrived, options);

const known = { unknownFrom: Number.POSITIVE_INFINITY };

const transition = (cycle: number, to: string, count: number): EventSeen => ({ event: 'transition', cycle, to, count });
const event = (cycle: number, to: string): EventSeen => ({
  event: to === 'limiting' ? 'rate_limited' : 'rate_restored',
  cycle,
  to,
  count: undefined,
});

type Answered = { -readonly [K in keyof CountedAnswer]: CountedAnswer[K] } & Pick<Arrived, 'cycle'>;
type Seen = Pick<ObservedContract, 'contract'> & { readonly answered: Answered[]; readonly events: EventSeen[] };

/** What a target that is right would have shown of each contract: each transition, and the event that it emits. */
function seenOf(right: Model, arrived: readonly Arrived[]): Seen[] {
  const cycles = [...new Set(arrived.map(({ cycle }) => cycle))];
  return NAMES.map((contract, at) => ({
    contract,
    answered: cycles.flatMap((cycle) => right.answers(cycle, at).map((answer) => ({ ...answer, cycle }))),
    events: right.transitions[at]!.flatMap(({ cycle, to, count }) => [transition(cycle, to, count), event(cycle, to)]),
  }));
}

const differences = (seen: readonly ObservedContract[], right: Model) =>
  seen.flatMap((one, at) => compare(one, right, { ...known, at }));

const arrivals = fc.array(fc.record({ cycle: fc.nat(8), contract: fc.nat(1) }), { maxLength: 30 });

//  cycle      0  1  2  3  4  5  6
//  requests   1  3  .  .  .  .  .       threshold 2 within 4
//  count      1  4  4  4  3  0          trips at the second of cycle 1, restored in cycle 5
const ONCE: readonly Arrived[] = [0, 1, 1, 1].map((cycle) => ({ cycle, contract: 0 }));

it('a comparison shows no difference where target and model did the same, in whatever order answers came', async () => {
  await forAllAsync([arrivals, fc.nat()], async (arrived, turn) => {
    const right = await model(arrived);
    const turned = seenOf(right, arrived).map(({ answered, ...seen }) => {
      const at = turn % Math.max(1, answered.length);
      return { ...seen, answered: [...answered.slice(at), ...answered.slice(0, at)] };
    });
    expect(differences(turned, right)).toEqual([]);
  });
});

it('a comparison shows any one answer that was changed, in its cycle', async () => {
  await forAllAsync([arrivals, fc.nat(), fc.constantFrom('decision', 'count')], async (arrived, pick, what) => {
    fc.pre(arrived.length > 0);
    const right = await model(arrived);
    const seen = seenOf(right, arrived);
    const all = seen.flatMap(({ contract, answered }) => answered.map((answer) => ({ contract, answer })));
    const { contract, answer } = all[pick % all.length]!;
    if (what === 'count') answer.count! += 100;
    else answer.decision = answer.decision === 'admitted' ? 'limited' : 'admitted';
    const [first] = differences(seen, right);
    expect([first?.cycle, first?.contract]).toEqual([answer.cycle, contract]);
  });
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
])('a comparison names %s', async (_, change, expected) => {
  const right = await model(ONCE);
  const seen = seenOf(right, ONCE);
  change(seen[0]!.events);
  expect(differences(seen, right)).toEqual(expected.map((one) => ({ contract: 'a', ...one })));
});
