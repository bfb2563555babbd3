// Owns what reaches the gates of a run without clients: how many requests of which contract, cycle by cycle, as a stream.
// Leaves when requests come to traffic/, what becomes of them to world.ts.
//
//   feed      | 3 |   | 1 | 7 |          cycles without requests are left out: a year of silence costs nothing
//   agenda    ─┴───────┴───┴──►  arrive  ─►  world.decide
import { Observable } from 'rxjs';
import type { Clock } from '../time/clock.js';
import { startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { Arrival } from '../traffic/arrival/arrival.js';
import type { Popularity } from '../traffic/popularity.js';

/** Takes `n` requests of a contract in a cycle. */
export type Take = (contract: number, n: number, cycle: number) => void;

export interface Feed {
  /** The first cycle from `cycle` on that has to be looked at, or undefined when nothing more comes. */
  next(cycle: number): number | undefined;
  /** Hands out what comes in a cycle. Cycles are asked for in order, each once. */
  arrive(cycle: number, take: Take): void;
}

/** The cycles of a feed as they begin, each after the advances of the host and before any event. Completes with the feed. */
export function cyclesOfFeed(clock: Clock, feed: Feed, firstCycle: number): Observable<number> {
  return new Observable((subscriber) => {
    const arm = (from: number) => {
      const cycle = feed.next(from);
      if (cycle === undefined) subscriber.complete();
      else clock.agenda.at(startOf(cycle, clock.cycleMs), Rank.arrival, () => tick(cycle));
    };
    const tick = (cycle: number) => {
      subscriber.next(cycle);
      if (!subscriber.closed) arm(cycle + 1);
    };
    arm(firstCycle);
  });
}

/** Models of arrivals, one after the other in each cycle, shared out over the contracts. */
export class ModelFeed implements Feed {
  private readonly shares: Float64Array;

  /**
   * @param firstCycle the cycle that is cycle 0 for the models
   * @param cycles length of the run
   */
  constructor(
    private readonly arrivals: readonly Arrival[],
    private readonly popularity: Popularity,
    private readonly contracts: number,
    private readonly firstCycle: number,
    private readonly cycles: number,
  ) {
    this.shares = new Float64Array(contracts);
  }

  next(cycle: number): number | undefined {
    return cycle - this.firstCycle < this.cycles ? cycle : undefined;
  }

  arrive(cycle: number, take: Take): void {
    let n = 0;
    for (const arrival of this.arrivals) n += arrival.count(cycle - this.firstCycle);
    if (n === 0) return;
    if (this.contracts === 1) {
      take(0, n, cycle);
      return;
    }
    const { shares } = this;
    shares.fill(0);
    this.popularity.split(n, shares);
    for (let contract = 0; contract < shares.length; contract += 1) {
      if (shares[contract]! > 0) take(contract, shares[contract]!, cycle);
    }
  }
}

/** Arrivals of its own for each contract. */
export class FleetFeed implements Feed {
  constructor(
    private readonly arrivals: readonly Arrival[],
    private readonly firstCycle: number,
    private readonly cycles: number,
  ) {}

  next(cycle: number): number | undefined {
    return cycle - this.firstCycle < this.cycles ? cycle : undefined;
  }

  arrive(cycle: number, take: Take): void {
    const { arrivals } = this;
    for (let contract = 0; contract < arrivals.length; contract += 1) {
      const n = arrivals[contract]!.count(cycle - this.firstCycle);
      if (n > 0) take(contract, n, cycle);
    }
  }
}

/** What a log holds, by contract: cycles ascending, and how many requests fell into each. */
export interface RecordedCounts {
  readonly cycles: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
}

/** Recorded requests, those of all contracts in order of cycle. */
export class RecordedFeed implements Feed {
  private readonly cycles: Float64Array;
  private readonly contracts: Uint32Array;
  private readonly counts: Float64Array;
  private place = 0;

  constructor(recorded: readonly RecordedCounts[]) {
    const length = recorded.reduce((sum, { cycles }) => sum + cycles.length, 0);
    this.cycles = new Float64Array(length);
    this.contracts = new Uint32Array(length);
    this.counts = new Float64Array(length);
    const order = inOrder(recorded, length);
    for (let place = 0; place < length; place += 1) {
      const { contract, index } = order[place]!;
      this.cycles[place] = recorded[contract]!.cycles[index]!;
      this.counts[place] = recorded[contract]!.counts[index]!;
      this.contracts[place] = contract;
    }
  }

  next(): number | undefined {
    return this.place < this.cycles.length ? this.cycles[this.place] : undefined;
  }

  arrive(cycle: number, take: Take): void {
    while (this.place < this.cycles.length && this.cycles[this.place] === cycle) {
      take(this.contracts[this.place]!, this.counts[this.place]!, cycle);
      this.place += 1;
    }
  }
}

function inOrder(recorded: readonly RecordedCounts[], length: number): { contract: number; index: number }[] {
  const all = new Array<{ contract: number; index: number }>(length);
  let place = 0;
  recorded.forEach(({ cycles }, contract) => {
    for (let index = 0; index < cycles.length; index += 1) all[place++] = { contract, index };
  });
  if (recorded.length === 1) return all;
  return all.sort(
    (a, b) =>
      recorded[a.contract]!.cycles[a.index]! - recorded[b.contract]!.cycles[b.index]! || a.contract - b.contract,
  );
}
