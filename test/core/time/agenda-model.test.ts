// Owns the agenda's comparison with the plainest thing that keeps the same promise, over random programs.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Agenda, type Task, type Ticket } from '../../../src/core/time/agenda.js';
import { Rank } from '../../../src/core/time/rank.js';
import { forAll } from '../../draws.js';

type Promised = Pick<Agenda, 'at' | 'cancel' | 'step' | 'nextDue' | 'now' | 'size'>;

/** A list, sorted by due, rank and ticket whenever something was asked for; tickets are counted. */
class SortedList implements Promised {
  now = 0;
  #asked = 0;
  #waiting: { readonly due: number; readonly rank: Rank; readonly ticket: Ticket; readonly task: Task }[] = [];

  get size(): number {
    return this.#waiting.length;
  }
  nextDue(): number {
    return this.#waiting[0]?.due ?? Infinity;
  }
  at(due: number, rank: Rank, task: Task): Ticket {
    const ticket = ++this.#asked;
    this.#waiting.push({ due: Math.max(due, this.now), rank, ticket, task });
    this.#waiting.sort((a, b) => a.due - b.due || a.rank - b.rank || a.ticket - b.ticket);
    return ticket;
  }
  cancel(ticket: Ticket): boolean {
    const before = this.size;
    this.#waiting = this.#waiting.filter((one) => one.ticket !== ticket);
    return this.size < before;
  }
  step(): boolean {
    const first = this.#waiting.shift();
    if (first === undefined) return false;
    this.now = first.due;
    first.task(first.due);
    return true;
  }
}

type Command =
  /** Ask for a task that does what is `inside` when it runs. */
  | { readonly does: 'at'; readonly due: number; readonly rank: Rank; readonly inside: readonly Command[] }
  /** Cancel one of all that were ever asked for. */
  | { readonly does: 'cancel'; readonly which: number }
  | { readonly does: 'step' | 'look' };

/** @param depth how many tasks deep a task may ask for another */
function command(depth: number): fc.Arbitrary<Command> {
  const inside = depth === 0 ? fc.constant([]) : fc.array(command(depth - 1), { maxLength: 3 });
  const soon = fc.integer({ min: -4, max: 60 }).map((half) => half / 2);
  // Beyond 2^31, as unix times are, and before every other.
  const far = fc.constantFrom(1.8e12, 1.8e12 + 0.5, Number.NEGATIVE_INFINITY);
  const due = fc.oneof({ weight: 9, arbitrary: soon }, { weight: 1, arbitrary: far });
  const rank = fc.constantFrom(...Object.values(Rank));
  return fc.oneof(
    { weight: 10, arbitrary: fc.record({ does: fc.constant('at' as const), due, rank, inside }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('cancel' as const), which: fc.nat() }) },
    { weight: 6, arbitrary: fc.constant<Command>({ does: 'step' }) },
    { weight: 2, arbitrary: fc.constant<Command>({ does: 'look' }) },
  );
}

/** All that an agenda says to a program, and all that ran. */
function told(agenda: Promised, commands: readonly Command[]): string[] {
  const lines: string[] = [];
  const tickets: Ticket[] = [];
  const perform = (command: Command): void => {
    switch (command.does) {
      case 'at': {
        const name = tickets.length;
        const task = (due: number) => {
          lines.push(`${name} runs, due ${due}, now ${agenda.now}`);
          command.inside.forEach(perform);
        };
        tickets.push(agenda.at(command.due, command.rank, task));
        return;
      }
      case 'cancel': {
        const name = command.which % tickets.length;
        if (tickets.length > 0) lines.push(`cancel ${name}: ${agenda.cancel(tickets[name]!)}`);
        return;
      }
      case 'step':
        lines.push(`stepped: ${agenda.step()}`);
        return;
      case 'look':
        lines.push(`now ${agenda.now}, ${agenda.size} wait, next due ${agenda.nextDue()}`);
    }
  };
  commands.forEach(perform);
  while (agenda.step());
  return lines;
}

it('the agenda says the same as a sorted list to every program, from outside or from within a task', () => {
  forAll([fc.array(command(2), { maxLength: 300, size: 'max' })], (commands) => {
    expect(told(new Agenda(0), commands)).toEqual(told(new SortedList(), commands));
  });
});
