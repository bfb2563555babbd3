// What reaches the gates of a run without clients: how many requests of which contract, cycle by cycle.
//
//   feed      | 3 |   | 1 | 7 |          cycles without requests are left out: a year of silence costs nothing
import type { Arrival } from '../traffic/arrival/arrival.js';
import type { Popularity } from '../traffic/popularity.js';

/** Takes `n` requests of a contract in a cycle. */
export type Take = (contract: number, n: number, cycle: number) => void;

export interface Feed {
  /** Whether what is called a cycle here is an instant in unix ms: for rules, which decide by the ms. */
  readonly isTimed?: boolean;
  /** The first cycle from `cycle` on that has to be looked at, or undefined when nothing more comes. */
  next(cycle?: number): number | undefined;
  /** Hands out what comes in a cycle. Cycles are asked for in order, each once. */
  arrive(cycle: number, take: Take): void;
}

/** Models of arrivals, one after the other in each cycle, shared out over the contracts. */
export class ModelFeed implements Feed {
  readonly #arrivals: readonly Arrival[];
  readonly #popularity: Popularity;
  readonly #shares: Float64Array;
  readonly #firstCycle: number;
  readonly #cycles: number;

  /**
   * @param firstCycle the cycle that is cycle 0 for the models
   * @param cycles length of the run
   */
  constructor(
    arrivals: readonly Arrival[],
    popularity: Popularity,
    contracts: number,
    firstCycle: number,
    cycles: number,
  ) {
    this.#arrivals = arrivals;
    this.#popularity = popularity;
    this.#shares = new Float64Array(contracts);
    this.#firstCycle = firstCycle;
    this.#cycles = cycles;
  }

  next(cycle: number): number | undefined {
    return cycle - this.#firstCycle < this.#cycles ? cycle : undefined;
  }

  arrive(cycle: number, take: Take): void {
    let n = 0;
    for (const arrival of this.#arrivals) n += arrival.count(cycle - this.#firstCycle);
    if (n === 0) return;
    const shares = this.#shares;
    if (shares.length === 1) {
      take(0, n, cycle);
      return;
    }
    shares.fill(0);
    this.#popularity.split(n, shares);
    for (let contract = 0; contract < shares.length; contract += 1) {
      if (shares[contract]! > 0) take(contract, shares[contract]!, cycle);
    }
  }
}

/** Arrivals of its own for each contract. */
export class FleetFeed implements Feed {
  readonly #arrivals: readonly Arrival[];
  readonly #firstCycle: number;
  readonly #cycles: number;

  constructor(arrivals: readonly Arrival[], firstCycle: number, cycles: number) {
    this.#arrivals = arrivals;
    this.#firstCycle = firstCycle;
    this.#cycles = cycles;
  }

  next(cycle: number): number | undefined {
    return cycle - this.#firstCycle < this.#cycles ? cycle : undefined;
  }

  arrive(cycle: number, take: Take): void {
    const arrivals = this.#arrivals;
    for (let contract = 0; contract < arrivals.length; contract += 1) {
      const n = arrivals[contract]!.count(cycle - this.#firstCycle);
      if (n > 0) take(contract, n, cycle);
    }
  }
}

/** What a log holds, by contract: cycles ascending, and how many requests fell into each. */
export interface RecordedCounts {
  readonly cycles: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
}

/** The recorded requests of all contracts, in order of cycle, then contract. */
export function recordedFeed(recorded: readonly RecordedCounts[]): Feed {
  const buffer = new CycleBuffer();
  recorded.forEach(({ cycles, counts }, contract) => {
    for (let index = 0; index < cycles.length; index += 1) buffer.add(contract, cycles[index]!, counts[index]!);
  });
  buffer.release();
  return buffer;
}

/** A power of two: so many (contract, cycle) pairs are found again without sorting. */
const RECENT = 1 << 12;

/**
 * Requests that come in no strict order of time, counted by contract and cycle, and handed out in order of cycle once they are released.
 *
 *   add        7 9 8 8 | 10 9 12 11 10        memory: one row of 20 bytes for each contract and cycle, and a second one where
 *   release   (up to 10)                      they meet again much later
 *   arrive     7 8 9 9   then add goes on
 */
export class CycleBuffer implements Feed {
  /** @param isTimed whether its cycles are instants in unix ms */
  constructor(readonly isTimed = false) {}

  #length = 0;
  #contracts = new Uint32Array(1024);
  #cycles = new Float64Array(1024);
  #counts = new Float64Array(1024);
  readonly #recent = new Uint32Array(RECENT);
  /** Rows that were released, in order; those from `#place` on are still to be handed out. */
  #order: Uint32Array = new Uint32Array(0);
  #place = 0;
  /** Rows of cycles before were released. */
  #end = Number.NEGATIVE_INFINITY;

  /** Rows that are held. */
  get size(): number {
    return this.#length;
  }

  /** Counts `n` requests. What was released must have been handed out before. */
  add(contract: number, cycle: number, n: number): void {
    const slot = (cycle + Math.imul(contract, 0x9e3779b1)) & (RECENT - 1);
    const known = this.#recent[slot]!;
    if (known < this.#length && this.#cycles[known] === cycle && this.#contracts[known] === contract) {
      this.#counts[known]! += n;
      return;
    }
    if (this.#length === this.#cycles.length) this.#grow();
    const row = this.#length++;
    this.#contracts[row] = contract;
    this.#cycles[row] = cycle;
    this.#counts[row] = n;
    this.#recent[slot] = row;
  }

  /** The cycle before which half of the rows lie. */
  middle(): number {
    return this.#cycles.slice(0, this.#length).sort()[this.#length >> 1]!;
  }

  /** Makes the rows of all cycles before `end` ready to be handed out. */
  release(end = Number.POSITIVE_INFINITY): void {
    const cycles = this.#cycles;
    const rows = new Uint32Array(this.#length);
    let released = 0;
    for (let row = 0; row < this.#length; row += 1) if (cycles[row]! < end) rows[released++] = row;
    this.#order = inOrder(rows.subarray(0, released), cycles);
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
      take(this.#contracts[row]!, this.#counts[row]!, cycle);
    }
  }

  /** Lets go of the rows that were handed out. */
  #forget(): void {
    if (this.#order.length === 0) return;
    let kept = 0;
    for (let row = 0; row < this.#length; row += 1) {
      if (this.#cycles[row]! < this.#end) continue;
      this.#contracts[kept] = this.#contracts[row]!;
      this.#cycles[kept] = this.#cycles[row]!;
      this.#counts[kept] = this.#counts[row]!;
      kept += 1;
    }
    this.#length = kept;
    this.#order = new Uint32Array(0);
    this.#place = 0;
  }

  #grow(): void {
    const capacity = 2 * this.#length;
    const [contracts, cycles, counts] = [this.#contracts, this.#cycles, this.#counts];
    this.#contracts = new Uint32Array(capacity);
    this.#contracts.set(contracts);
    this.#cycles = new Float64Array(capacity);
    this.#cycles.set(cycles);
    this.#counts = new Float64Array(capacity);
    this.#counts.set(counts);
  }
}

/** Rows by their cycle; those of a cycle stay in order. By counting, unless the cycles lie far apart. */
function inOrder(rows: Uint32Array, cycles: Float64Array): Uint32Array {
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
