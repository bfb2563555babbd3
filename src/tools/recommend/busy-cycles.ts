// When requests are limited: the rows (one key, one cycle) with the highest window counts, for one window.
//
//   counts |        *                *            only rows above the floor are kept; when the table is full,
//          |   *   **  *        *   ***           the lower half is dropped and the floor rises
//    floor |---------------------------
//
// For thresholds from the floor up the rows hold every limited request. Suspects are dropped first, so that one scraper does not evict
// all others.

const MOST_ROWS = 1 << 18;

/** Requests of one key in one cycle, with the window counts `from + 1 .. to`. */
export interface BusyRow {
  readonly key: number;
  readonly cycle: number;
  readonly from: number;
  readonly to: number;
}

export class BusyCycles {
  /** Rows are complete for thresholds from here up, except for `leftOut`. */
  floor = 0;
  readonly leftOut = new Set<number>();
  #rows: BusyRow[] = [];

  constructor(readonly suspects: () => ReadonlySet<number>) {}

  get rows(): readonly BusyRow[] {
    return this.#rows;
  }

  add(key: number, cycle: number, from: number, to: number): void {
    if (to <= this.floor) return;
    if (this.#rows.length === MOST_ROWS) this.#thin();
    if (to <= this.floor || this.leftOut.has(key)) return;
    this.#rows.push({ key, cycle, from, to });
  }

  #thin(): void {
    const suspects = this.suspects();
    this.#rows = this.#rows.filter(({ key }) => !suspects.has(key));
    for (const key of suspects) this.leftOut.add(key);
    const { length } = this.#rows;
    if (length <= MOST_ROWS / 2) return;
    this.floor = Float64Array.from(this.#rows, ({ to }) => to).sort()[length >> 1]!;
    this.#rows = this.#rows.filter(({ to }) => to > this.floor);
  }
}
