import fc from 'fast-check';
import { expect, it } from 'vitest';
import { binSize, binSums, reduceIntervals, reduceMarks, reduceSteps, type StepLine } from '../../src/report/reduce.js';
import { forAll } from '../draws.js';

const SPAN = 10_000;
const WHOLE = { from: 0, to: SPAN };

const steps: fc.Arbitrary<StepLine> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: SPAN - 1 }), fc.integer({ min: 0, max: 500 })), {
    selector: ([x]) => x,
    maxLength: 2_000,
  })
  .map((pairs) => [...pairs].sort((a, b) => a[0] - b[0]))
  .map((pairs) => ({ xs: pairs.map(([x]) => x), ys: pairs.map(([, y]) => y) }));

const intervals: fc.Arbitrary<[number, number][]> = fc
  .uniqueArray(fc.integer({ min: 0, max: SPAN }), { maxLength: 1_000 })
  .map((ends) => [...ends].sort((a, b) => a - b))
  .map((ends) =>
    Array.from({ length: ends.length >> 1 }, (_, index): [number, number] => [ends[2 * index]!, ends[2 * index + 1]!]),
  );

const columns = fc.integer({ min: 1, max: 300 });
const columnOf = (x: number, n: number) => Math.floor((x / SPAN) * n);

/** By column: the first, least, most and last value. */
function extremes({ xs, ys }: StepLine, n: number): Map<number, object> {
  const found = new Map<number, { first: number; least: number; most: number; last: number }>();
  xs.forEach((x, index) => {
    const y = ys[index]!;
    const known = found.get(columnOf(x, n)) ?? { first: y, least: y, most: y, last: y };
    found.set(columnOf(x, n), { ...known, least: Math.min(known.least, y), most: Math.max(known.most, y), last: y });
  });
  return found;
}

it('reduceSteps keeps the first, the least, the most and the last value of every column', () => {
  forAll([steps, columns], (all, n) => {
    expect(extremes(reduceSteps(all, WHOLE, n), n)).toEqual(extremes(all, n));
  });
});

it('reduceSteps keeps only points that were there, in their order, and at most four a column', () => {
  forAll([steps, columns], (all, n) => {
    const kept = reduceSteps(all, WHOLE, n);
    const places = kept.xs.map((x) => all.xs.indexOf(x));
    expect(kept.ys).toEqual(places.map((place) => all.ys[place]));
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    expect(kept.xs.length).toBeLessThanOrEqual(4 * n);
  });
});

it('reduceIntervals closes gaps narrower than a column and no others', () => {
  forAll([intervals, columns], (all, n) => {
    const width = SPAN / n;
    const reduced = reduceIntervals(all, WHOLE, n);
    const starts = all.filter(([from], index) => all.length <= n || index === 0 || from - all[index - 1]![1] >= width);
    expect(reduced.map(([from]) => from)).toEqual(starts.map(([from]) => from));
    expect(all.every(([from, to]) => reduced.some(([start, end]) => start <= from && end >= to))).toBe(true);
    expect(reduced.at(-1)?.[1]).toBe(all.at(-1)?.[1]);
  });
});

it('reduceIntervals leaves at most one interval more than there are columns', () => {
  forAll([intervals, columns], (all, n) => {
    expect(reduceIntervals(all, WHOLE, n).length).toBeLessThanOrEqual(n + 1);
  });
});

it('reduceMarks keeps a mark in every column that has one', () => {
  forAll([fc.array(fc.integer({ min: 0, max: SPAN - 1 })), columns], (marks, n) => {
    const all = [...marks].sort((a, b) => a - b);
    const kept = reduceMarks(all, WHOLE, n);
    expect(new Set(kept.map((x) => columnOf(x, n)))).toEqual(new Set(all.map((x) => columnOf(x, n))));
    expect(kept.length).toBeLessThanOrEqual(Math.max(n, 1));
  });
});

it('binSums loses no request, and has the busiest cycle among its peaks', () => {
  forAll([steps, columns], ({ xs, ys }, n) => {
    const bins = binSums(
      xs.map((x, index) => [x, ys[index]!, 1] as const),
      WHOLE,
      n,
    );
    const sum = (column: number) => bins.sums.reduce((total, values) => total + values[column]!, 0);
    expect([sum(0), sum(1)]).toEqual(
      [ys.reduce((a, b) => a + b, 0), ys.length].map((total) => (xs.length === 0 ? 0 : total)),
    );
    expect(Math.max(0, ...bins.peaks)).toBe(Math.max(0, ...ys));
    expect(bins.starts.every((start) => start % bins.size === 0)).toBe(true);
  });
});

it.each([
  [3, 300, 1],
  [300, 300, 1],
  [301, 300, 2],
  [601, 300, 5],
  [384_693, 300, 2_000],
  [1_000_000, 300, 5_000],
])('%i cycles in at most %i bins make bins of %i cycles', (span, most, size) => {
  expect(binSize(span, most)).toBe(size);
});
