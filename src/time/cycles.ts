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
  /** Cycles without a tick since the last one, while nothing could run. */
  readonly missed: number;
}

export interface CycleOptions {
  /**
   * The first cycle wanted, an integer. From a past one on, the present cycle is emitted at once and those before it are missed. Default:
   * the next to begin.
   */
  readonly from?: number | undefined;
}

/**
 * Emits each cycle of a clock as it begins: after the contracts have advanced into it, before any event of it. After a gap only the
 * newest is emitted, with the number of those missed: a night's suspension is one tick, not fifty thousand.
 *
 *     cycles(new VirtualClock(0, 777)).pipe(take(3))        // 1 at 777 ms, 2 at 1,554 ms, 3 at 2,331 ms of that clock
 *
 * Never completes. Each subscriber has its own task in the agenda of the clock.
 * @param clock a `VirtualClock`, which moves when it is run, or a `WallClock`, which moves once it is started
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
