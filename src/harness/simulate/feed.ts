// The requests of a run without clients: how many of which contract, cycle by cycle.
//
//   feed      | 3 |   | 1 | 7 |          cycles without requests are left out: a year of silence costs nothing
import { lengthened } from '../../core/math/lengthened.js';
import type { Clock } from '../../core/time/clock.js';
import { lastInstantOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { Arrival } from '../traffic/arrival/arrival.js';
import type { Popularity } from '../traffic/popularity.js';

export type Take = (contract: number, n: number, cycle: number, cost?: number) => void;

export interface Feed {
  /** Its cycles are instants in unix ms, for rules. */
  readonly isTimed?: boolean;
  /** The first cycle from `cycle` on that may have requests; undefined after the last. */
  next(cycle?: number): number | undefined;
  /** Cycles are asked for in order, each once. */
  arrive(cycle: number, take: Take): void;
  /** Replaces `arrive` for models: the requests of each contract. The array is reused. */
  counts?(cycle: number): Float64Array;
}

export function withCosts(feed: Feed, draw: () => number): Feed {
  return {
    ...(feed.isTimed === true && { isTimed: true }),
    next: (cycle) => feed.next(cycle),
    arrive(at, take) {
      feed.arrive(at, (contract, n, cycle) => {
        for (let k = 0; k < n; k += 1) take(contract, 1, cycle, draw());
      });
    },
  };
}

export interface ModelTraffic {
  /** Summed; without `popularity`, one per contract. */
  readonly arrivals: readonly Arrival[];
  readonly popularity: Popularity | undefined;
  readonly names: readonly string[];
  readonly cycles: number;
}

export class ModelFeed implements Feed {
  readonly #arrivals: readonly Arrival[];
  readonly #popularity: Popularity | undefined;
  readonly #counts: Float64Array;
  readonly #firstCycle: number;
  readonly #end: number;

  constructor({ arrivals, popularity, names, cycles }: ModelTraffic, firstCycle: number) {
    this.#arrivals = arrivals;
    this.#popularity = popularity;
    this.#counts = new Float64Array(names.length);
    this.#firstCycle = firstCycle;
    this.#end = firstCycle + cycles;
  }

  next(cycle: number): number | undefined {
    return cycle < this.#end ? cycle : undefined;
  }

  arrive(cycle: number, take: Take): void {
    const counts = this.counts(cycle);
    for (let contract = 0; contract < counts.length; contract += 1) {
      if (counts[contract]! > 0) take(contract, counts[contract]!, cycle);
    }
  }

  counts(cycle: number): Float64Array {
    const [arrivals, popularity, counts] = [this.#arrivals, this.#popularity, this.#counts];
    const at = cycle - this.#firstCycle;
    if (popularity === undefined) {
      for (let contract = 0; contract < arrivals.length; contract += 1)
        counts[contract] = arrivals[contract]!.count(at);
      return counts;
    }
    let n = 0;
    for (const arrival of arrivals) n += arrival.count(at);
    counts.fill(0);
    if (counts.length === 1) counts[0] = n;
    else if (n > 0) popularity.split(n, counts);
    return counts;
  }
}

export interface PlannedCycle {
  readonly n: number;
  /** Instants within the cycle, in [0, 1), ascending; at least n long. */
  readonly fractions: Float64Array;
  readonly contracts: Uint32Array;
}

/**
 * Draws the requests of models, one cycle at a time: the same in both arms, and in a log of the scenario.
 *
 *     model a    | x    x   |
 *     model b    |   x      |
 *     cycle      | a b  a   |       in order; with a popularity each picks its contract in this order
 */
export class RequestsOfModels {
  readonly #arrivals: readonly Arrival[];
  readonly #popularity: Popularity | undefined;
  #drawn = new Float64Array(64);
  /** Instants of one model. A view of `#drawn` per model would cost more than copying the few that a cycle has. */
  #own = new Float64Array(64);
  #models = new Uint32Array(64);
  #fractions = new Float64Array(64);
  #contracts = new Uint32Array(64);

  constructor({ arrivals, popularity }: Pick<ModelTraffic, 'arrivals' | 'popularity'>) {
    this.#arrivals = arrivals;
    this.#popularity = popularity;
  }

  /** `cycle` counts from the start of the run; each is asked for once, in order. The next call reuses the result. */
  at(cycle: number): PlannedCycle {
    const arrivals = this.#arrivals;
    let n = 0;
    for (let model = 0; model < arrivals.length; model += 1) {
      const count = arrivals[model]!.count(cycle);
      if (count === 0) continue;
      this.#reserve(n + count);
      arrivals[model]!.instants(this.#own, count);
      for (let k = 0; k < count; k += 1, n += 1) {
        this.#drawn[n] = this.#own[k]!;
        this.#models[n] = model;
      }
    }
    const order = arrivals.length === 1 ? undefined : orderOfFractions(this.#drawn, n);
    const [fractions, contracts, popularity] = [this.#fractions, this.#contracts, this.#popularity];
    for (let k = 0; k < n; k += 1) {
      const row = order === undefined ? k : order[k]!;
      fractions[k] = this.#drawn[row]!;
      contracts[k] = popularity === undefined ? this.#models[row]! : popularity.pick();
    }
    return { n, fractions, contracts };
  }

  #reserve(n: number): void {
    if (n <= this.#drawn.length) return;
    const capacity = 2 * n;
    this.#own = new Float64Array(capacity);
    this.#drawn = lengthened(this.#drawn, capacity);
    this.#models = lengthened(this.#models, capacity);
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

export class TimedFeed implements Feed {
  readonly isTimed = true;
  readonly #requests: RequestsOfModels;
  readonly #cycles: number;
  readonly #firstCycle: number;
  readonly #cycleMs: number;
  #cycle = 0;
  #drawn: PlannedCycle = { n: 0, fractions: new Float64Array(0), contracts: new Uint32Array(0) };
  #instants = new Float64Array(64);
  #place = 0;

  constructor(models: ModelTraffic, firstCycle: number, cycleMs: number) {
    this.#requests = new RequestsOfModels(models);
    this.#cycles = models.cycles;
    this.#firstCycle = firstCycle;
    this.#cycleMs = cycleMs;
  }

  next(): number | undefined {
    while (this.#place === this.#drawn.n) {
      if (this.#cycle === this.#cycles) return undefined;
      this.#draw(this.#cycle);
      this.#cycle += 1;
    }
    return this.#instants[this.#place];
  }

  arrive(ms: number, take: Take): void {
    const { n, contracts } = this.#drawn;
    const cycle = this.#firstCycle + this.#cycle - 1;
    for (; this.#place < n && this.#instants[this.#place] === ms; this.#place += 1)
      take(contracts[this.#place]!, 1, cycle);
  }

  #draw(cycle: number): void {
    this.#drawn = this.#requests.at(cycle);
    this.#place = 0;
    const { n, fractions } = this.#drawn;
    if (this.#instants.length < n) this.#instants = new Float64Array(fractions.length);
    const instantOf = instantsIn(this.#firstCycle + cycle, this.#cycleMs);
    for (let k = 0; k < n; k += 1) this.#instants[k] = instantOf(fractions[k]!);
  }
}

/** Rounding may give the start of the next cycle: the instant is limited to the last of its own. */
function instantsIn(cycle: number, cycleMs: number): (fraction: number) => number {
  const [fromMs, lastMs] = [startOf(cycle, cycleMs), lastInstantOf(cycle, cycleMs)];
  return (fraction) => Math.min(fromMs + fraction * cycleMs, lastMs);
}

/** Schedules each request on the agenda; a cycle is drawn as it begins. `firstCycle` is cycle 0 of the models. */
export function arriveByAgenda(
  models: ModelTraffic,
  { agenda, cycleMs }: Clock,
  firstCycle: number,
  arrive: (contract: number) => void,
): void {
  const requests = new RequestsOfModels(models);
  let drawn: PlannedCycle;
  let next = 0;
  const take = (): void => arrive(drawn.contracts[next++]!);
  const arm = (cycle: number): void => {
    if (cycle >= models.cycles) return;
    agenda.at(startOf(firstCycle + cycle, cycleMs), Rank.cycle, () => {
      drawn = requests.at(cycle);
      next = 0;
      const instantOf = instantsIn(firstCycle + cycle, cycleMs);
      for (let k = 0; k < drawn.n; k += 1) agenda.at(instantOf(drawn.fractions[k]!), Rank.arrival, take);
      arm(cycle + 1);
    });
  };
  arm(0);
}
