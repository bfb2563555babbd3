// The scheduler of one machine's wake-ups: contracts that fire without an event. Idle contracts have no entry and cost nothing.
//
//   contract a    limiting ............ may restore at 13
//   contract b    limiting ... may restore at 11            catchUp(20):  b at 11, c at 12, a at 13
//   contract c    held ..... until 12
//
// Even if the clock is late, contracts wake in the order of their instants, so a record never goes back in time.
import { Agenda, type Ticket } from '../../core/time/agenda.js';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';

export interface Sleeper {
  /** The earliest firing without an event, in unix ms; Infinity for never. */
  readonly wakeMs: number;
  readonly rank?: Rank;
  wake(ms: number): void;
}

/** Wake-ups per task: each may write rows, and other machines must not wait. */
const WOKEN_PER_TASK = 4;

export class Wakes {
  readonly #clock: Clock;
  /** Created on first use: most machines never wake. */
  #agenda: Agenda | undefined;
  #isHeld = false;
  readonly #tickets = new Map<Sleeper, { readonly ticket: Ticket; readonly ms: number }>();
  #armed: { readonly ticket: Ticket; readonly ms: number } | undefined;
  #next = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  schedule(contract: Sleeper): void {
    const ms = contract.wakeMs;
    const known = this.#tickets.get(contract);
    if (known?.ms === ms) return;
    this.cancel(contract);
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#agenda ??= new Agenda(Number.MIN_SAFE_INTEGER);
    const ticket = this.#agenda.at(ms, contract.rank ?? Rank.advance, () => {
      this.#tickets.delete(contract);
      contract.wake(ms);
    });
    this.#tickets.set(contract, { ticket, ms });
    this.#arm();
  }

  cancel(contract: Sleeper): void {
    const known = this.#tickets.get(contract);
    if (known === undefined || this.#agenda === undefined) return;
    this.#agenda.cancel(known.ticket);
    this.#tickets.delete(contract);
    this.#next = this.#agenda.nextDue();
  }

  clear(): void {
    this.#agenda = undefined;
    this.#tickets.clear();
    this.#arm();
  }

  /** Fires wake-ups due by the beginning of `cycle`, in order. Costs one comparison if none is due. */
  catchUp(cycle: number): void {
    this.catchUpTo(startOf(cycle, this.#clock.cycleMs));
  }

  catchUpTo(ms: number): void {
    if (ms < this.#next) return;
    while (this.isDue(ms)) this.#agenda?.step();
    this.#arm();
  }

  isDue(ms: number): boolean {
    return this.#agenda !== undefined && this.#agenda.nextDue() <= ms;
  }

  wakeOne(): void {
    this.#agenda?.step();
    this.#next = this.#agenda?.nextDue() ?? Number.POSITIVE_INFINITY;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#arm();
  }

  #arm(): void {
    this.#next = this.#agenda?.nextDue() ?? Number.POSITIVE_INFINITY;
    if (this.#isHeld || (this.#armed !== undefined && this.#armed.ms <= this.#next)) return;
    if (this.#armed !== undefined) this.#clock.agenda.cancel(this.#armed.ticket);
    this.#armed = undefined;
    if (this.#next === Number.POSITIVE_INFINITY) return;
    const ms = Math.max(this.#next, this.#clock.now());
    const ticket = this.#clock.agenda.at(ms, Rank.advance, () => {
      this.#armed = undefined;
      if (this.#isHeld) return;
      const now = this.#clock.now();
      for (let woken = 0; woken < WOKEN_PER_TASK && this.isDue(now); woken += 1) this.wakeOne();
      this.#arm();
    });
    this.#armed = { ticket, ms: this.#next };
  }
}
