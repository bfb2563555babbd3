import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type StretchFigure, stretchFigures } from '../../../src/harness/outcome/figure-names.js';
import { type Past, stretchValues } from '../../../src/harness/outcome/interval-figures.js';
import { Timeline } from '../../../src/harness/outcome/timeline.js';
import { NaiveLimiter } from '../../core/limiter/naive-limiter.js';
import { forAll } from '../../draws.js';

/** What one contract did in one cycle. */
interface Cell {
  readonly requests: number;
  readonly admitted: number;
  readonly limited: number;
  readonly entries: number;
  readonly restores: number;
  /** 1 in a cycle that a limiting stretch covers: from its entry up to its restore, or to the last cycle of the run. */
  readonly limiting_cycles: number;
  readonly peak_count: number;
}

/** Every contract, cycle by cycle, one cell each: no cleverness. */
function past(counts: readonly (readonly number[])[], firstCycle: number, threshold: number, within: number) {
  const cycles = counts[0]!.length;
  const names = counts.map((_, index) => `c${index}`);
  const limiters = counts.map(() => new NaiveLimiter(threshold, within, firstCycle - 1));
  const timeline = new Timeline(names);
  const totals = new Timeline(['all']);
  const cells: Cell[][] = counts.map(() => []);
  for (let at = 0; at < cycles; at += 1) {
    const cycle = firstCycle + at;
    let [requests, admitted] = [0, 0];
    limiters.forEach((limiter, contract) => {
      const moves = limiter.transitions.length;
      const before = limiter.count;
      const n = counts[contract]![at]!;
      const decided = limiter.decide(n, cycle);
      const moved = limiter.transitions.slice(moves);
      cells[contract]!.push({
        requests: n,
        ...decided,
        entries: moved.filter(({ to }) => to === 'limiting').length,
        restores: moved.filter(({ to }) => to === 'allowing').length,
        limiting_cycles: limiter.state === 'limiting' && at < cycles - 1 ? 1 : 0,
        peak_count: limiter.count,
      });
      // Sparse, as a run keeps it: a row only where something is new.
      if (n > 0 || limiter.count !== before || moved.length > 0)
        timeline.add(cycle, contract, n, decided.admitted, limiter.count, limiter.state);
      requests += n;
      admitted += decided.admitted;
    });
    if (requests > 0) totals.add(cycle, 0, requests, admitted, 0, 'allowing');
  }
  const told: Past = {
    firstCycle,
    lastCycle: firstCycle + cycles - 1,
    names,
    timeline,
    totals,
    transitions: limiters.map(({ transitions }) => transitions),
    admits: (state) => state === 'allowing',
  };
  return { told, cells };
}

const naive = (figure: StretchFigure, cells: readonly Cell[]) =>
  figure === 'peak_count'
    ? Math.max(...cells.map((cell) => cell.peak_count))
    : cells.reduce((sum, cell) => sum + cell[figure], 0);

const runs = fc.record({
  counts: fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 3 })).chain(([cycles, contracts]) =>
    fc.array(
      fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 6 })), {
        minLength: cycles,
        maxLength: cycles,
      }),
      { minLength: contracts, maxLength: contracts },
    ),
  ),
  first: fc.constantFrom(0, -5, 2_305_120_007),
  threshold: fc.integer({ min: 1, max: 5 }),
  within: fc.integer({ min: 1, max: 8 }),
  from: fc.integer({ min: 0, max: 32 }),
  length: fc.option(fc.integer({ min: 1, max: 32 }), { nil: Number.POSITIVE_INFINITY }),
  window: fc.integer({ min: 1, max: 34 }),
  contract: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
});

describe.each([...stretchFigures])('%s', (figure) => {
  it('the figure over any stretch, and over every window in it, is that of the cells of its cycles', () => {
    forAll([runs], ({ counts, first, threshold, within, from, length, window, contract }) => {
      const { told, cells } = past(counts, first, threshold, within);
      const chosen = contract === undefined ? cells : contract < cells.length ? [cells[contract]!] : [];
      const name = contract === undefined ? undefined : `c${contract}`;
      const at = { from, to: from + length };
      const values = stretchValues(told);
      const end = Math.min(at.to, counts[0]!.length);
      if (chosen.length === 0 || from >= end) {
        expect(values(figure, window, at, name)).toBe(undefined);
        return;
      }
      const between = (a: number, b: number) =>
        naive(
          figure,
          chosen.flatMap((row) => row.slice(a, b)),
        );
      const windows = new Set<number>();
      for (let start = from; start <= Math.max(from, end - window); start += 1)
        windows.add(between(start, Math.min(end, start + window)));
      expect(values(figure, Number.POSITIVE_INFINITY, at, name)).toEqual(new Set([between(from, end)]));
      expect(new Set(values(figure, window, at, name))).toEqual(windows);
    });
  });
});

it('without rows of each contract, only what the totals and transitions say is known', () => {
  const { told } = past(
    [
      [3, 0, 9],
      [0, 1, 0],
    ],
    0,
    2,
    2,
  );
  const values = stretchValues({ ...told, timeline: undefined });
  const whole = (figure: StretchFigure, contract?: string) =>
    [...(values(figure, Number.POSITIVE_INFINITY, { from: 0, to: 3 }, contract) ?? [])][0];
  expect({
    requests: whole('requests'),
    ofOne: whole('requests', 'c0'),
    entries: whole('entries', 'c0'),
    peak: whole('peak_count'),
  }).toEqual({ requests: 13, ofOne: undefined, entries: 2, peak: undefined });
});
