// Limiters drawn at random, in virtual time, behind latency and jitter. WEIR_CASES=500 looks at as many; `npm run tables -- identify` keeps the table.
import { expect, it } from 'vitest';
import { few, isAll } from '../../draws.js';
import { familyRows, identified } from './confusion.js';

const CASES = Number(process.env['WEIR_CASES'] ?? (isAll ? 60 : 1));
const FIRST = Number(process.env['WEIR_FIRST'] ?? 720_000);
/** Behind as much jitter as a token takes, no rule is named. */
const LEAST_NAMED = 0.95;

/** Limiters with a grid of their own: the spans that explain their answers lie in pieces. */
const IN_PIECES = [315, 210090, 340, 312, 338, 731];
/** A queue of 17, where one of 16 whose turns come a little sooner explains what is asked first; a meter named as a bucket. */
const NEAR_OTHERS = [140138, 4065];

it('no limiter gets the name of another, and the interval of a span holds it', { timeout: 1_200_000 }, ({ task }) => {
  const seeds = Array.from({ length: CASES }, (_, k) => FIRST + k);
  const cases = [...seeds, ...few(IN_PIECES, 1), ...few(NEAR_OTHERS, 1)].map(identified);
  task.meta.rows = familyRows(cases);
  const named = cases.filter(({ named, truth }) => named === truth.family);
  expect(named.length).toBeGreaterThanOrEqual(Math.floor(LEAST_NAMED * cases.length));
  expect(cases.filter(({ isWrong }) => isWrong).map(({ seed }) => seed)).toEqual([]);
  expect(cases.filter(({ isOutside }) => isOutside).map(({ seed }) => seed)).toEqual([]);
});

const found: readonly (readonly [what: string, seed: number])[] = [
  ['a counter in which refused requests count: any other window refuses all that follow', 603],
  ['one whose window may be off by a thousandth, where each shorter one misses the same answer', 140039],
  ['three segments, seen in 70 requests', 703],
  ['a queue that held nobody in the first answers', 628],
  ['a sliding log that ten segments come near to', 748],
  ['a fixed window that a bucket beside a count comes near to', 676],
  ['a fixed window longer than its block, where much shorter ones explain most answers', 738],
  ['ten segments, each three times as long as an instant is uncertain, in place of a log', 170038],
  ['a bucket that a tick fills up within the first burst', 150128],
  ['a sliding counter on a grid, in a window that is longer than all that was asked at first', 910],
];

it.each(few(found, 1))('the family of a limiter is found: %s', (_, seed) => {
  const { named, truth } = identified(seed);
  expect(named).toBe(truth.family);
});
