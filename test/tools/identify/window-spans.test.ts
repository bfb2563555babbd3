// The spans that the instants of answers leave open: that of the limiter is one of them, and with another limit there may be none.
import { expect, it } from 'vitest';
import { evidenceOf, type Seen } from '../../../src/tools/identify/evidence.js';
import { structures } from '../../../src/tools/identify/structures.js';
import { windowSpansOf } from '../../../src/tools/identify/window-spans.js';
import { askedAtRandom } from './asked-at-random.js';
import { randomLimiter } from './random-limiter.js';

const SEEDS = Array.from({ length: 300 }, (_, k) => k + 1);

it('the span of each limiter that counts in windows is left open', () => {
  const cases = SEEDS.map((seed) => ({ seed, limiter: randomLimiter(seed) })).filter(
    ({ limiter }) => limiter.hypothesis.structure.window !== undefined,
  );
  const missed = cases.filter(({ seed, limiter }) => {
    const { structure, parameters } = limiter.hypothesis;
    const spans = windowSpansOf(structure, parameters.limit, evidenceOf(askedAtRandom(limiter, seed)));
    return spans === undefined || parameters.spanMs < spans.leastMs || parameters.spanMs > spans.mostMs;
  });
  expect(missed.map(({ seed }) => seed)).toEqual([]);
  expect(cases.length).toBeGreaterThan(100);
});

//   admitted at 0, 100, 200; refused at 900; admitted at 1010:  a log of three is longer than 900 and no longer than 1010
const seen = [0, 100, 200, 900, 1010].map(
  (sentMs): Seen => ({ key: 'one', sentMs, answeredMs: sentMs + 2, decision: sentMs === 900 ? 'limited' : 'admitted' }),
);

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
  const structure = structures.find((one) => one.id === id)!;
  const spans = windowSpansOf(structure, limit, evidenceOf(seen));
  if (expected === undefined) {
    expect(spans).toBeUndefined();
    return;
  }
  const [least, most] = expected;
  expect(spans!.leastMs).toBeGreaterThan(least - 5);
  expect(spans!.leastMs).toBeLessThanOrEqual(least);
  expect(spans!.mostMs).toBeGreaterThanOrEqual(most);
  expect(spans!.mostMs).toBeLessThanOrEqual(most + 10);
});

//   admitted twice, refused, and blocked: at 1009 one is refused and one admitted, and which of them came first is not known
it('a refusal that a block may explain is not taken for one of the window', () => {
  const one = (sentMs: number, tookMs: number, decision: Seen['decision']): Seen => ({
    key: 'one',
    sentMs,
    answeredMs: sentMs + tookMs,
    decision,
  });
  const seen = [one(0, 2, 'admitted'), one(1, 2, 'admitted'), one(10, 2, 'limited'), one(1009, 6, 'limited')];
  const structure = structures.find(({ id }) => id === 'log-block')!;
  const spans = windowSpansOf(structure, 2, evidenceOf([...seen, one(1009.5, 6, 'admitted')]));
  expect(spans!.leastMs).toBeLessThan(10);
});
