// The order in which contracts wake by themselves, over all machines. Idle contracts are not in it, and are never touched.
//
//   contract a    limiting ............ may restore at 13
//   contract b    limiting ... may restore at 11            catchUp(20):  b at 11, c at 12, a at 13
//   contract c    held ..... until 12
//
// However late the clock calls, contracts wake in the order of their instants: a record never goes back in time. Those that count over
// windows wake at the beginning of a cycle, those of a rule at any ms.
import { Agenda, type Ticket } from '../time/agenda.js';
import type { Clock } from '../time/clock.js';
import { startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';

/** What wakes: a contract. */
interface Sleeper {
  /** When it may fire without an event, in unix ms; Infinity for never. */
  readonly wakeMs: number;
  wake(ms: number): void;
}

export class Wakes {
  readonly #clock: Clock;
  #agenda = new Agenda(Number.MIN_SAFE_INTEGER);
  readonly #tickets = new Map<Sleeper, { readonly ticket: Ticket; readonly ms: number }>();
  #armed: { readonly ticket: Ticket; readonly ms: number } | undefined;
  /** The first instant at which a contract wakes; Infinity for none. */
  #next = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks up anew when a contract wakes: the first instant at which it may fire without an event. */
  schedule(contract: Sleeper): void {
    const ms = contract.wakeMs;
    const known = this.#tickets.get(contract);
    if (known?.ms === ms) return;
    this.forget(contract);
    if (ms === Number.POSITIVE_INFINITY) return;
    const ticket = this.#agenda.at(ms, Rank.advance, () => {
      this.#tickets.delete(contract);
      contract.wake(ms);
    });
    this.#tickets.set(contract, { ticket, ms });
    this.#arm();
  }

  forget(contract: Sleeper): void {
    const known = this.#tickets.get(contract);
    if (known === undefined) return;
    this.#agenda.cancel(known.ticket);
    this.#tickets.delete(contract);
    this.#next = this.#agenda.nextDue();
  }

  /** Lets nobody wake any more who is in it now. */
  clear(): void {
    this.#agenda = new Agenda(Number.MIN_SAFE_INTEGER);
    this.#tickets.clear();
    this.#arm();
  }

  /** Wakes all that are due up to the beginning of `cycle`, in order. Costs one comparison when none is. */
  catchUp(cycle: number): void {
    this.catchUpTo(startOf(cycle, this.#clock.cycleMs));
  }

  /** Wakes all that are due up to `ms`, in order. */
  catchUpTo(ms: number): void {
    if (ms < this.#next) return;
    while (this.#agenda.nextDue() <= ms) this.#agenda.step();
    this.#arm();
  }

  /** Keeps one task on the clock's agenda: for the next to wake. */
  #arm(): void {
    this.#next = this.#agenda.nextDue();
    if (this.#armed !== undefined && this.#armed.ms <= this.#next) return;
    if (this.#armed !== undefined) this.#clock.agenda.cancel(this.#armed.ticket);
    this.#armed = undefined;
    if (this.#next === Number.POSITIVE_INFINITY) return;
    const ms = this.#next;
    const ticket = this.#clock.agenda.at(ms, Rank.advance, () => {
      this.#armed = undefined;
      this.catchUpTo(this.#clock.now());
      this.#arm();
    });
    this.#armed = { ticket, ms };
  }
}
