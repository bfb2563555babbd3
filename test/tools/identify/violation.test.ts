// A rule explains its own answers, behind any network of the drawn ones: the truth is never given up.
import { expect, it } from 'vitest';
import { evidenceOf } from '../../../src/tools/identify/evidence.js';
import { orderVerdict } from '../../../src/tools/identify/order-verdict.js';
import { parametersOf } from '../../../src/tools/identify/parameter-steps.js';
import { structures } from '../../../src/tools/identify/structures.js';
import { TOLERANCE_MS, violationOf } from '../../../src/tools/identify/violation.js';
import { askedAtRandom } from './asked-at-random.js';
import { randomLimiter } from './random-limiter.js';
import { answersAt, limiterOf } from './virtual.js';

const SEEDS = Array.from({ length: 150 }, (_, k) => k + 1);

it('the answers of each limiter are explained by its own rule and parameters, or never refute it', () => {
  const unexplained = SEEDS.flatMap((seed) => {
    const limiter = randomLimiter(seed);
    const evidence = evidenceOf(askedAtRandom(limiter, seed));
    const { structure, parameters } = limiter.hypothesis;
    const ways = [0.5, 0, 0.3, 0.7, 1].map((countedAt) => ({ structure, parameters: { ...parameters, countedAt } }));
    if (ways.some((way) => violationOf(way, evidence).ms <= TOLERANCE_MS)) return [];
    return [{ seed, proof: orderVerdict(limiter.hypothesis, evidence) }];
  });
  // Where the replay finds no order, the search of all orders finds one, or is given up: it never says that there is none.
  expect(unexplained.filter(({ proof }) => proof === 'refuted')).toEqual([]);
  expect(unexplained.length).toBeLessThanOrEqual(0.02 * SEEDS.length);
});

it('no rule that holds requests is refuted by its own answers, whatever order the replay takes', () => {
  const holding = SEEDS.map((seed) => ({ seed, limiter: randomLimiter(seed) })).filter(
    ({ limiter }) => limiter.hypothesis.structure.holds,
  );
  expect(holding.length).toBeGreaterThan(5);
  const verdicts = holding.map(({ seed, limiter }) => {
    const evidence = evidenceOf(askedAtRandom(limiter, seed));
    return { seed, verdict: orderVerdict(limiter.hypothesis, evidence) };
  });
  expect(verdicts.filter(({ verdict }) => verdict === 'refuted')).toEqual([]);
});

it.each([
  [0, 1],
  [1, 0],
  [2, 1],
])('no order explains a queue that lets %i go at once as one that lets %i go', (is, other) => {
  const hypothesisOf = (part: number) => {
    const structure = structures.find(({ id }) => id === `queue/${part}`)!;
    return { structure, parameters: { ...parametersOf(structure, 6, 100), part } };
  };
  const { structure, parameters } = hypothesisOf(is);
  const decide = limiterOf(structure.definition(parameters), 0);
  const bursts = Array.from({ length: 12 }, (_, k) => Array<number>(k % 2 === 0 ? 12 : 3).fill(10_000 + 2_000 * k));
  const evidence = evidenceOf(answersAt(decide, bursts.flat()));
  expect([evidence.isHeld, ...[is, other].map((part) => orderVerdict(hypothesisOf(part), evidence))]).toEqual([
    true,
    'explained',
    'refuted',
  ]);
});
