// Limiters drawn at random, behind any network of the drawn ones: no bound, no replay and no search gives up the rule that gave the answers.
import { expect, it, vi } from 'vitest';
import { evidenceOf, type Seen } from '../../../src/tools/identify/evidence.js';
import { fitted } from '../../../src/tools/identify/fit.js';
import { admittedBefore, orderVerdict } from '../../../src/tools/identify/order-verdict.js';
import { parametersOf } from '../../../src/tools/identify/parameter-steps.js';
import { spansOf } from '../../../src/tools/identify/ranges.js';
import { bucketsWithin } from '../../../src/tools/identify/search-starts.js';
import { isByToken } from '../../../src/tools/identify/structure.js';
import { structures } from '../../../src/tools/identify/structures.js';
import { TOLERANCE_MS, violationOf } from '../../../src/tools/identify/violation.js';
import { windowSpansOf } from '../../../src/tools/identify/window-spans.js';
import { askedAtRandom } from './asked-at-random.js';
import { randomLimiter } from './random-limiter.js';
import { answersAt, limiterOf } from './virtual.js';

const cases = Array.from({ length: 300 }, (_, k) => {
  const [seed, limiter] = [k + 1, randomLimiter(k + 1)];
  return { seed, ...limiter.hypothesis, evidence: evidenceOf(askedAtRandom(limiter, seed)) };
});
const seedsOf = (some: typeof cases) => some.map(({ seed }) => seed);
const structureOf = (id: string) => structures.find((one) => one.id === id)!;

it('the span of each limiter that counts in windows is left open', () => {
  const windows = cases.filter(({ structure }) => structure.window !== undefined);
  const missed = windows.filter(({ structure, parameters, evidence }) => {
    const spans = windowSpansOf(structure, parameters.limit, evidence);
    return spans === undefined || parameters.spanMs < spans.least || parameters.spanMs > spans.most;
  });
  expect(seedsOf(missed)).toEqual([]);
  expect(windows.length).toBeGreaterThan(100);
});

it('the answers of each limiter are explained by its own rule and parameters, or never refute it', () => {
  const some = cases.slice(0, 150);
  const unexplained = some.filter(({ structure, parameters, evidence }) =>
    [0.5, 0, 0.3, 0.7, 1].every(
      (countedAt) => violationOf({ structure, parameters: { ...parameters, countedAt } }, evidence).ms > TOLERANCE_MS,
    ),
  );
  expect(unexplained.length).toBeLessThanOrEqual(0.02 * some.length);
  const holding = some.filter(({ structure }) => structure.holds);
  expect(holding.length).toBeGreaterThan(5);
  // The search of all orders finds one, or is given up: it never says that there is none, whatever order the replay takes.
  const refuted = [...unexplained, ...holding].filter((one) => orderVerdict(one, one.evidence) === 'refuted');
  expect(seedsOf(refuted)).toEqual([]);
});

it('the search finds parameters with which a rule gives its answers, except for estimates', () => {
  const others = cases.slice(0, 40).filter(({ structure }) => structure.family !== 'sliding counter');
  const missed = others.filter(({ structure, evidence }) => fitted(structure, evidence).violationMs > TOLERANCE_MS);
  expect(seedsOf(missed)).toEqual([]);
  expect(others.length).toBeGreaterThan(30);
});

it('the search finds the limit and the time of a token of each bucket', () => {
  const buckets = cases.slice(0, 40).filter(({ structure }) => isByToken(structure) && structure.period === undefined);
  const missed = buckets.filter(({ structure, parameters: { limit, spanMs }, evidence }) => {
    if (structure.id === 'bucket-whole') return false;
    const near = bucketsWithin(evidence, spanMs / 10, spanMs * 10);
    return !near.some((one) => one.limit === limit && Math.abs(one.tokenMs / spanMs - 1) < 0.05);
  });
  expect(seedsOf(missed)).toEqual([]);
  expect(buckets.length).toBeGreaterThan(6);
});

