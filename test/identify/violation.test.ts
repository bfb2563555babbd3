// A rule explains its own answers, behind any network of the drawn ones: the truth is never given up.
import { expect, it } from 'vitest';
import { evidenceOf } from '../../src/identify/evidence.js';
import { orderVerdict } from '../../src/identify/order-verdict.js';
import { TOLERANCE_MS, violationOf } from '../../src/identify/violation.js';
import { askedAtRandom } from './asked-at-random.js';
import { randomLimiter } from './random-limiter.js';

const SEEDS = Array.from({ length: 150 }, (_, k) => k + 1);

it('explains the answers of each limiter by its own rule and parameters', () => {
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
