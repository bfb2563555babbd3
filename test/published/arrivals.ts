// Poisson arrivals at exact instants, for published systems without cycles. (Arrivals in traffic/ are counts per cycle.)
//
//   |..  .   .. .    .   |     gap = -ln(1 - u) / rate

import type { RandomStream } from '../../src/core/math/random.js';
import type { Clock } from '../../src/core/time/clock.js';
import { Rank } from '../../src/core/time/rank.js';

export const UNIT_MS = 1_000;

/** Calls `arrive` for each arrival. @param rate arrivals per unit of time @param to the end, in units of time */
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
