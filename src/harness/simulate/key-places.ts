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

export type KeyPlaces = ReturnType<typeof keyPlaces>;

/** A world whose keys do not all have a place: a last contract is for the others. */
export function keyPlaces({ max_keys, overflow }: KeyedSpec, world: World) {
  /** Cycle of the last request by key, oldest first. */
  const taken = new Map<number, number>();
  const figures = { requests: 0, limited: 0 };
  const { clock } = world;
  const without = world.add(NO_PLACE);
  const span = spanCycles(world.contracts[without]!.gate.plan, clock.cycleMs);
  /** Their contract if such keys are refused; undefined if they share it. */
  const refusing = overflow === 'refuse' ? without : undefined;
  const take = (key: number, cycle: number): boolean => {
    if (!taken.delete(key) && taken.size >= max_keys && !freeOne(cycle)) return false;
    taken.set(key, cycle);
    return true;
  };
  const freeOne = (cycle: number): boolean => {
    for (const [key, last] of taken) {
      if (last + span > cycle) return false;
      const contract = world.contracts[key]!;
      contract.advance(cycle);
      const { plan, record } = contract.gate;
      if (!isAsNew(plan, record, cycle)) continue;
      taken.delete(key);
      return true;
    }
    return false;
  };
  const request = (key: number, n: number, asked?: Asked): number => {
    if (take(key, clock.cycle())) return world.request(key, n, asked);
    const admitted = refusing === undefined ? world.request(without, n, asked) : world.refuse(without, n, asked);
    figures.requests += n;
    figures.limited += n - admitted;
    return admitted;
  };
  const againCycle = (cycle: number): number => {
    for (const last of taken.values()) if (last + span > cycle) return last + span;
    return cycle + 1;
  };
  return {
    clock,
    refusing,
    figures,
    decide(batch: CycleCounts): void {
      eachOf(batch, clock, (key, n, cost) => n > 0 && request(key, n, { charged: cost, cost }));
    },
    request,
    /** The key's own contract or the shared one; undefined if the request was refused. */
    decider(key: number): SimulatedContract | undefined {
      if (taken.has(key)) return world.contracts[key];
      return refusing === undefined ? world.contracts[without] : undefined;
    },
    /** Until a key may find a place; whole seconds, as a node announces them. */
    announcedMs: () => secondsUntil(againCycle(clock.cycle()), clock.now(), clock.cycleMs) * 1000,
    againCycle,
  };
}
