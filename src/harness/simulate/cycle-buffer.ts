// A buffer that puts requests in order of cycle.
import { lengthened } from '../../core/math/lengthened.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { Feed, Take } from './feed.js';

interface RecordedCounts {
  readonly cycles: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
  readonly instants?: Float64Array | undefined;
}

/** In order of cycle; with instants, in order of their whole ms. */
export function recordedFeed(recorded: readonly RecordedCounts[], cycleMs: number): Feed {
  const buffer = new CycleBuffer(recorded.some(({ instants }) => instants !== undefined));
  recorded.forEach(({ cycles, counts, instants }, contract) => {
    let before = 0;
    for (let index = 0; index < cycles.length; index += 1) {
      const [cycle, n] = [cycles[index]!, counts[index]!];
      if (!buffer.isTimed) buffer.add(contract, cycle, n);
      else
        for (let k = before; k < before + n; k += 1)
          buffer.add(contract, Math.floor(startOf(cycle, cycleMs) + (instants?.[k] ?? 0) * cycleMs), 1);
      before += n;
    }
  });
  buffer.release();
  return buffer;
}

/** A power of two: this many (contract, cycle) pairs are found without sorting. */
const RECENT = 1 << 12;

/**
 * Counts requests by contract and cycle, or each of a cycle in its order, and hands out released rows in order of cycle.
 *
 *   add        7 9 8 8 | 10 9 12 11 10        memory: a row of 20 bytes per contract and cycle, and a second one
 *   release   (up to 10)                      if they meet again much later
 *   arrive     7 8 9 9   then add goes on
 */
export class CycleBuffer implements Feed {
  constructor(
    readonly isTimed = false,
    hasCosts = false,
    readonly keepsOrder = false,
  ) {
    this.#costs = hasCosts ? new Float64Array(1024) : undefined;
  }