it.each([
  [0, 1],
  [1, 0],
  [2, 1],
])('no order explains a queue that lets %i go at once as one that lets %i go', (is, other) => {
  const hypothesisOf = (part: number) => {
    const structure = structureOf(`queue/${part}`);
    return { structure, parameters: { ...parametersOf(structure, 6, 100), part } };
  };
  const { structure, parameters } = hypothesisOf(is);
  const decide = limiterOf(structure.definition(parameters), 0);
  const bursts = Array.from({ length: 12 }, (_, k) => Array<number>(k % 2 === 0 ? 12 : 3).fill(10_000 + 2_000 * k));
  const evidence = evidenceOf(answersAt(decide, bursts.flat()));
  const verdicts = [is, other].map((part) => orderVerdict(hypothesisOf(part), evidence));
  expect([evidence.isHeld, ...verdicts]).toEqual([true, 'explained', 'refuted']);
});

const one = (sentMs: number, tookMs: number, decision: Seen['decision']): Seen => {
  return { key: 'one', sentMs, answeredMs: sentMs + tookMs, decision };
};

//   four bursts, and only the last of 15 is refused: what was counted before the first has left a window of 32 ms
it.each(['log', 'counter', 'segments/3'])('one search refutes every number that %s had counted before', (id) => {
  const bursts = [1, 2, 4, 8].flatMap((n, k) => Array<number>(n).fill(100 * k));
  const evidence = evidenceOf(bursts.map((ms, k) => one(ms + k / 50, 2, k === 14 ? 'limited' : 'admitted')));
  const known = structureOf(id);
  const structure = { ...known, definition: vi.fn(known.definition) };
  expect(admittedBefore({ structure, parameters: parametersOf(known, 40, 32) }, evidence)).toBeUndefined();
  // For what was counted before, and for the search.
  expect(structure.definition).toHaveBeenCalledTimes(2);
});

//   admitted at 0, 100, 200; refused at 900; admitted at 1010:  a log of three is longer than 900 and no longer than 1010
const seen = [0, 100, 200, 900, 1010].map((ms) => one(ms, 2, ms === 900 ? 'limited' : 'admitted'));

it.each([
  ['log', 3, [900, 1010]],
  ['segments/2', 3, [900, 2020]],
  // Four were there at 1010, with the refused one.
  ['log-refused', 3, [900, 910]],
  // No more than three were there before the refusal.
  ['log', 4, undefined],
  ['fixed', 3, [900, Infinity]],
  // Two windows are remembered.
  ['counter', 3, [450, Infinity]],
  // Four were admitted, where one or two more than the limit fit into a part of a window.
  ['counter', 2, [400, 2020]],
] as const)('the spans that the answers leave open to %s of %i are %j', (id, limit, expected) => {
  const spans = windowSpansOf(structureOf(id), limit, evidenceOf(seen));
  if (expected === undefined) {
    expect(spans).toBeUndefined();
    return;
  }
  const [least, most] = expected;
  expect(spans!.least).toBeGreaterThan(least - 5);
  expect(spans!.least).toBeLessThanOrEqual(least);
  expect(spans!.most).toBeGreaterThanOrEqual(most);
  expect(spans!.most).toBeLessThanOrEqual(most + 10);
});

//   admitted twice, refused, and blocked: at 1009 one is refused and one admitted, and which of them came first is not known
it('a refusal that a block may explain is not taken for one of the window', () => {
  const seen = [one(0, 2, 'admitted'), one(1, 2, 'admitted'), one(10, 2, 'limited'), one(1009, 6, 'limited')];
  const spans = windowSpansOf(structureOf('log-block'), 2, evidenceOf([...seen, one(1009.5, 6, 'admitted')]));
  expect(spans!.least).toBeLessThan(10);
});

it('a piece of spans is found that is far from the ends that were found', () => {
  const structure = structureOf('fixed');
  const pieces = [
    { least: 1_296, most: 1_409 },
    { least: 1_690, most: 1_720 },
  ];
  const violation = ({ spanMs }: { readonly spanMs: number }) =>
    Math.min(...pieces.map(({ least, most }) => Math.max(0, least - spanMs, spanMs - most)));
  const best = { structure, parameters: parametersOf(structure, 10, 1_350) };
  const found = spansOf(best, { least: 1_310, most: 1_400 }, violation, 1);
  expect(found.length).toBe(2);
  for (const [k, { least, most }] of pieces.entries()) {
    // As wide as the piece, and by no more than two steps of half the resolution wider.
    expect(found[k]!.least).toBeLessThanOrEqual(least);
    expect(found[k]!.most).toBeGreaterThanOrEqual(most);
    expect(least - found[k]!.least).toBeLessThan(0.011 * least);
    expect(found[k]!.most - most).toBeLessThan(0.011 * most);
  }
});
