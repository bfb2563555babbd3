// A table of runs: a row for each run, cell, rule or client, and a column for each figure.
// Text, page and CSV are made from the same columns; sentences are those of the command.
//
//   threshold  held             limited        threshold,held,limited,limited.low,limited.high
//           2  0 of 3  280 [231, 314]     ──►  2,0,280.1,231.2,314
import { csvField } from '../harness/outcome/timeline.js';
import type { Table, TableCell } from './block.js';
import { number } from './words.js';

/** A mean with its 95 % interval; null for a single run. */
export interface Interval {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

type Value = string | number | Interval | undefined;

export interface RunColumn<Row> {
  readonly title: string;
  /** In CSV, where the title has no unit. */
  readonly field?: string;
  /** A column that no row has a value for is left out of texts. */
  readonly of: (row: Row) => Value;
  /** Of a row that has a value. Default: a number, with its interval. */
  readonly shown?: (row: Row) => TableCell;
  /** Names a row: a narrow terminal drops figures instead of cutting it. */
  readonly isName?: true;
  /** Default: numbers are on the right. */
  readonly side?: 'left' | 'right';
}

/** @param words of a value; default: a number, with its interval */
export function column<Row, One extends Exclude<Value, undefined>>(
  title: string,
  of: (row: Row) => One | undefined,
  words?: (value: One) => TableCell,
): RunColumn<Row> {
  if (words === undefined) return { title, of };
  return { title, of, shown: (row) => words(of(row)!) };
}

/** A column of names, on the left. */
export function rowName<Row, One extends Exclude<Value, undefined>>(
  ...[title, of, words]: Parameters<typeof column<Row, One>>
): RunColumn<Row> {
  return { ...column(title, of, words), isName: true, side: 'left' };
}

/** @param more rows may be fewer than the total */
export function runTable<Row>(
  columns: readonly RunColumn<Row>[],
  rows: readonly Row[],
  more: Omit<Partial<Table>, 'kind' | 'columns' | 'rows'> = {},
): Table {
  const present = columns.filter(({ of }) => rows.length === 0 || rows.some((row) => of(row) !== undefined));
  return {
    kind: 'table',
    ...more,
    columns: present.map(({ title, isName, side, of }) => {
      const isRight = side === undefined ? !rows.some((row) => typeof of(row) === 'string') : side === 'right';
      return { title, ...(isRight && { right: true }), ...(isName && { isName }) };
    }),
    rows: rows.map((row) => present.map((one) => cellOf(one, row))),
  };
}

function cellOf<Row>({ of, shown }: RunColumn<Row>, row: Row): TableCell {
  const value = of(row);
  if (value === undefined) return '–';
  if (shown !== undefined) return shown(row);
  return typeof value === 'object' ? intervalWords(value) : value;
}

/** Figures are never negative, so interval ends are not either. */
export function intervalWords({ mean, low, high }: Interval): string {
  const ends = low === null || high === null ? '' : ` [${number(Math.max(0, low))}, ${number(high)}]`;
  return `${number(mean)}${ends}`;
}

/** RFC 4180, with LF. A figure with intervals has three columns: figure, figure.low, figure.high. */
export function runTableCsv<Row>(columns: readonly RunColumn<Row>[], rows: readonly Row[]): string {
  const isMeasured = columns.map(({ of }) => rows.some((row) => typeof of(row) === 'object'));
  const heads = columns.flatMap(({ title, field = title }, index) =>
    isMeasured[index] ? [field, `${field}.low`, `${field}.high`] : [field],
  );
  const lines = rows.map((row) =>
    columns.flatMap(({ of }, index) => {
      const value = of(row);
      if (typeof value === 'object') return [value.mean, value.low ?? '', value.high ?? ''];
      return isMeasured[index] ? [value ?? '', '', ''] : [value ?? ''];
    }),
  );
  return [heads, ...lines].map((cells) => `${cells.map(csvField).join(',')}\n`).join('');
}
