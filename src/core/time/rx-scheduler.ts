// The agenda as an RxJS scheduler.
import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import type { Ticket } from './agenda.js';
import type { Clock } from './clock.js';
import type { Rank } from './rank.js';

type Work<State> = (this: SchedulerAction<State>, state: State) => void;

/** `interval`, `delay`, `debounceTime` and the like in the clock's time. An error goes to the clock's driver and ends only its own action. */
export class AgendaScheduler implements SchedulerLike {
  readonly #clock: Clock;
  readonly #rank: Rank;

  constructor(
    clock: Clock,
    /** Order within an instant; of equal ranks the first scheduled runs first, as in RxJS. */
    rank: Rank,
  ) {
    this.#clock = clock;
    this.#rank = rank;
  }

  now(): number {
    return this.#clock.now();
  }

  /** @param delay ms; below 0 means 0, Infinity never @returns the action: unsubscribing cancels it and its repeats */
  schedule<State>(work: Work<State>, delay?: number, state?: State): Subscription {
    return new AgendaAction(this.#clock, this.#rank, work).schedule(state, delay);
  }
}

/** Repeats when it calls `this.schedule`, while it runs or later. At most one run waits: rescheduling replaces it. */
class AgendaAction<State> extends Subscription implements SchedulerAction<State> {
  #state: State | undefined;
  #delayMs = 0;
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

  /** An interval counts from the previous due, so that lateness does not accumulate; after a blockage, lost ticks are skipped as in RxJS. */
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
      this.#work(this.#state as State);
    } catch (error) {
      this.unsubscribe();
      throw error;
    } finally {
      this.#runningMs = undefined;
    }
  };
}
