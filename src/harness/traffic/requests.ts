// Who comes when: the requests of a run in batches, a cycle each, in order of cycle. Models, logs and recordings make them.
//
//   cycle 7    contracts    0    2    0
//              requests     3    1    1
//              instants   .03  .41  .70         unix ms, for what decides by the ms, and for clients
//              costs        1    5    1
//
// Cycles without requests may be left out: a year of silence costs nothing.
import { lengthened } from '../../core/math/lengthened.js';
import type { Clock } from '../../core/time/clock.js';
import { lastInstantOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { Arrival } from './arrival/arrival.js';
import type { Popularity } from './popularity.js';

/** The counts of one cycle. From models without instants, valid until those of the next. */
export interface CycleCounts {
  readonly cycle: number;
  /** All keys so far, by first appearance: one growing array per source, a new one if the source starts over. */
  readonly keys: readonly string[];
  /** Indexes into `keys`, one per value of `requests`: ascending, or with `instants` by time and possibly repeated. */
  readonly contracts: Uint32Array;
  readonly requests: Float64Array;
  /** Unix ms of each entry; undefined if requests are counted by cycle. */
  readonly instants?: Float64Array | undefined;
  /** Per request of an entry; undefined if every request costs 1. */
  readonly costs?: Float64Array | undefined;
}

type Take = (contract: number, n: number, cost: number | undefined) => void;

/** Takes each entry now, or at its instant: what the agenda has before it happens before it. */
export function eachOf({ contracts, requests, instants, costs }: CycleCounts, { agenda }: Clock, take: Take): void {
  if (instants === undefined) {
    for (let k = 0; k < contracts.length; k += 1) take(contracts[k]!, requests[k]!, costs?.[k]);
    return;
  }
  let next = 0;
  const step = (): void => {
    const k = next++;
    take(contracts[k]!, requests[k]!, costs?.[k]);
  };
  for (const ms of instants) agenda.at(ms, Rank.arrival, step);
}

/** Requests of a cycle one by one. */
export function oneByOne(cycle: number, contracts: Uint32Array, keys: readonly string[] = ['all']): CycleCounts {
  return { cycle, keys, contracts, requests: new Float64Array(contracts.length).fill(1) };
}

/** Each request with a cost of its own. */
export function* priced(batches: Iterable<CycleCounts>, draw: () => number): Generator<CycleCounts> {
  for (const { contracts, requests, instants, ...batch } of batches) {
    const entries: number[] = [];
    for (let k = 0; k < contracts.length; k += 1) for (let n = requests[k]!; n > 0; n -= 1) entries.push(k);
    yield {
      ...batch,
      contracts: Uint32Array.from(entries, (k) => contracts[k]!),
      requests: new Float64Array(entries.length).fill(1),
      instants: instants && Float64Array.from(entries, (k) => instants[k]!),
      costs: Float64Array.from(entries, draw),
    };
  }
}

export interface ModelTraffic {
  /** Added up; without `popularity`, equally many for each contract, in their order. */
  readonly arrivals: readonly Arrival[];
  readonly popularity: Popularity | undefined;
  readonly names: readonly string[];
  readonly cycles: number;
}

export function* countsOfModels(models: ModelTraffic, firstCycle: number): Generator<CycleCounts> {
  const { names: keys, cycles } = models;
  const contracts = Uint32Array.from(keys, (_, contract) => contract);
  const requests = new Float64Array(keys.length);
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    countOf(models, cycle, requests);
    yield { cycle: firstCycle + cycle, keys, contracts, requests };
  }
}

/** Not in the generator, whose loops the engine compiles less well: 1.2 times as fast. */
function countOf({ arrivals, popularity }: ModelTraffic, cycle: number, requests: Float64Array): void {
  if (popularity === undefined) {
    const each = arrivals.length / requests.length;
    for (let contract = 0, model = 0; contract < requests.length; contract += 1) {
      requests[contract] = 0;
      for (const end = model + each; model < end; model += 1) requests[contract]! += arrivals[model]!.count(cycle);
    }
    return;
  }
  let n = 0;
  for (const arrival of arrivals) n += arrival.count(cycle);
  requests.fill(0);
  if (requests.length === 1) requests[0] = n;
  else for (; n > 0; n -= 1) requests[popularity()]! += 1;
}

