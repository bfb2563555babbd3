// The cycles of a clock as a stream: one tick as each begins.
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
  /** How many cycles had no tick since the last one, because nothing could run while they lasted. */
  readonly missed: number;
}

export interface CycleOptions {
  /**
   * The first cycle wanted, an integer. If it is in the past, the present cycle is emitted at once and those before it are missed.
   * Default: the next to begin.
   */
  readonly from?: number | undefined;
}

/**
 * Emits each cycle of a clock as it begins: after the contracts have advanced into it, before any event of it. After a gap only the
 * newest is emitted, with the number of those missed: a night's suspension is one tick, not fifty thousand.
 *
 *     cycles(new VirtualClock(0, 777)).pipe(take(3))        // 1 at 777 ms, 2 at 1,554 ms, 3 at 2,331 ms of that clock
 *
 * Never completes; unsubscribing takes it out of the clock's agenda. Each subscriber has its own place there. What an observer throws
 * goes to the driver of the clock (`run` of a virtual clock throws it, a wall clock calls `onError`), and the observer stays subscribed.
 * @param clock a `VirtualClock`, which moves when it is run, or a `WallClock`, which moves once it is started
 * @throws Bug when `from` is not a safe integer
 */
export function cycles(clock: Clock, { from }: CycleOptions = {}): Observable<CycleTick> {
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
