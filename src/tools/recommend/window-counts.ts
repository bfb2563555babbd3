// The window counts of all requests of all keys, for several window lengths at once. Refused requests count too, so the counts do
// not depend on the threshold, and the limited share of every threshold follows from them.
//
//   cycle      1     2     3            within 2: a request's count is its position in the window
//   requests   ||    |     |||          counts  1 2 | 3 | 2 3 4        limited at threshold t: those with a count above t
//                                       t = 1: 5    t = 2: 3    t = 3: 1    t = 4: 0
//
// A batch of n requests that finds b in the window has the counts b + 1 .. b + n, stored as a difference: +1 at b + 1, -1 at
// b + n + 1. Memory: 20 bytes per key and cycle in the longest window at the key's last request, and 4 bytes per key, window and
// count up to the largest; nothing grows with the number of requests.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { lengthened } from '../../core/math/lengthened.js';

const NONE = -1;

const DENSE = 1 << 20;

/** Place i belongs to count i + 1. */
type TakeDifference = (place: number, difference: number) => void;

export type CountedRequests = Pick<KeyWindowCounts, 'requests' | 'requestsOf' | 'differencesOf'>;

export class KeyWindowCounts {
  requests = 0;
  #room = 0;
  #keys = 0;
  #requestsOf = new Float64Array(0);
  #newest = new Int32Array(0);
  #oldest = new Int32Array(0);
  #count = new Float64Array(0);
  #peak = new Float64Array(0);
  #at = new Uint32Array(0);
  #size = new Int32Array(0);
  readonly #above = new Map<number, Map<number, number>>();
  // Rows (one key, one cycle) inside a window, as lists from old to new.
  #cycles = new Float64Array(1024);
  #counts = new Float64Array(1024);
  #next = new Int32Array(1024);
  #rows = 0;
  #free = NONE;
  // The differences of all keys and windows, in blocks of 4, 8, 16, …
  #differences = new Int32Array(4096);
  #used = 0;
  readonly #blocks = new Map<number, number[]>();
  /** Windows by length: rows that leave the last are freed. */
  readonly #order: readonly number[];

  constructor(readonly windowCycles: readonly number[]) {
    this.#order = windowCycles.map((_, window) => window).sort((a, b) => windowCycles[a]! - windowCycles[b]!);
  }

  get keys(): number {
    return this.#keys;
  }

  requestsOf(key: number): number {
    return this.#requestsOf[key] ?? 0;
  }

  peakOf(key: number, window: number): number {
    return this.#peak[key * this.windowCycles.length + window]!;
  }

  countOf(key: number, window: number): number {
    return this.#count[key * this.windowCycles.length + window]!;
  }

