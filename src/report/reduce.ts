// Owns making long runs small enough to draw without losing what matters: no peak, no valley, no transition, no stretch of a column.
// Leaves what is drawn to chart/.
//
//   steps      ▁▁▇▁▁▂▂▁▁▁▇▇  ->  of each column the first, the least, the most and the last value, where they stood
//   stretches  ## #.#.#  ##  ->  all of them; gaps too narrow to be seen are closed
//   sums       1 0 4 2 0 0   ->  sums over whole numbers of cycles, beside the largest single cycle of each

/** A value that holds from its place until the next one: `ys[i]` over [xs[i], xs[i + 1]). Places ascend. */
export interface Steps {
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

/**
 * At most four of a column's values are kept; a line through them covers the same pixels as one through all.
 * Nothing is dropped when there are no more than four values a column anyway.
 * @param columns how many columns the stretch [from, to) is drawn with, at least 1
 */
export function reduceSteps({ xs, ys }: Steps, from: number, to: number, columns: number): Steps {
  if (xs.length <= 4 * columns) return { xs, ys };
  const kept: { xs: number[]; ys: number[] } = { xs: [], ys: [] };
  let start = 0;
  while (start < xs.length) {
    const column = columnOf(xs[start]!, from, to, columns);
    let end = start;
    let least = start;
    let most = start;
    while (end < xs.length && columnOf(xs[end]!, from, to, columns) === column) {
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

/**
 * Joins stretches that a reader could not tell apart: gaps narrower than a column are closed, and no other. Everything that was
 * covered stays covered; at most `columns + 1` stretches are left.
 */
export function reduceStretches(
  stretches: readonly (readonly [from: number, to: number])[],
  from: number,
  to: number,
  columns: number,
): [from: number, to: number][] {
  if (stretches.length <= columns) return stretches.map(([start, end]) => [start, end]);
  const width = (to - from) / columns;
  const joined: [number, number][] = [];
  for (const [start, end] of stretches) {
    const last = joined.at(-1);
    if (last !== undefined && start - last[1] < width) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** Of marks in one column the first stands for all: they would be drawn over one another. */
export function reduceMarks(marks: readonly number[], from: number, to: number, columns: number): number[] {
  if (marks.length <= columns) return [...marks];
  const seen = new Set<number>();
  return marks.filter((x) => {
    const column = columnOf(x, from, to, columns);
    return !seen.has(column) && seen.add(column);
  });
}

export interface Bins {
  /** Length of a bin in cycles: 1, 2 or 5 times a power of ten. */
  readonly size: number;
  /** Where each bin with anything in it begins. */
  readonly starts: readonly number[];
  /** By bin, one for each value of a row. */
  readonly sums: readonly (readonly number[])[];
  /** By bin: the largest first value of a single row. */
  readonly peaks: readonly number[];
}

/** Sums the values of rows over stretches of the same length, so that at most `most` cover [from, to). Rows ascend. */
export function binSums(
  rows: Iterable<readonly [x: number, ...values: number[]]>,
  from: number,
  to: number,
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

function columnOf(x: number, from: number, to: number, columns: number): number {
  return Math.floor(((x - from) / (to - from)) * columns);
}