/** Each request at its instant. `firstCycle` is cycle 0 of the models. */
export function* requestsOfModels(models: ModelTraffic, firstCycle: number, cycleMs: number): Generator<CycleCounts> {
  const drawn = new RequestsOfModels(models);
  for (let at = 0; at < models.cycles; at += 1) {
    const { n, fractions, contracts } = drawn.at(at);
    const cycle = firstCycle + at;
    // Rounding may give the start of the next cycle.
    const [fromMs, lastMs] = [startOf(cycle, cycleMs), lastInstantOf(cycle, cycleMs)];
    const instants = new Float64Array(n);
    for (let k = 0; k < n; k += 1) instants[k] = Math.min(fromMs + fractions[k]! * cycleMs, lastMs);
    yield { ...oneByOne(cycle, contracts.slice(0, n), models.names), instants };
  }
}

/**
 * Draws the requests of models, one cycle at a time: the same in both arms, and in a log of the scenario.
 *
 *     model a    | x    x   |
 *     model b    |   x      |
 *     cycle      | a b  a   |       in order; with a popularity each picks its contract in this order
 */
class RequestsOfModels {
  readonly #arrivals: readonly Arrival[];
  readonly #popularity: Popularity | undefined;
  /** Models of a contract, without a popularity. */
  readonly #each: number;
  #drawn = new Float64Array(64);
  /** Instants of one model. A view of `#drawn` per model would cost more than copying the few that a cycle has. */
  #own = new Float64Array(64);
  #owners = new Uint32Array(64);
  #fractions = new Float64Array(64);
  #contracts = new Uint32Array(64);

  constructor({ arrivals, popularity, names }: ModelTraffic) {
    this.#arrivals = arrivals;
    this.#popularity = popularity;
    this.#each = arrivals.length / names.length;
  }

  /**
   * `cycle` counts from the start of the run; each is asked for once, in order. The next call reuses the result.
   * @returns contracts, and instants within the cycle in [0, 1), ascending; both at least n long
   */
  at(cycle: number): { readonly n: number; readonly fractions: Float64Array; readonly contracts: Uint32Array } {
    const arrivals = this.#arrivals;
    let n = 0;
    for (let model = 0; model < arrivals.length; model += 1) {
      const count = arrivals[model]!.count(cycle);
      if (count === 0) continue;
      this.#reserve(n + count);
      arrivals[model]!.instants(this.#own, count);
      for (let k = 0; k < count; k += 1, n += 1) {
        this.#drawn[n] = this.#own[k]!;
        this.#owners[n] = Math.floor(model / this.#each);
      }
    }
    const order = arrivals.length === 1 ? undefined : orderOfFractions(this.#drawn, n);
    const [fractions, contracts, popularity] = [this.#fractions, this.#contracts, this.#popularity];
    for (let k = 0; k < n; k += 1) {
      const row = order === undefined ? k : order[k]!;
      fractions[k] = this.#drawn[row]!;
      contracts[k] = popularity === undefined ? this.#owners[row]! : popularity();
    }
    return { n, fractions, contracts };
  }

  #reserve(n: number): void {
    if (n <= this.#drawn.length) return;
    const capacity = 2 * n;
    this.#own = new Float64Array(capacity);
    this.#drawn = lengthened(this.#drawn, capacity);
    this.#owners = lengthened(this.#owners, capacity);
    this.#fractions = new Float64Array(capacity);
    this.#contracts = new Uint32Array(capacity);
  }
}

const MOST_IN_PART = 32;

function orderOfFractions(fractions: Float64Array, n: number): Uint32Array {
  const order = new Uint32Array(n);
  const starts = new Uint32Array(n + 2);
  let most = 0;
  for (let k = 0; k < n; k += 1) most = Math.max(most, ++starts[Math.floor(fractions[k]! * n) + 2]!);
  for (let part = 2; part < n + 2; part += 1) starts[part]! += starts[part - 1]!;
  for (let k = 0; k < n; k += 1) order[starts[Math.floor(fractions[k]! * n) + 1]!++] = k;
  if (most > MOST_IN_PART) return order.sort((a, b) => fractions[a]! - fractions[b]! || a - b);
  for (let k = 1; k < n; k += 1) {
    const row = order[k]!;
    let place = k;
    for (; place > 0 && fractions[order[place - 1]!]! > fractions[row]!; place -= 1) order[place] = order[place - 1]!;
    order[place] = row;
  }
  return order;
}
