// Counts the requests of a log by client and cycle, added in any order.
import { CYCLE_MS, cycleOf, startOf } from '../../core/time/cycle.js';
import type { RequestSink } from './log/intake.js';
import { spreadOverCycles } from './spread.js';

/** One key: ascending, distinct cycles and their counts. Read-only views. */
export interface KeyCounts {
  readonly cycles: Float64Array;
  readonly counts: Float64Array;
}

/** (key, cycle) pairs found without sorting; a power of two. An hour of one key is 4,634 cycles. */
const RECENT = 1 << 14;

const DIGIT_BITS = 11;
const DIGIT = 1 << DIGIT_BITS;

/**
 * One row per (key, cycle), in order of arrival. A key has no structure of its own: a million keys cost a million rows.
 *
 *   row     0    1    2    3    4    5            a repeated pair is found by its hash and its count increased;
 *   key     a    a    b    a    b    a            one that repeats much later gets a second row
 *   cycle   7    8    8    9    10   7            when full: sort rows by (key, cycle), merge equal ones, and make
 *   count   3    1    4    2    1    1            the columns four times as long unless half of them became free
 *
 * Memory is proportional to the distinct pairs, time to the requests.
 */
export class CycleTally implements RequestSink {
  requests = 0;
  readonly #cycleMs: number;
  readonly #ids = new Map<string, number>();
  #rows: Rows;
  #length = 0;
  #isOrdered = true;
  /** First row of each key once ordered, then the end. */
  #starts = new Uint32Array(1);
  readonly #recent = new Uint32Array(RECENT);
  #lastKey: string | undefined;
  #lastId = 0;
  #lastCycle = 0;
  #lastCycleFromMs = 0;
  #lastCycleToMs = 0;

  /** `cycleMs` is an integer >= 1; `capacity` is the initial number of rows, >= 2. */
  constructor(cycleMs = CYCLE_MS, capacity = 4096) {
    this.#cycleMs = cycleMs;
    this.#rows = emptyRows(capacity);
  }

