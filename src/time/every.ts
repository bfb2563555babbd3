// Periodic work by a clock, behind all else that is due at the same instant.
import type { Clock } from './clock.js';
import { Rank } from './rank.js';

/**
 * Works each `ms` from now on, counted from the previous due, so that lateness does not accumulate; after a blockage, lost times are skipped.
 * An error of the work goes to the clock's driver, and the work goes on. @returns ends it
 */
export function every(clock: Clock, ms: number, work: () => void): () => void {
  let isOver = false;
  const at = (dueMs: number) => clock.agenda.at(dueMs, Rank.report, run);
  const run = (dueMs: number) => {
    try {
      work();
    } finally {
      const now = clock.now();
      if (!isOver) ticket = at(dueMs + ms > now ? dueMs + ms : now + ms);
    }
  };
  let ticket = at(clock.now() + ms);
  return () => {
    isOver = true;
    clock.agenda.cancel(ticket);
  };
}
