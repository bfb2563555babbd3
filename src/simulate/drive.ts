// Owns letting a world run to its end: the feed, the drain after it, progress on the way, and a stop that leaves what was done.

// A run must let signals in, however much there is to do in each of its cycles. `setImmediate` waits for no time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Subscription } from 'rxjs';
import { startOf } from '../time/cycle.js';
import { cyclesOfFeed, type Feed } from './feed.js';
import { lastInstantOf } from './last-instant.js';
import type { World } from './world.js';

export interface Watch {
  /** Ends the run early; what was done so far stands. */
  readonly signal?: AbortSignal;
  /** Told now and then: cycles done, and cycles in all where that is known. */
  readonly onProgress?: (cycle: number, lastCycle: number) => void;
}

/** A run is cut into so many slices; after each, progress is told and signals are heard. */
const SLICES = 1024;

/** Within a slice signals are heard as often as this, by steps of the agenda. */
const STEPS_PER_TURN = 20_000;

/** Lets what a feed brings reach the contracts of a world. */
export function connect(world: World, feed: Feed, firstCycle: number): Subscription {
  const take = (contract: number, n: number, cycle: number) => void world.decide(contract, n, cycle);
  return cyclesOfFeed(world.clock, feed, firstCycle).subscribe((cycle) => feed.arrive(cycle, take));
}

/**
 * Runs a world up to the end of `lastCycle`.
 * @returns false when it was stopped before
 */
export async function drive(world: World, lastCycle: number, { signal, onProgress }: Watch): Promise<boolean> {
  const { clock } = world;
  const end = lastInstantOf(lastCycle, clock.cycleMs);
  const slice = Math.max(1, Math.ceil((lastCycle + 1 - clock.cycle()) / SLICES));
  while (clock.now() < end) {
    const ending = await clock.runAsync({
      untilMs: Math.min(end, startOf(clock.cycle() + slice, clock.cycleMs)),
      stepsPerTurn: STEPS_PER_TURN,
      ...(signal === undefined ? {} : { signal }),
    });
    world.check();
    if (ending === 'stopped') {
      world.finish(clock.cycle());
      return false;
    }
    onProgress?.(clock.cycle(), lastCycle);
    await nextTurn();
  }
  world.finish(lastCycle);
  world.check();
  return true;
}
