// Owns Poisson arrivals at instants of their own, for systems that know no cycles. Leaves arrivals counted by the cycle to traffic/.
//
//   |..  .   .. .    .   |     gap = -ln(1 - u) / rate

import type { RandomStream } from '../math/random.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

/** The unit of time of the published systems, in ms. */
export const UNIT_MS = 1_000;

/**
 * Calls `arrive` at each arrival from now on.
 * @param rate arrivals in a unit of time
 * @param to the end, in units
 */
export function poissonArrivals(
  clock: Clock,
  stream: RandomStream,
  rate: number,
  to: number,
  arrive: () => void,
): void {
  const next = (afterMs: number) => {
    const dueMs = afterMs + UNIT_MS * stream.exponential(rate);
    if (dueMs >= to * UNIT_MS) return;
    clock.agenda.at(dueMs, Rank.arrival, () => {
      arrive();
      next(dueMs);
    });
  };
  next(clock.now());
}
