// The places for keys of a keyed contract, as on a node: a key without counts yields its place to a key that needs one.
//
//   request of a key ─► has a place, or one is free, or another key is as new ─► its own gate
//                       └ none ─► refused, or counted by the gate that such keys share
import { isAsNew } from '../../core/limiter/gate-record.js';
import { spanCycles } from '../../core/limiter/plan.js';
import { secondsUntil } from '../../core/time/cycle.js';
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import { type CycleCounts, eachOf } from '../traffic/requests.js';
import type { SimulatedContract } from './simulated-contract.js';
import type { Asked, World } from './world.js';

const NO_PLACE = '(no place)';

/** A world whose keys do not all have a place: a last contract is for the others. */
export class KeyPlaces {
  /** Cycle of the last request by key, oldest first. */
  readonly #taken = new Map<number, number>();
  readonly clock: World['clock'];
  readonly #most: number;
  readonly #world: World;
  readonly #span: number;
  readonly #without: number;
  /** Their contract if such keys are refused; undefined if they share it. */
  readonly refusing: number | undefined;
  readonly figures = { requests: 0, limited: 0 };

  constructor({ max_keys, overflow }: KeyedSpec, world: World) {
    this.#most = max_keys;
    this.#world = world;
    this.clock = world.clock;
    this.#without = world.add(NO_PLACE);
    this.#span = spanCycles(world.contracts[this.#without]!.gate.plan, world.clock.cycleMs);
    this.refusing = overflow === 'refuse' ? this.#without : undefined;
  }

  decide(batch: CycleCounts): void {
    eachOf(batch, this.clock, (key, n, cost) => n > 0 && this.request(key, n, { charged: cost, cost }));
  }

  request(key: number, n: number, asked?: Asked): number {
    if (this.#take(key, this.clock.cycle())) return this.#world.request(key, n, asked);
    const world = this.#world;
    const without = this.#without;
    const admitted = this.refusing === undefined ? world.request(without, n, asked) : world.refuse(without, n, asked);
    this.figures.requests += n;
    this.figures.limited += n - admitted;
    return admitted;
  }

  #take(key: number, cycle: number): boolean {
    if (!this.#taken.delete(key) && this.#taken.size >= this.#most && !this.#freeOne(cycle)) return false;
    this.#taken.set(key, cycle);
    return true;
  }

  /** The key's own contract or the shared one; undefined if the request was refused. */
  decider(key: number): SimulatedContract | undefined {
    if (this.#taken.has(key)) return this.#world.contracts[key];
    return this.refusing === undefined ? this.#world.contracts[this.#without] : undefined;
  }

  /** Until a key may find a place; whole seconds, as a node announces them. */
  announcedMs(): number {
    const { clock } = this;
    return secondsUntil(this.againCycle(clock.cycle()), clock.now(), clock.cycleMs) * 1000;
  }

  againCycle(cycle: number): number {
    for (const last of this.#taken.values()) if (last + this.#span > cycle) return last + this.#span;
    return cycle + 1;
  }

  #freeOne(cycle: number): boolean {
    for (const [key, last] of this.#taken) {
      if (last + this.#span > cycle) return false;
      const contract = this.#world.contracts[key]!;
      contract.advance(cycle);
      const { plan, record } = contract.gate;
      if (!isAsNew(plan, record, cycle)) continue;
      this.#taken.delete(key);
      return true;
    }
    return false;
  }
}
