// Owns letting a world run to its end: the feed, the drain after it, progress on the way, and a stop that leaves what was done.
import type { Subscription } from 'rxjs';
import { startOf } from '../core/cycle.js';
import { cyclesOfFeed, type Feed } from './feed.js';
import type { World } from './world.js';

export interface Watch {
  /** Ends the run early; what was done so far stands. */
  readonly signal?: AbortSignal;
  /** Told now and then: cycles done, and cycles in all where that is known. */
  readonly onProgress?: (cycle: number, lastCycle: number) => void;
}

/** A hundredth of a millisecond: what comes within a cycle comes before that. */
const EDGE_MS = 0.01;

/** How often progress is told: every so many turns of the event loop. */
const TURNS = 16;

/** Lets what a feed brings reach the contracts of a world. */
export function connect(world: World, feed: Feed, firstCycle: number): Subscription {
  const take = (contract: number, n: number, cycle: number) => void world.record(contract, n, cycle);
  return cyclesOfFeed(world.clock, feed, firstCycle).subscribe((cycle) => feed.arrive(cycle, take));
}

/**
 * Runs a world up to the end of `lastCycle`.
 * @returns false when it was stopped before
 */
export async function drive(world: World, lastCycle: number, { signal, onProgress }: Watch): Promise<boolean> {
  const { clock } = world;
  // Just before the next cycle begins: nothing of that one belongs to the run.
  const end = startOf(lastCycle + 1, clock.cycleMs) - EDGE_MS;
  const slice = Math.max(1, Math.ceil((lastCycle + 1 - clock.cycle()) / (TURNS * 64)));
  while (clock.now() < end) {
    const until = onProgress === undefined ? end : Math.min(end, startOf(clock.cycle() + slice, clock.cycleMs));
    const ending = await clock.runAsync({
      untilMs: until,
      stepsPerTurn: 20_000,
      ...(signal === undefined ? {} : { signal }),
    });
    world.check();
    if (ending === 'stopped') {
      world.finish(clock.cycle());
      return false;
    }
    onProgress?.(clock.cycle(), lastCycle);
  }
  world.finish(lastCycle);
  world.check();
  return true;
}
