// The buffer in front of logs: requests in any order in, batches in order of cycle out.
import { lengthened } from '../../core/math/lengthened.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { CycleCounts } from './requests.js';

/** A power of two: this many (contract, cycle) pairs are found without sorting. */
const RECENT = 1 << 12;

interface BufferOptions {
  readonly keys: readonly string[];
  /** Rows are at instants in unix ms, not in cycles. */
  readonly isTimed?: boolean | undefined;
  readonly hasCosts?: boolean | undefined;
  /** Requests at one time stay in their order. Default: those of a contract are summed. */
  readonly keepsOrder?: boolean | undefined;
}

/**
 * Counts requests by contract and cycle, or by contract and ms, and hands out released rows in order.
 *
 *   add        7 9 8 8 | 10 9 12 11 10        memory: a row of 20 bytes per contract and cycle, and a second one
 *   release   (up to 10)                      if they meet again much later
 *   batches    7 8 9   then add goes on
 */
export class ReorderBuffer {
  readonly #options: BufferOptions;
  #length = 0;
  #contracts = new Uint32Array(1024);
  #times = new Float64Array(1024);
  #counts = new Float64Array(1024);
  #costs: Float64Array | undefined;
  readonly #recent = new Uint32Array(RECENT);
  #sums = new Float64Array(64);

  constructor(options: BufferOptions) {
    this.#options = options;
    this.#costs = options.hasCosts === true ? new Float64Array(1024) : undefined;
  }

  get size(): number {
    return this.#length;
  }

  /** All released rows must have been handed out. `cost` is per request, in a buffer with costs. */
  add(contract: number, time: number, n: number, cost = 1): void {
    const slot = (time + Math.imul(contract, 0x9e3779b1)) & (RECENT - 1);
    const known =
      this.#costs !== undefined
        ? this.#length
        : this.#options.keepsOrder === true
          ? this.#length - 1
          : this.#recent[slot]!;
    if (known >= 0 && known < this.#length && this.#times[known] === time && this.#contracts[known] === contract) {
      this.#counts[known]! += n;
      return;
    }
    if (this.#length === this.#times.length) this.#grow();
    const row = this.#length++;
    this.#contracts[row] = contract;
    this.#times[row] = time;
    this.#counts[row] = n;
    if (this.#costs !== undefined) this.#costs[row] = cost;
    this.#recent[slot] = row;
  }

  middle(): number {
    return this.#times.slice(0, this.#length).sort()[this.#length >> 1]!;
  }

  /** The rows before `end`, which are then forgotten. Without an end all rows, which stay. @param cycleMs length of a batch of instants */
  *release(cycleMs: number, end = Number.POSITIVE_INFINITY): Generator<CycleCounts> {
    const times = this.#times;
    const { isTimed = false } = this.#options;
    const rows = new Uint32Array(this.#length);
    let released = 0;
    for (let row = 0; row < this.#length; row += 1) if (times[row]! < end) rows[released++] = row;
    const order = orderOfRows(rows.subarray(0, released), times);
    for (let from = 0, to = 0; from < released; from = to) {
      const first = times[order[from]!]!;
      const cycle = isTimed ? cycleOf(first, cycleMs) : first;
      const next = isTimed ? startOf(cycle + 1, cycleMs) : cycle + 1;
      while (to < released && times[order[to]!]! < next) to += 1;
      yield isTimed || this.#costs !== undefined
        ? this.#each(cycle, order.subarray(from, to))
        : this.#summed(cycle, order.subarray(from, to));
    }
    if (end !== Number.POSITIVE_INFINITY) this.#forget(end);
  }

  #each(cycle: number, rows: Uint32Array): CycleCounts {
    const { keys, isTimed = false } = this.#options;
    return {
      cycle,
      keys,
      contracts: rows.map((row) => this.#contracts[row]!),
      requests: at(rows, this.#counts),
      instants: isTimed ? at(rows, this.#times) : undefined,
      costs: this.#costs && at(rows, this.#costs),
    };
  }

  #summed(cycle: number, rows: Uint32Array): CycleCounts {
    const { keys } = this.#options;
    if (this.#sums.length < keys.length) this.#sums = new Float64Array(2 * keys.length);
    const sums = this.#sums;
    let contracts = new Uint32Array(rows.length);
    let length = 0;
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index]!;
      const contract = this.#contracts[row]!;
      if (sums[contract] === 0) contracts[length++] = contract;
      sums[contract]! += this.#counts[row]!;
    }
    if (length < contracts.length) contracts = contracts.subarray(0, length);
    if (length > 1) contracts.sort();
    const requests = new Float64Array(length);
    for (let k = 0; k < length; k += 1) {
      requests[k] = sums[contracts[k]!]!;
      sums[contracts[k]!] = 0;
    }
    return { cycle, keys, contracts, requests, instants: undefined, costs: undefined };
  }

  #forget(end: number): void {
    let kept = 0;
    for (let row = 0; row < this.#length; row += 1) {
      if (this.#times[row]! < end) continue;
      this.#contracts[kept] = this.#contracts[row]!;
      this.#times[kept] = this.#times[row]!;
      this.#counts[kept] = this.#counts[row]!;
      if (this.#costs !== undefined) this.#costs[kept] = this.#costs[row]!;
      kept += 1;
    }
    this.#length = kept;
  }

  #grow(): void {
    const capacity = 2 * this.#length;
    this.#contracts = lengthened(this.#contracts, capacity);
    this.#times = lengthened(this.#times, capacity);
    this.#counts = lengthened(this.#counts, capacity);
    this.#costs = this.#costs && lengthened(this.#costs, capacity);
  }
}

function at(rows: Uint32Array, column: Float64Array): Float64Array {
  const values = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index += 1) values[index] = column[rows[index]!]!;
  return values;
}

function orderOfRows(rows: Uint32Array, times: Float64Array): Uint32Array {
  let [first, last, isAscending] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true];
  for (const row of rows) {
    const cycle = times[row]!;
    if (cycle < last) isAscending = false;
    first = Math.min(first, cycle);
    last = Math.max(last, cycle);
  }
  if (isAscending) return rows.slice();
  const span = last - first + 1;
  if (span > 4 * rows.length + 4096) return rows.slice().sort((a, b) => times[a]! - times[b]! || a - b);
  const places = new Uint32Array(span + 1);
  for (const row of rows) places[times[row]! - first + 1]! += 1;
  for (let cycle = 1; cycle <= span; cycle += 1) places[cycle]! += places[cycle - 1]!;
  const order = new Uint32Array(rows.length);
  for (const row of rows) order[places[times[row]! - first]!++] = row;
  return order;
}
