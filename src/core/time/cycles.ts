// The cycles of a clock as an Observable.
//
//   wall     |  7  |  8  |  9  | (halted)        | 12  | 13  |
//   ticks    7     8     9                    12       13
//   missed   0     0     0                    2        0
import { Observable } from 'rxjs';
import { assert } from '../schema/failure.js';
import type { Ticket } from './agenda.js';
import type { Clock } from './clock.js';
import { startOf } from './cycle.js';
import { Rank } from './rank.js';

export interface CycleTick {
  readonly cycle: number;
  /** Cycles without a tick since the last one: the process could not run. */
  readonly missed: number;
}

export interface CycleOptions {
  /** First cycle, an integer; default: the next to begin. With a past one, the present cycle is emitted at once. */
  readonly from?: number | undefined;
}

/**
 * Emits each cycle of a clock as it begins: after contracts have advanced into it, before any of its events. After a gap it emits only
 * the newest cycle, with the number missed: a night's suspension is one tick, not fifty thousand.
 *
 *     cycles(new VirtualClock(0, 777)).pipe(take(3))        // 1 at 777 ms, 2 at 1,554 ms, 3 at 2,331 ms of that clock
 *
 * Never completes. Each subscriber has its own task in the clock's agenda.
 * @throws Bug when `from` is not a safe integer
 */
export function cycles(clock: Clock, { from }: CycleOptions = {}): Observable<CycleTick> {
  assert(from === undefined || Number.isSafeInteger(from), `there is no cycle ${from}`);
  return new Observable<CycleTick>((subscriber) => {
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
