// Chooses the rows of a series: all of a short run; of a long one those without which a chart would look different.
//
//   a stretch of a long run      . : | .. _ ...   ->   first, last, and of every column the least and the most

/** A run is cut into at most so many stretches: more than a chart has pixels to tell apart. */
const STRETCHES = 1_000;

/** Runs with no more cycles a stretch are kept whole. */
const CYCLES_KEPT = 8;

/** null: nothing was measured in the cycle. */
export type SeriesRow = readonly [cycle: number, ...values: readonly (number | null)[]];

/** Takes the row of each cycle in turn; memory does not grow with the run. */
export class SeriesRows {
  readonly #stretch: number;
  readonly #kept: SeriesRow[] = [];
  #open: SeriesRow[] = [];

  /** @param cycles how many the run will have, or more */
  constructor(cycles: number) {
    this.#stretch = cycles <= STRETCHES * CYCLES_KEPT ? 1 : Math.ceil(cycles / STRETCHES);
  }

  add(row: SeriesRow): void {
    this.#open.push(row);
    if (this.#open.length === this.#stretch) this.#close();
  }

  /** The rows kept so far, in order of cycle. */
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

/** Where the least and the most of a column stand; nowhere when nothing was measured. */
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
