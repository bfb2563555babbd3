// If the clock was ahead in the last run, stored data is ahead of the clock now. The node then starts at the newest stored cycle, and cycles
// follow the monotonic clock until the wall clock has caught up, as after a backward step at run time.
import { Failure } from '../core/schema/failure.js';
import { startOf } from '../core/time/cycle.js';
import type { WallClock } from '../core/time/wall.js';
import type { Store } from './store/store.js';

/** How far stored data may be ahead: more is not a glitch of the clock. */
const MOST_AHEAD_MS = 24 * 3_600_000;

/** @throws Failure `clock_behind` if the stored data is more than a day ahead */
export function holdClock(clock: WallClock, newestCycle: number): void {
  const newestMs = startOf(newestCycle, clock.cycleMs);
  const aheadMs = newestMs - clock.now();
  if (aheadMs > MOST_AHEAD_MS) {
    throw new Failure('clock_behind', {
      what: 'The node was not started.',
      why: `The newest stored cycle, ${newestCycle}, begins ${(aheadMs / 3_600_000).toFixed(1)} hours after the present time of this machine.`,
      fix: 'Set the clock of this machine. If the clock was wrong when the node ran last, restore a backup from before.',
    });
  }
  clock.notBefore(newestMs);
}

/** The newest cycle of an answer, a row or a signed head; 0 for an empty store. What is signed next is not before it. */
export function newestCycleOf(store: Store): number {
  let newest = store.lastCycle;
  for (const { machine, last } of store.machines())
    newest = Math.max(newest, last?.cycle ?? 0, store.checkpoint(machine.slug)?.cycle ?? 0);
  return newest;
}
