import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Family, families } from '../../../src/core/limiter/products/families.js';
import { mostStarts } from '../../../src/core/limiter/rule/most-starts.js';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import {
  familyLadder,
  fitLadder,
  type LadderPlan,
  RuleLadder,
  rungFor,
} from '../../../src/tools/recommend/rule-ladder.js';
import { forAll } from '../../draws.js';
import { adviceOn, file } from './logs.js';

const START_MS = 1_767_600_000_000;

interface Played {
  readonly key: number;
  readonly n: number;
  readonly ms: number;
}

/** What each rung refuses of each key if it decides all requests itself. */
function refusedAlone({ rungs }: LadderPlan, requests: readonly Played[]): number[][] {
  return rungs.map(({ definition }) => {
    const rule = ruleOf(definition);
    const states = new Map<number, unknown>();
    const refused = [0, 0, 0];
    for (const { key, n, ms } of requests) {
      if (!states.has(key)) states.set(key, rule.fresh(ms));
      for (let k = 0; k < n; k += 1) if (rule.admit(states.get(key), ms, 1, 0) === LIMITED) refused[key]! += 1;
    }
    return refused;
  });
}

const requests = fc
  .array(
    fc.record({
      key: fc.integer({ min: 0, max: 2 }),
      n: fc.integer({ min: 1, max: 4 }),
      // Mostly near each other, at times with a rest of some windows between.
      gap: fc.oneof(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 0, max: 1500 }), fc.constant(5000)),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((each) => {
    let ms = START_MS;
    return each.map(({ key, n, gap }): Played => {
      ms += gap;
      return { key, n, ms };
    });
  });

const refusedBy = (plan: LadderPlan, all: readonly Played[]) => {
  const ladder = new RuleLadder(plan);
  for (const { key, n, ms } of all) ladder.add(key, n, ms);
  return plan.rungs.map((_, rung) => [0, 1, 2].map((key) => ladder.limitedOf(key, rung)));
};

it.each(Object.keys(families) as Family[])('every rung of %s refuses what it refuses alone', (name) => {
  const plan = { ...familyLadder(name, 7, 100), rungs: familyLadder(name, 7, 100).rungs.slice(0, 12) };
  forAll([requests], (all) => {
    expect(refusedBy(plan, all)).toEqual(refusedAlone(plan, all));
  });
});

it.each([
  [{ like: 'nginx', burst: 3 }, 'rate=1r/s..9r/s:2r/s'],
  [{ primitive: 'token_bucket', params: { rate: 1, per_ms: 700, capacity: 1 } }, 'capacity=1..9:2'],
  [{ primitive: 'sliding_log', params: { limit: 1, window_ms: 300 } }, 'params.limit=1,3,5'],
])('every rung of %j with %s refuses what it refuses alone', (limiter, fit) => {
  const plan = fitLadder(limiter, fit, 777);
  forAll([requests], (all) => {
    expect(refusedBy(plan, all)).toEqual(refusedAlone(plan, all));
  });
});

it('a ladder has every limit up to 40, and then steps of at most 5 %', () => {
  const limits = familyLadder('gcra', 60, 777).rungs.map(({ value }) => Number(value));
  expect(limits.slice(0, 41)).toEqual(Array.from({ length: 41 }, (_, i) => (i < 40 ? i + 1 : 42)));
  expect(limits.slice(40).every((limit, i) => limit <= 1.05 * limits[i + 39]!)).toBe(true);
  expect(limits.at(-1)).toBeGreaterThan(95_000);
  expect(() => new RuleLadder(familyLadder('gcra', 1, 61))).not.toThrow();
});

it.each([
  [[9, 5, 2, 0], 0.03, 2],
  [[9, 5, 3, 0], 0.03, 3],
  [[9, 1, 4, 0], 0.03, 3],
  [[9, 5, 4, 1], 0, undefined],
  [[9, 5, 4, 0], 0, 3],
  [[0, 0], 0, 0],
])('%j limited of 100 are less than %f from rung %s on', (limited, share, rung) => {
  expect(rungFor(Float64Array.from(limited), share, 100)).toBe(rung);
});

// 10 in 46.62 s.
it.each([
  ['fixed', 20, 30],
  ['sliding-log', 10, 20],
  ['gcra', 10, 22],
  ['token-bucket', 10, 22],
  ['express-rate-limit', 19, 29],
  ['haproxy', 11, 23],
  ['nginx', 10, 22],
] as const)('a client that plays to %s gets %i through in a second, and %i in a minute', (name, second, minute) => {
  const definition = families[name]({ limit: 10, within: 60, cycleMs: 777 });
  expect([1000, 60_000].map((ms) => mostStarts(definition, ms).starts)).toEqual([second, minute]);
});

/** 60 people who come in bursts of three, now and then; a second half that is twice as busy. */
const crowd = file(
  'crowd.csv',
  [
    'ms,who',
    ...Array.from({ length: 60 }, (_, person) =>
      Array.from({ length: 24 }, (_, i) => `${START_MS + person * 777 + Math.floor(i / 3) * 600_000 + i},p${person}`),
    ).flat(),
    ...Array.from({ length: 3000 }, (_, i) => `${START_MS + i * 100},scraper`),
  ].join('\n'),
);

it('a limit is recommended for each rule, window and share, without the scraper', async () => {
  const options = { timeColumn: 'ms', keyColumn: 'who' };
  const rules = ['gcra', 'fixed'] as const;
  const plans = rules.flatMap((name) => [60, 7].map((within) => familyLadder(name, within, 777)));
  const { fitted, suspects } = await adviceOn(crowd, [60], options, plans);
  expect(suspects.map(({ key }) => key)).toEqual(['scraper']);
  expect(fitted.map(({ rule, within, limited_below, value }) => [rule, within, limited_below, value])).toEqual(
    rules.flatMap((rule) => [60, 7].flatMap((within) => [0.01, 0.001].map((share) => [rule, within, share, 3]))),
  );
  expect(fitted[0]).toMatchObject({ requests: 1440, limited: 0, keys_limited: 0, held_out: { value: 3, held: true } });
  expect(fitted[0]!.suspects_limited).toBeGreaterThan(2900);
});