  #length = 0;
  #contracts = new Uint32Array(1024);
  #cycles = new Float64Array(1024);
  #counts = new Float64Array(1024);
  #costs: Float64Array | undefined;
  readonly #recent = new Uint32Array(RECENT);
  #order: Uint32Array = new Uint32Array(0);
  #place = 0;
  #end = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#length;
  }

  /** All released rows must have been handed out. `cost` is per request, in a buffer with costs. */
  add(contract: number, cycle: number, n: number, cost = 1): void {
    const slot = (cycle + Math.imul(contract, 0x9e3779b1)) & (RECENT - 1);
    const known = this.#costs !== undefined ? this.#length : this.keepsOrder ? this.#length - 1 : this.#recent[slot]!;
    if (known >= 0 && known < this.#length && this.#cycles[known] === cycle && this.#contracts[known] === contract) {
      this.#counts[known]! += n;
      return;
    }
    if (this.#length === this.#cycles.length) this.#grow();
    const row = this.#length++;
    this.#contracts[row] = contract;
    this.#cycles[row] = cycle;
    this.#counts[row] = n;
    if (this.#costs !== undefined) this.#costs[row] = cost;
    this.#recent[slot] = row;
  }

  middle(): number {
    return this.#cycles.slice(0, this.#length).sort()[this.#length >> 1]!;
  }

  release(end = Number.POSITIVE_INFINITY): void {
    const cycles = this.#cycles;
    const rows = new Uint32Array(this.#length);
    let released = 0;
    for (let row = 0; row < this.#length; row += 1) if (cycles[row]! < end) rows[released++] = row;
    this.#order = orderOfRows(rows.subarray(0, released), cycles);
    this.#place = 0;
    this.#end = end;
  }

  next(): number | undefined {
    if (this.#place < this.#order.length) return this.#cycles[this.#order[this.#place]!];
    this.#forget();
    return undefined;
  }

  arrive(cycle: number, take: Take): void {
    const order = this.#order;
    for (; this.#place < order.length; this.#place += 1) {
      const row = order[this.#place]!;
      if (this.#cycles[row] !== cycle) return;
      take(this.#contracts[row]!, this.#counts[row]!, cycle, this.#costs?.[row]);
    }
  }

  #forget(): void {
    if (this.#order.length === 0) return;
    let kept = 0;
    for (let row = 0; row < this.#length; row += 1) {
      if (this.#cycles[row]! < this.#end) continue;
      this.#contracts[kept] = this.#contracts[row]!;
      this.#cycles[kept] = this.#cycles[row]!;
      this.#counts[kept] = this.#counts[row]!;
      if (this.#costs !== undefined) this.#costs[kept] = this.#costs[row]!;
      kept += 1;
    }
    this.#length = kept;
    this.#order = new Uint32Array(0);
    this.#place = 0;
  }

  #grow(): void {
    const capacity = 2 * this.#length;
    this.#contracts = lengthened(this.#contracts, capacity);
    this.#cycles = lengthened(this.#cycles, capacity);
    this.#counts = lengthened(this.#counts, capacity);
    this.#costs = this.#costs && lengthened(this.#costs, capacity);
  }
}

export interface CycleCounts {
  readonly cycle: number;
  /** All keys so far, by first appearance: one growing array per source, a new one if the source starts over. */
  readonly keys: readonly string[];
  /** Indexes into `keys`, one per value of `requests`: ascending, or with `instants` by time and possibly repeated. */
  readonly contracts: Uint32Array;
  readonly requests: Float64Array;
  /** Unix ms of each entry, for rules; undefined if requests are counted by cycle. */
  readonly instants?: Float64Array | undefined;
  /** Per request of an entry, with `instants`; undefined if every request costs 1. */
  readonly costs?: Float64Array | undefined;
}

export class CycleGatherer {
  readonly #keys: readonly string[];
  readonly #cycleMs: number;
  #sums = new Float64Array(64);
  #came = new Uint32Array(64);
  #length = 0;
  #contracts: number[] = [];
  #requests: number[] = [];
  #instants: number[] = [];
  #costs: number[] = [];

  constructor(keys: readonly string[], cycleMs: number) {
    this.#keys = keys;
    this.#cycleMs = cycleMs;
  }

  next(feed: Feed): CycleCounts | undefined {
    return feed.isTimed === true ? this.#timed(feed) : this.#summed(feed);
  }

  #summed(feed: Feed): CycleCounts | undefined {
    const cycle = feed.next();
    if (cycle === undefined) return undefined;
    if (this.#sums.length < this.#keys.length) {
      this.#sums = new Float64Array(2 * this.#keys.length);
      this.#came = new Uint32Array(2 * this.#keys.length);
    }
    feed.arrive(cycle, this.#sum);
    const sums = this.#sums;
    const contracts = this.#came.slice(0, this.#length).sort();
    const requests = new Float64Array(contracts.length);
    for (let index = 0; index < contracts.length; index += 1) {
      requests[index] = sums[contracts[index]!]!;
      sums[contracts[index]!] = 0;
    }
    this.#length = 0;
    return { cycle, keys: this.#keys, contracts, requests };
  }

  readonly #sum: Take = (contract, n) => {
    if (this.#sums[contract] === 0) {
      this.#came[this.#length] = contract;
      this.#length += 1;
    }
    this.#sums[contract]! += n;
  };

  #timed(feed: Feed): CycleCounts | undefined {
    const first = feed.next();
    if (first === undefined) return undefined;
    const cycle = cycleOf(first, this.#cycleMs);
    const end = startOf(cycle + 1, this.#cycleMs);
    for (let ms: number | undefined = first; ms !== undefined && ms < end; ms = feed.next())
      feed.arrive(ms, this.#place);
    const contracts = new Uint32Array(this.#contracts);
    const [requests, instants] = [new Float64Array(this.#requests), new Float64Array(this.#instants)];
    const costs = this.#costs.length === 0 ? {} : { costs: new Float64Array(this.#costs) };
    for (const column of [this.#contracts, this.#requests, this.#instants, this.#costs]) column.length = 0;
    return { cycle, keys: this.#keys, contracts, requests, instants, ...costs };
  }

  readonly #place: Take = (contract, n, ms, cost) => {
    if (cost !== undefined) this.#costs.push(cost);
    this.#contracts.push(contract);
    this.#requests.push(n);
    this.#instants.push(ms);
  };
}

function orderOfRows(rows: Uint32Array, cycles: Float64Array): Uint32Array {
  let [first, last, isAscending] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true];
  for (const row of rows) {
    const cycle = cycles[row]!;
    if (cycle < last) isAscending = false;
    first = Math.min(first, cycle);
    last = Math.max(last, cycle);
  }
  if (isAscending) return rows.slice();
  const span = last - first + 1;
  if (span > 4 * rows.length + 4096) return rows.slice().sort((a, b) => cycles[a]! - cycles[b]! || a - b);
  const places = new Uint32Array(span + 1);
  for (const row of rows) places[cycles[row]! - first + 1]! += 1;
  for (let cycle = 1; cycle <= span; cycle += 1) places[cycle]! += places[cycle - 1]!;
  const order = new Uint32Array(rows.length);
  for (const row of rows) order[places[cycles[row]! - first]!++] = row;
  return order;
}
