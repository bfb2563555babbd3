// Reduces the points of long runs before drawing. Every peak, valley, transition and limiting interval remains visible.
//
//   steps      ▁▁▇▁▁▂▂▁▁▁▇▇  ->  the first, least, largest and last value of each column
//   intervals  ## #.#.#  ##  ->  all of them; gaps narrower than a column are closed
//   sums       1 0 4 2 0 0   ->  sums over bins of whole cycles, and the largest single cycle of each bin

/** Long runs are reduced to this many columns; no chart has more pixels. */
export const COLUMNS = 1_600;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** `ys[i]` holds over [xs[i], xs[i + 1]). Places ascend. */
export interface StepLine {
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

/** Keeps at most four values per column, which cover the same pixels. @param columns in the span, from 1 */
export function reduceSteps({ xs, ys }: StepLine, span: Span, columns = COLUMNS): StepLine {
  if (xs.length <= 4 * columns) return { xs, ys };
  const kept: { xs: number[]; ys: number[] } = { xs: [], ys: [] };
  let start = 0;
  while (start < xs.length) {
    const column = columnOf(xs[start]!, span, columns);
    let end = start;
    let least = start;
    let most = start;
    while (end < xs.length && columnOf(xs[end]!, span, columns) === column) {
      if (ys[end]! < ys[least]!) least = end;
      if (ys[end]! > ys[most]!) most = end;
      end += 1;
    }
    for (const index of new Set([start, Math.min(least, most), Math.max(least, most), end - 1])) {
      kept.xs.push(xs[index]!);
      kept.ys.push(ys[index]!);
    }
    start = end;
  }
  return kept;
}

/** Closes gaps narrower than a column, and no others. Yields at most `columns + 1` intervals. */
export function reduceIntervals(
  intervals: readonly (readonly [from: number, to: number])[],
  { from, to }: Span,
  columns = COLUMNS,
): [from: number, to: number][] {
  if (intervals.length <= columns) return intervals.map(([start, end]) => [start, end]);
  const width = (to - from) / columns;
  const joined: [number, number][] = [];
  for (const [start, end] of intervals) {
    const last = joined.at(-1);
    if (last !== undefined && start - last[1] < width) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

export function reduceMarks(marks: readonly number[], span: Span, columns = COLUMNS): number[] {
  if (marks.length <= columns) return [...marks];
  const seen = new Set<number>();
  return marks.filter((x) => {
    const column = columnOf(x, span, columns);
    return !seen.has(column) && seen.add(column);
  });
}

export interface Bins {
  /** Bin length in cycles: 1, 2 or 5 times a power of ten. */
  readonly size: number;
  readonly starts: readonly number[];
  readonly sums: readonly (readonly number[])[];
  readonly peaks: readonly number[];
}

/** At most `most` bins of equal length in the span. Rows ascend. */
export function binSums(
  rows: Iterable<readonly [x: number, ...values: number[]]>,
  { from, to }: Span,
  most: number,
): Bins {
  const size = binSize(to - from, most);
  const starts: number[] = [];
  const sums: number[][] = [];
  const peaks: number[] = [];
  for (const [x, ...values] of rows) {
    const start = from + Math.floor((x - from) / size) * size;
    if (starts.at(-1) !== start) {
      starts.push(start);
      sums.push(values.map(() => 0));
      peaks.push(0);
    }
    const sum = sums.at(-1)!;
    values.forEach((value, index) => {
      sum[index]! += value;
    });
    peaks[peaks.length - 1] = Math.max(peaks.at(-1)!, values[0] ?? 0);
  }
  return { size, starts, sums, peaks };
}

/** The smallest of 1, 2, 5, 10, 20, 50, ... with which `most` bins cover `span`. */
export function binSize(span: number, most: number): number {
  for (let power = 1; ; power *= 10) {
    for (const factor of [1, 2, 5]) if (span / (factor * power) <= most) return factor * power;
  }
}

function columnOf(x: number, { from, to }: Span, columns: number): number {
  return Math.floor(((x - from) / (to - from)) * columns);
}
