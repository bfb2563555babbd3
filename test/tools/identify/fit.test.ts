// The search for parameters must not lose those of the rule that gave the answers, when it starts from none.
import { expect, it } from 'vitest';
import { evidenceOf } from '../../../src/tools/identify/evidence.js';
import { fitted } from '../../../src/tools/identify/fit.js';
import { bucketsWithin } from '../../../src/tools/identify/search-starts.js';
import { isByToken } from '../../../src/tools/identify/structure.js';
import { TOLERANCE_MS } from '../../../src/tools/identify/violation.js';
import { few } from '../../draws.js';
import { askedAtRandom } from './asked-at-random.js';
import { randomLimiter } from './random-limiter.js';

const cases = few([...Array(41).keys()].slice(1), 14).map((seed) => {
  const limiter = randomLimiter(seed);
  return { seed, ...limiter.hypothesis, evidence: evidenceOf(askedAtRandom(limiter, seed)) };
});

it('the search finds parameters with which a rule gives its answers, except for estimates', () => {
  const others = cases.filter(({ structure }) => structure.family !== 'sliding counter');
  const missed = others.filter(({ structure, evidence }) => fitted(structure, evidence).violationMs > TOLERANCE_MS);
  expect(missed.map(({ seed }) => seed)).toEqual([]);
  expect(others.length / cases.length).toBeGreaterThan(0.75);
});

it('the search finds the limit and the time of a token of each bucket', () => {
  const buckets = cases.filter(({ structure }) => isByToken(structure) && structure.period === undefined);
  const missed = buckets.filter(({ structure, parameters: { limit, spanMs }, evidence }) => {
    if (structure.id === 'bucket-whole') return false;
    const near = bucketsWithin(evidence, spanMs / 10, spanMs * 10);
    return !near.some((one) => one.limit === limit && Math.abs(one.tokenMs / spanMs - 1) < 0.05);
  });
  expect(missed.map(({ seed }) => seed)).toEqual([]);
  expect(buckets.length / cases.length).toBeGreaterThan(0.15);
});
