// The rows of a series that a chart needs: all rows of a short run, or the ends and extremes of each interval of a long one.
//
//   an interval of a long run    . : | .. _ ...   ->   first, last, minimum and maximum of every column

const STRETCHES = 1_000;

/** Runs with at most this many cycles per interval are kept whole. */
const CYCLES_KEPT = 8;

export type SeriesRow = readonly [cycle: number, ...values: readonly (number | null)[]];

export class SeriesRows {
  readonly #stretch: number;
  readonly #kept: SeriesRow[] = [];
  #open: SeriesRow[] = [];

  constructor(cycles: number) {
    this.#stretch = cycles <= STRETCHES * CYCLES_KEPT ? 1 : Math.ceil(cycles / STRETCHES);
  }

  add(row: SeriesRow): void {
    this.#open.push(row);
    if (this.#open.length === this.#stretch) this.#close();
  }

  rows(): readonly SeriesRow[] {
    this.#close();
    return this.#kept;
  }

  #close(): void {
    const rows = this.#open;
    this.#open = [];
    const first = rows[0];
    if (first === undefined) return;
    const indexes = new Set([0, rows.length - 1]);
    for (let column = 1; column < first.length; column += 1) {
      for (const index of extremes(rows, column)) indexes.add(index);
    }
    for (const index of [...indexes].sort((a, b) => a - b)) this.#kept.push(rows[index]!);
  }
}

function extremes(rows: readonly SeriesRow[], column: number): number[] {
  let least: number | undefined;
  let most: number | undefined;
  rows.forEach(({ [column]: value }, index) => {
    if (value === null || value === undefined) return;
    if (least === undefined || value < rows[least]![column]!) least = index;
    if (most === undefined || value > rows[most]![column]!) most = index;
  });
  return least === undefined || most === undefined ? [] : [least, most];
}