  request(unixMs: number, n: number, key: string, spreadMs: number): void {
    const id = this.#idOf(key);
    if (spreadMs === 0 || n === 1) this.#add(id, this.#cycleAt(unixMs), n);
    else spreadOverCycles(unixMs, n, spreadMs, this.#cycleMs, (cycle, part) => this.#add(id, cycle, part));
  }

  keys(): IterableIterator<string> {
    return this.#ids.keys();
  }

  /** Empty for an unknown key. Valid until the next request. */
  inOrder(key: string): KeyCounts {
    if (!this.#isOrdered) this.#order();
    const id = this.#ids.get(key);
    const from = id === undefined ? 0 : this.#starts[id]!;
    const to = id === undefined ? 0 : this.#starts[id + 1]!;
    return { cycles: this.#rows.cycles.subarray(from, to), counts: this.#rows.counts.subarray(from, to) };
  }

  #idOf(key: string): number {
    if (key === this.#lastKey) return this.#lastId;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(key, id);
    }
    this.#lastKey = key;
    this.#lastId = id;
    return id;
  }

  /** `cycleOf`, without its division while the cycle stays the same. */
  #cycleAt(unixMs: number): number {
    if (unixMs < this.#lastCycleFromMs || unixMs >= this.#lastCycleToMs) {
      this.#lastCycle = cycleOf(unixMs, this.#cycleMs);
      this.#lastCycleFromMs = startOf(this.#lastCycle, this.#cycleMs);
      this.#lastCycleToMs = this.#lastCycleFromMs + this.#cycleMs;
    }
    return this.#lastCycle;
  }

  #add(id: number, cycle: number, n: number): void {
    this.requests += n;
    // Low bits of the cycle, offset by key: neighbouring cycles of a key take neighbouring slots.
    const slot = (cycle + Math.imul(id, 0x9e3779b1)) & (RECENT - 1);
    const row = this.#recent[slot]!;
    const rows = this.#rows;
    if (row < this.#length && rows.cycles[row] === cycle && rows.ids[row] === id) {
      rows.counts[row]! += n;
      return;
    }
    if (this.#length === rows.ids.length) this.#makeRoom();
    const at = this.#length++;
    this.#rows.ids[at] = id;
    this.#rows.cycles[at] = cycle;
    this.#rows.counts[at] = n;
    this.#recent[slot] = at;
    this.#isOrdered = false;
  }

  #makeRoom(): void {
    this.#order();
    const capacity = this.#rows.ids.length;
    if (this.#length > capacity / 2) this.#rows = copyRows(this.#rows, emptyRows(4 * capacity));
  }

  /** Moves each row once, to the rows of its key in order of cycle; then merges equal cycles. */
  #order(): void {
    const { ids, cycles, counts } = this.#rows;
    const length = this.#length;
    const byCycle = orderByCycle(cycles, length);
    const starts = new Uint32Array(this.#ids.size + 1);
    for (let row = 0; row < length; row++) starts[ids[row]! + 1]!++;
    for (let id = 1; id < starts.length; id++) starts[id]! += starts[id - 1]!;
    const sorted = emptyRows(ids.length);
    const places = starts.slice();
    for (let i = 0; i < length; i++) {
      const row = byCycle === undefined ? i : byCycle[i]!;
      const place = places[ids[row]!]!++;
      sorted.cycles[place] = cycles[row]!;
      sorted.counts[place] = counts[row]!;
    }
    let merged = 0;
    for (let id = 0, from = 0; id < this.#ids.size; id++) {
      const to = starts[id + 1]!;
      const first = merged;
      for (let row = from; row < to; row++) {
        const cycle = sorted.cycles[row]!;
        if (merged > first && sorted.cycles[merged - 1] === cycle) sorted.counts[merged - 1]! += sorted.counts[row]!;
        else {
          sorted.ids[merged] = id;
          sorted.cycles[merged] = cycle;
          sorted.counts[merged] = sorted.counts[row]!;
          merged++;
        }
      }
      from = to;
      starts[id + 1] = merged;
    }
    this.#rows = sorted;
    this.#length = merged;
    this.#starts = starts;
    this.#isOrdered = true;
  }
}

interface Rows {
  readonly ids: Uint32Array;
  readonly cycles: Float64Array;
  readonly counts: Float64Array;
}

function emptyRows(capacity: number): Rows {
  return {
    ids: new Uint32Array(capacity),
    cycles: new Float64Array(capacity),
    counts: new Float64Array(capacity),
  };
}

function copyRows(from: Rows, to: Rows): Rows {
  to.ids.set(from.ids);
  to.cycles.set(from.cycles);
  to.counts.set(from.counts);
  return to;
}

/** Radix sort in linear time, with as many digits as the range of cycles needs. Undefined if already in order. */
function orderByCycle(cycles: Float64Array, length: number): Uint32Array | undefined {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let isAscending = true;
  for (let row = 0; row < length; row++) {
    const cycle = cycles[row]!;
    if (cycle < last) isAscending = false;
    if (cycle < first) first = cycle;
    if (cycle > last) last = cycle;
  }
  if (isAscending) return undefined;
  let order = new Uint32Array(length);
  for (let row = 0; row < length; row++) order[row] = row;
  const digits = new Uint32Array(length);
  for (let weight = 1; weight <= last - first; weight *= DIGIT) {
    for (let row = 0; row < length; row++) digits[row] = ((cycles[row]! - first) / weight) & (DIGIT - 1);
    order = sortedBy(digits, order);
  }
  return order;
}

function sortedBy(digitOf: Uint32Array, order: Uint32Array): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(DIGIT + 1);
  for (let i = 0; i < order.length; i++) places[digitOf[order[i]!]! + 1]!++;
  for (let digit = 0; digit < DIGIT; digit++) places[digit + 1]! += places[digit]!;
  const sorted = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    sorted[places[digitOf[row]!]!++] = row;
  }
  return sorted;
}
