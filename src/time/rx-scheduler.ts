// The agenda as an RxJS scheduler, for operators that wait.
import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import type { Ticket } from './agenda.js';
import type { Clock } from './clock.js';
import type { Rank } from './rank.js';

type Work<State> = (this: SchedulerAction<State>, state: State) => void;

/**
 * Hand it to `interval`, `delay`, `debounceTime` and the like: they then live in the time of the clock, virtual or real.
 * What a piece of work throws goes to the driver of the clock; its own action is over, all others go on.
 */
export class AgendaScheduler implements SchedulerLike {
  readonly #clock: Clock;
  readonly #rank: Rank;

  constructor(
    clock: Clock,
    /** Who goes first at the same instant; among the same rank it is who asked first, as RxJS has it. */
    rank: Rank,
  ) {
    this.#clock = clock;
    this.#rank = rank;
  }

  /** Unix ms. */
  now(): number {
    return this.#clock.now();
  }

  /**
   * @param delay ms from now; below 0 means 0, and Infinity never
   * @returns the action: unsubscribing takes it back, and all its repeats
   */
  schedule<State>(work: Work<State>, delay?: number, state?: State): Subscription {
    return new AgendaAction(this.#clock, this.#rank, work).schedule(state, delay);
  }
}

/**
 * One piece of work, once or again and again: it repeats when it calls `this.schedule` while it runs, or later.
 * At most one run of it waits at a time; asking again before it has run replaces what was asked.
 */
class AgendaAction<State> extends Subscription implements SchedulerAction<State> {
  #state: State | undefined;
  #delayMs = 0;
  /** The due of the run in progress. */
  #runningMs: number | undefined;
  #ticket: Ticket | undefined;

  readonly #clock: Clock;
  readonly #rank: Rank;
  readonly #work: Work<State>;

  constructor(clock: Clock, rank: Rank, work: Work<State>) {
    super();
    this.#clock = clock;
    this.#rank = rank;
    this.#work = work;
  }

  schedule(state?: State, delay = 0): Subscription {
    if (this.closed) return this;
    this.#takeBack();
    this.#state = state;
    const dueMs = this.#dueAfter(delay);
    this.#delayMs = delay;
    if (dueMs !== Infinity) this.#ticket = this.#clock.agenda.at(dueMs, this.#rank, this.#run);
    return this;
  }

  override unsubscribe(): void {
    this.#takeBack();
    this.#state = undefined;
    super.unsubscribe();
  }

  /**
   * A run that asks for the same delay again is an interval: it counts from when it was due, so that being late does not
   * add up. After a blockage it goes on from now; lost ticks are not made up for, as with RxJS's own timers.
   */
  #dueAfter(delay: number): number {
    const now = this.#clock.now();
    if (this.#runningMs !== undefined && delay === this.#delayMs) {
      const dueMs = this.#runningMs + delay;
      if (dueMs > now) return dueMs;
    }
    return now + Math.max(delay, 0);
  }

  #takeBack(): void {
    if (this.#ticket !== undefined) this.#clock.agenda.cancel(this.#ticket);
    this.#ticket = undefined;
  }

  readonly #run = (dueMs: number): void => {
    this.#ticket = undefined;
    this.#runningMs = dueMs;
    try {
      // RxJS types the state as what was given: undefined when nothing was.
      this.#work(this.#state as State);
    } catch (error) {
      this.unsubscribe();
      throw error;
    } finally {
      this.#runningMs = undefined;
    }
  };
}
