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
  #length = 0;
  readonly #keys = new Uint32Array(MOST_ROWS);
  readonly #cycles = new Float64Array(MOST_ROWS);
  readonly #from = new Float64Array(MOST_ROWS);
  readonly #to = new Float64Array(MOST_ROWS);

  constructor(readonly suspects: () => ReadonlySet<number>) {}

  add(key: number, cycle: number, from: number, to: number): void {
    if (to <= this.floor) return;
    if (this.#length === MOST_ROWS) this.#thin();
    if (to <= this.floor || (this.leftOut.size > 0 && this.leftOut.has(key))) return;
    const row = this.#length++;
    this.#keys[row] = key;
    this.#cycles[row] = cycle;
    this.#from[row] = from;
    this.#to[row] = to;
  }

  *rows(): Generator<BusyRow> {
    for (let row = 0; row < this.#length; row += 1)
      yield { key: this.#keys[row]!, cycle: this.#cycles[row]!, from: this.#from[row]!, to: this.#to[row]! };
  }

  #thin(): void {
    const suspects = this.suspects();
    const before = this.#length;
    this.#keep((row) => !suspects.has(this.#keys[row]!));
    for (const key of suspects) this.leftOut.add(key);
    if (this.#length <= before / 2) return;
    this.floor = this.#to.slice(0, this.#length).sort()[this.#length >> 1]!;
    this.#keep((row) => this.#to[row]! > this.floor);
  }

  #keep(isKept: (row: number) => boolean): void {
    let kept = 0;
    for (let row = 0; row < this.#length; row += 1) {
      if (!isKept(row)) continue;
      this.#keys[kept] = this.#keys[row]!;
      this.#cycles[kept] = this.#cycles[row]!;
      this.#from[kept] = this.#from[row]!;
      this.#to[kept] = this.#to[row]!;
      kept += 1;
    }
    this.#length = kept;
  }
}
