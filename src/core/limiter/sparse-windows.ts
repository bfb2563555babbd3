// Many rolling windows of one length, with cells only for cycles that have events.
//
//   ring      | 0 | 0 | 1 | 0 ... 0 | 3 | 0 |           60 cells of 8 bytes, whatever they hold
//   sparse    oldest ─► | cycle 12 | 1 | ─► | 40 | 3 |   2 cells of 16 bytes
//
// Pages of 32-bit fields: a million windows are few objects, and growing copies nothing. An event count takes two fields.
// Cycles are stored modulo 2^32: only ages matter.
import type { WindowImage } from './window.js';

/** Fields of a page, at most: 64 KB. */
const PAGE = 16_384;
const LONG = 2 ** 32;

/** Zero-initialized records of 32-bit fields, by number from 1. */
export class Records {
  readonly #pages: Uint32Array[] = [];
  readonly #fields: number;
  readonly #bits: number;
  readonly #mask: number;

  constructor(fields: number, most: number) {
    this.#fields = fields;
    this.#bits = Math.min(32 - Math.clz32(most), 31 - Math.clz32(PAGE / fields));
    this.#mask = (1 << this.#bits) - 1;
  }

  get(id: number, field: number): number {
    return this.#pages[id >>> this.#bits]![(id & this.#mask) * this.#fields + field]!;
  }

  set(id: number, field: number, value: number): void {
    this.#pages[id >>> this.#bits]![(id & this.#mask) * this.#fields + field] = value;
  }

  getLong(id: number, field: number): number {
    const page = this.#pages[id >>> this.#bits]!;
    const at = (id & this.#mask) * this.#fields + field;
    return page[at]! + page[at + 1]! * LONG;
  }

  setLong(id: number, field: number, value: number): void {
    const page = this.#pages[id >>> this.#bits]!;
    const at = (id & this.#mask) * this.#fields + field;
    page[at] = value;
    page[at + 1] = value / LONG;
  }

  reach(id: number): void {
    while (this.#pages.length <= id >>> this.#bits) this.#pages.push(new Uint32Array(this.#fields << this.#bits));
  }
}

/** Fields of a window, from its first one. Cells are numbered from 1; 0 is none. */
export const WINDOW_FIELDS = 4;

const EVENTS = 0;
const CYCLE = 2;
const NEXT = 3;
const CELL_FIELDS = 4;

export class SparseWindows {
  readonly within: number;
  readonly #windows: Records;
  readonly #count: number;
  readonly #oldest: number;
  readonly #newest: number;
  readonly #cells: Records;
  #lastCell = 0;
  #freeCell = 0;

  constructor(within: number, most: number, records: Records, field: number) {
    this.within = within;
    this.#windows = records;
    this.#count = field;
    this.#oldest = field + 2;
    this.#newest = field + 3;
    this.#cells = new Records(CELL_FIELDS, most * within);
  }

  advance(id: number, cycle: number): number {
    const windows = this.#windows;
    const cells = this.#cells;
    let count = windows.getLong(id, this.#count);
    let cell = windows.get(id, this.#oldest);
    if (cell === 0 || this.#age(cell, cycle) < this.within) return count;
    do {
      count -= cells.getLong(cell, EVENTS);
      const next = cells.get(cell, NEXT);
      this.#free(cell);
      cell = next;
    } while (cell !== 0 && this.#age(cell, cycle) >= this.within);
    windows.set(id, this.#oldest, cell);
    if (cell === 0) windows.set(id, this.#newest, 0);
    windows.setLong(id, this.#count, count);
    return count;
  }

  add(id: number, n: number, cycle: number): void {
    const windows = this.#windows;
    const cells = this.#cells;
    windows.setLong(id, this.#count, windows.getLong(id, this.#count) + n);
    const newest = windows.get(id, this.#newest);
    if (newest !== 0 && cells.get(newest, CYCLE) === cycle >>> 0) {
      cells.setLong(newest, EVENTS, cells.getLong(newest, EVENTS) + n);
      return;
    }
    const cell = this.#take();
    cells.setLong(cell, EVENTS, n);
    cells.set(cell, CYCLE, cycle);
    cells.set(cell, NEXT, 0);
    if (newest === 0) windows.set(id, this.#oldest, cell);
    else cells.set(newest, NEXT, cell);
    windows.set(id, this.#newest, cell);
  }

  fallsBelow(id: number, least: number, cycle: number): number {
    let count = this.advance(id, cycle);
    if (count < least) return cycle + 1;
    const cells = this.#cells;
    for (let cell = this.#windows.get(id, this.#oldest); cell !== 0; cell = cells.get(cell, NEXT)) {
      count -= cells.getLong(cell, EVENTS);
      if (count < least) return cycle - this.#age(cell, cycle) + this.within;
    }
    return Number.POSITIVE_INFINITY;
  }

  image(id: number, cycle: number): WindowImage {
    this.advance(id, cycle);
    const cells = this.#cells;
    const counts: number[] = [];
    for (let cell = this.#windows.get(id, this.#oldest); cell !== 0; cell = cells.get(cell, NEXT)) {
      counts.push(cells.getLong(cell, EVENTS), this.#age(cell, cycle));
    }
    return { cycle, counts: counts.reverse() };
  }

  restore(id: number, { cycle, counts }: WindowImage): void {
    for (let at = counts.length - 2; at >= 0; at -= 2) this.add(id, counts[at + 1]!, cycle - counts[at]!);
  }

  clear(id: number): void {
    for (let cell = this.#windows.get(id, this.#oldest); cell !== 0; ) {
      const next = this.#cells.get(cell, NEXT);
      this.#free(cell);
      cell = next;
    }
    for (let field = 0; field < WINDOW_FIELDS; field += 1) this.#windows.set(id, this.#count + field, 0);
  }

  #age(cell: number, cycle: number): number {
    return (cycle - this.#cells.get(cell, CYCLE)) >>> 0;
  }

  #take(): number {
    const free = this.#freeCell;
    if (free !== 0) {
      this.#freeCell = this.#cells.get(free, NEXT);
      return free;
    }
    this.#lastCell += 1;
    this.#cells.reach(this.#lastCell);
    return this.#lastCell;
  }

  #free(cell: number): void {
    this.#cells.set(cell, NEXT, this.#freeCell);
    this.#freeCell = cell;
  }
}
