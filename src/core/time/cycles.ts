// The cycles of a clock as an Observable, and other periods.
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
  /**
   * The next instant with something to do, in unix ms, from a cycle on: ticks jump to it. Undefined after the last, which completes.
   * Default: the start of each cycle.
   */
  readonly due?: ((cycle: number) => number | undefined) | undefined;
}

/**
 * Emits each cycle of a clock as it begins: after contracts have advanced into it, before any of its events. After a gap it emits only
 * the newest cycle, with the number missed: a night's suspension is one tick, not fifty thousand.
 *
 *     cycles(new VirtualClock(0, 777)).pipe(take(3))        // 1 at 777 ms, 2 at 1,554 ms, 3 at 2,331 ms of that clock
 *
 * Without `due` it never completes. Each subscriber has its own task in the clock's agenda.
 * @throws Bug when `from` is not a safe integer
 */
export function cycles(clock: Clock, { from, due }: CycleOptions = {}): Observable<CycleTick> {
  assert(from === undefined || Number.isSafeInteger(from), `there is no cycle ${from}`);
  return new Observable<CycleTick>((subscriber) => {
    let next = from ?? clock.cycle() + 1;
    let ticket: Ticket | undefined;
    const arm = () => {
      const ms = due === undefined ? startOf(next, clock.cycleMs) : due(next);
      ticket = ms === undefined ? undefined : clock.agenda.at(ms, Rank.cycle, tick);
      if (ticket === undefined) subscriber.complete();
    };
    const tick = () => {
      const cycle = clock.cycle();
      const missed = due === undefined ? cycle - next : 0;
      next = cycle + 1;
      subscriber.next({ cycle, missed });
      if (!subscriber.closed) arm();
    };
    arm();
    return () => {
      if (ticket !== undefined) clock.agenda.cancel(ticket);
    };
  });
}

/** Emits each `ms` of a clock. It counts from the last due, so lateness does not add up; ticks lost in a halt are skipped. */
export function every(clock: Clock, ms: number): Observable<void> {
  return new Observable((subscriber) => {
    const arm = (dueMs: number) => clock.agenda.at(dueMs, Rank.report, tick);
    const tick = (dueMs: number) => {
      subscriber.next();
      const nowMs = clock.now();
      if (!subscriber.closed) ticket = arm(dueMs + ms > nowMs ? dueMs + ms : nowMs + ms);
    };
    let ticket = arm(clock.now() + ms);
    return () => void clock.agenda.cancel(ticket);
  });
}