  /** Cycles ascend and may repeat. @param amount the cost; differs from `n` only if `n` is 1 */
  add(key: number, n: number, cycle: number, amount = n): void {
    if (key >= this.#keys) this.#meet(key);
    this.requests += n;
    this.#requestsOf[key]! += n;
    const newest = this.#newest[key]!;
    const isSame = newest !== NONE && this.#cycles[newest] === cycle;
    const first = key * this.windowCycles.length;
    for (const window of this.#order) this.#leave(first + window, cycle - this.windowCycles[window]!);
    // `isSame` cannot refer to a freed row: rows of the current cycle have left no window.
    if (isSame) this.#counts[newest]! += amount;
    else this.#enter(key, first, cycle, amount);
    for (let i = first; i < first + this.windowCycles.length; i += 1) {
      const after = this.#count[i]! + amount;
      // A request that costs more than 1 has only its highest count.
      const before = after - n;
      this.#count[i] = after;
      if (after > this.#peak[i]!) this.#peak[i] = after;
      if (after < this.#size[i]!) {
        const at = this.#at[i]!;
        this.#differences[at + before]! += 1;
        this.#differences[at + after]! -= 1;
      } else {
        this.#differ(i, before, 1);
        this.#differ(i, after, -1);
      }
    }
  }

  soFar(): CountedRequests {
    const copy = new KeyWindowCounts(this.windowCycles);
    const keys = this.#keys;
    const each = keys * this.windowCycles.length;
    copy.requests = this.requests;
    copy.#keys = keys;
    copy.#requestsOf = this.#requestsOf.slice(0, keys);
    copy.#peak = this.#peak.slice(0, each);
    copy.#at = this.#at.slice(0, each);
    copy.#size = this.#size.slice(0, each);
    copy.#differences = this.#differences.slice(0, this.#used);
    for (const [i, above] of this.#above) copy.#above.set(i, new Map(above));
    return copy;
  }

  differencesOf(key: number, window: number, take: TakeDifference): void {
    if (key >= this.#keys) return;
    const i = key * this.windowCycles.length + window;
    const at = this.#at[i]!;
    const size = Math.min(this.#size[i]!, this.#peak[i]! + 1);
    for (let place = 0; place < size; place += 1) {
      const difference = this.#differences[at + place]!;
      if (difference !== 0) take(place, difference);
    }
    this.#above.get(i)?.forEach((difference, place) => {
      take(place, difference);
    });
  }

  limitedOf(key: number, window: number, threshold: number): number {
    const peak = this.peakOf(key, window);
    if (peak <= threshold) return 0;
    // A batch from one place to another has (end - begin) requests; this counts those above the threshold.
    let limited = 0;
    this.differencesOf(key, window, (place, difference) => {
      limited += difference * (peak - Math.max(place, threshold));
    });
    return limited;
  }

  /** Drops the rows of cycles up to `last` from a window; the longest window frees them. */
  #leave(i: number, last: number): void {
    let row = this.#oldest[i]!;
    if (row === NONE || this.#cycles[row]! > last) return;
    const isLongest = i % this.windowCycles.length === this.#order.at(-1);
    let count = this.#count[i]!;
    while (row !== NONE && this.#cycles[row]! <= last) {
      count -= this.#counts[row]!;
      const next = this.#next[row]!;
      if (isLongest) {
        this.#next[row] = this.#free;
        this.#free = row;
      }
      row = next;
    }
    this.#oldest[i] = row;
    this.#count[i] = count;
  }

  #enter(key: number, first: number, cycle: number, n: number): void {
    const windows = this.windowCycles.length;
    const isEmpty = this.#oldest[first + this.#order.at(-1)!]! === NONE;
    let row = this.#free;
    if (row !== NONE) this.#free = this.#next[row]!;
    else {
      if (this.#rows === this.#cycles.length) this.#growRows();
      row = this.#rows++;
    }
    this.#cycles[row] = cycle;
    this.#counts[row] = n;
    this.#next[row] = NONE;
    if (!isEmpty) this.#next[this.#newest[key]!] = row;
    this.#newest[key] = row;
    for (let i = first; i < first + windows; i += 1) if (this.#oldest[i] === NONE) this.#oldest[i] = row;
  }

  #differ(i: number, place: number, difference: number): void {
    if (place >= DENSE) {
      const above = this.#above.get(i) ?? new Map<number, number>();
      const sum = (above.get(place) ?? 0) + difference;
      if (sum === 0) above.delete(place);
      else above.set(place, sum);
      this.#above.set(i, above);
      return;
    }
    if (place >= this.#size[i]!) this.#enlarge(i, place);
    this.#differences[this.#at[i]! + place]! += difference;
  }

  #enlarge(i: number, place: number): void {
    const before = this.#size[i]!;
    const from = this.#at[i]!;
    let size = Math.max(4, 2 * before);
    while (size <= place) size *= 2;
    const at = this.#takeBlock(size);
    this.#differences.copyWithin(at, from, from + before);
    if (before > 0) {
      this.#differences.fill(0, from, from + before);
      getOrInsert(this.#blocks, before, () => []).push(from);
    }
    this.#at[i] = at;
    this.#size[i] = size;
  }

  #takeBlock(size: number): number {
    const left = this.#blocks.get(size)?.pop();
    if (left !== undefined) return left;
    const at = this.#used;
    this.#used += size;
    const { length } = this.#differences;
    if (this.#used > length) this.#differences = lengthened(this.#differences, Math.max(this.#used, 2 * length));
    return at;
  }

  #growRows(): void {
    this.#cycles = lengthened(this.#cycles, 2 * this.#rows);
    this.#counts = lengthened(this.#counts, 2 * this.#rows);
    this.#next = lengthened(this.#next, 2 * this.#rows);
  }

  #meet(key: number): void {
    this.#keys = key + 1;
    if (key < this.#room) return;
    const windows = this.windowCycles.length;
    const before = this.#room;
    const room = Math.max(16, 2 * (key + 1));
    this.#room = room;
    this.#requestsOf = lengthened(this.#requestsOf, room);
    this.#newest = lengthened(this.#newest, room).fill(NONE, before);
    this.#oldest = lengthened(this.#oldest, room * windows).fill(NONE, before * windows);
    this.#count = lengthened(this.#count, room * windows);
    this.#peak = lengthened(this.#peak, room * windows);
    this.#at = lengthened(this.#at, room * windows);
    this.#size = lengthened(this.#size, room * windows);
  }
}

// The largest number of requests that the rolling count admits in a short time; for other rules see limiter/rule/most-starts.ts.
//
//   interval      |--------------|              1 s touches up to 3 cycles of 777 ms
//   cycles      |     |     |     |     |       any `within` consecutive cycles admit at most the threshold
//   within 2    | T   |  0  |  T  |             so the interval admits at most ceil(cycles / within) times the threshold
/** A client that sends in the first of every `within` cycles reaches the bound. @param intervalMs an integer from 1 */
export function worstBurst(threshold: number, within: number, cycleMs: number, intervalMs: number): number {
  // The first ms of the interval may be the last ms of a cycle.
  const cycles = 1 + Math.ceil((intervalMs - 1) / cycleMs);
  return threshold * Math.ceil(cycles / within);
}
