import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type SeriesRow, SeriesRows } from '../../../src/harness/simulate/series-recorder.js';

const keep = (rows: readonly SeriesRow[], cycles = rows.length) => {
  const kept = new SeriesRows(cycles);
  for (const row of rows) kept.add(row);
  return kept.rows();
};
const value = fc.option(fc.integer({ min: 0, max: 50 }));

it('all rows of a series of up to 8,000 cycles are kept', () => {
  const rows = Array.from({ length: 8_000 }, (_, cycle): SeriesRow => [cycle, cycle % 7]);
  expect(keep(rows)).toEqual(rows);
});

it('a series of more cycles keeps the first and last row of each stretch, and the extremes of each column', () => {
  // 10,000 cycles are 1,000 stretches of ten.
  const quiet = (cycle: number): SeriesRow => [cycle, 3, null];
  const rows = Array.from({ length: 20 }, (_, cycle) => quiet(cycle));
  rows[2] = [2, 9, null];
  rows[4] = [4, 1, null];
  rows[7] = [7, 3, 5];
  expect(keep(rows, 10_000)).toEqual([quiet(0), rows[2], rows[4], rows[7], quiet(9), quiet(10), quiet(19)]);
});

it('kept rows lose no extreme of any column, stay in order, and are few', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 400 }),
      fc.integer({ min: 1, max: 60_000 }),
      (columns, cycles) => {
        const rows = columns.map((values, cycle): SeriesRow => [cycle, ...values]);
        const kept = keep(rows, cycles);
        const extremes = (of: readonly SeriesRow[], column: number) => {
          const values = of.flatMap(({ [column]: one }) => (one === null || one === undefined ? [] : [one]));
          return [Math.min(...values), Math.max(...values)];
        };
        const stretches = Math.ceil(rows.length / Math.max(1, Math.ceil(cycles / 1_000)));
        expect([1, 2].map((column) => extremes(kept, column))).toEqual([1, 2].map((column) => extremes(rows, column)));
        expect(kept).toEqual(rows.filter((row) => kept.includes(row)));
        if (cycles > 8_000) expect(kept.length).toBeLessThanOrEqual(6 * stretches);
      },
    ),
  );
});
