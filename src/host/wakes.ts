// The order in which contracts wake by themselves, over all machines. Idle contracts are not in it, and are never touched.
//
//   contract a    limiting ............ may restore at 13
//   contract b    limiting ... may restore at 11            catchUp(20):  b at 11, c at 12, a at 13
//   contract c    held ..... until 12
//
// However late the clock calls, contracts wake in the order of their cycles: a record never goes back in time.
import { Agenda, type Ticket } from '../time/agenda.js';
import type { Clock } from '../time/clock.js';
import { startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';

/** What wakes: a contract. */
interface Sleeper {
  readonly gate: { nextWake(): number };
  wake(cycle: number): void;
}

export class Wakes {
  readonly #clock: Clock;
  /** Due in cycles, not in ms: what is due is the beginning of a cycle. */
  readonly #agenda = new Agenda(Number.MIN_SAFE_INTEGER);
  readonly #tickets = new Map<Sleeper, { readonly ticket: Ticket; readonly cycle: number }>();
  #armed: { readonly ticket: Ticket; readonly cycle: number } | undefined;
  /** The first cycle at which a contract wakes; Infinity for none. */
  #next = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks up anew when a contract wakes: the first cycle at which it may fire without an event. */
  schedule(contract: Sleeper): void {
    const cycle = contract.gate.nextWake();
    const known = this.#tickets.get(contract);
    if (known?.cycle === cycle) return;
    this.forget(contract);
    if (cycle === Number.POSITIVE_INFINITY) return;
    const ticket = this.#agenda.at(cycle, Rank.advance, () => {
      this.#tickets.delete(contract);
      contract.wake(cycle);
    });
    this.#tickets.set(contract, { ticket, cycle });
    this.#arm();
  }

  forget(contract: Sleeper): void {
    const known = this.#tickets.get(contract);
    if (known === undefined) return;
    this.#agenda.cancel(known.ticket);
    this.#tickets.delete(contract);
    this.#next = this.#agenda.nextDue();
  }

  /** Wakes all that are due up to `cycle`, in order. Costs one comparison when none is. */
  catchUp(cycle: number): void {
    if (cycle < this.#next) return;
    while (this.#agenda.nextDue() <= cycle) this.#agenda.step();
    this.#arm();
  }

  /** Keeps one task on the clock's agenda: for the next to wake. */
  #arm(): void {
    this.#next = this.#agenda.nextDue();
    if (this.#armed !== undefined && this.#armed.cycle <= this.#next) return;
    if (this.#armed !== undefined) this.#clock.agenda.cancel(this.#armed.ticket);
    this.#armed = undefined;
    if (this.#next === Number.POSITIVE_INFINITY) return;
    const cycle = this.#next;
    const ticket = this.#clock.agenda.at(startOf(cycle, this.#clock.cycleMs), Rank.advance, () => {
      this.#armed = undefined;
      this.catchUp(this.#clock.cycle());
      this.#arm();
    });
    this.#armed = { ticket, cycle };
  }
}
