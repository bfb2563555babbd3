// Owns the cycles as a stream: one tick as each begins. Leaves advancing contracts to the host, whose rank goes before.
//
//   wall     |  7  |  8  |  9  | (halted)        | 12  | 13  |
//   ticks    7     8     9                    12       13
//   missed   0     0     0                    2        0
import type { Observable } from 'rxjs';
import { assert } from '../schema/failure.js';
import type { Ticket } from './agenda.js';
import type { Clock } from './clock.js';
import { startOf } from './cycle.js';
import { GuardedObservable, toDriverOf } from './guarded.js';
import { Rank } from './rank.js';

/** A cycle has begun. */
export interface CycleTick {
  /** Its number, read from the clock, never counted. */
  readonly cycle: number;
  /** How many cycles were passed over since the last tick, because nothing could run while they lasted. */
  readonly missed: number;
}

export interface CycleOptions {
  /** The first cycle wanted, an integer; default the next to begin. Of cycles in the past the clock's own is ticked at once, and the others are missed. */
  readonly from?: number | undefined;
}

/**
 * Emits each cycle as it begins, after the host's advances and before any event of the cycle. After a gap only the newest
 * is emitted, with the number of those it has left behind: a night's suspension is one tick, not fifty thousand.
 * Each subscriber has its own place in the agenda; one that throws loses nothing, and its error goes to the driver of the clock.
 */
export function cyclesOf(clock: Clock, { from }: CycleOptions = {}): Observable<CycleTick> {
  assert(from === undefined || Number.isSafeInteger(from), `there is no cycle ${from}`);
  return new GuardedObservable<CycleTick>(toDriverOf(clock), (subscriber) => {
    let next = from ?? clock.cycle() + 1;
    let ticket: Ticket;
    const arm = () => {
      ticket = clock.agenda.at(startOf(next, clock.cycleMs), Rank.cycle, tick);
    };
    const tick = () => {
      const cycle = clock.cycle();
      const missed = cycle - next;
      next = cycle + 1;
      arm();
      subscriber.next({ cycle, missed });
    };
    arm();
    return () => clock.agenda.cancel(ticket);
  });
}
