// Which keys have been idle for longest: each is in one list, by the cycle of a count of it.
//
//   | 40: a b c | 41: d |        span = 60: in cycle 100 the keys of 40 are looked at, oldest first. One that has counted since then gets a
//                                second chance, in the list of its last count; the others are idle
//
// A count only notes its cycle: moving a key to another list at each count would pause a node with a million keys for half a second.
import { FifoQueue } from '../../core/math/fifo-queue.js';
import { Agenda, type Ticket } from '../../core/time/agenda.js';
import { Rank } from '../../core/time/rank.js';

export interface Ageing {
  /** Cycle of its last count, from that on in which the keys began: a small number, which is stored in the object itself. */
  touched: number;
  isGone: boolean;
}

export class IdleKeys<Key extends Ageing> {
  readonly #span: number;
  readonly #began: number;
  #cycle: number;
  readonly #listed = new Map<number, { readonly keys: Key[]; readonly ticket: Ticket }>();
  readonly #agenda = new Agenda(Number.MIN_SAFE_INTEGER);
  readonly #due = new FifoQueue<Key[]>();

  /** @param span cycles without a count until a key is idle */
  constructor(span: number, cycle: number) {
    this.#span = span;
    this.#began = cycle;
    this.#cycle = cycle;
  }

  reach(cycle: number): void {
    this.#cycle = cycle;
    while (this.#agenda.nextDue() <= cycle) this.#agenda.step();
  }

  touch(key: Key, cycle: number): void {
    key.touched = (cycle - this.#began) | 0;
  }

  lastOf({ touched }: Key): number {
    return this.#began + touched;
  }

  list(key: Key, cycle: number): void {
    const list = this.#listed.get(cycle);
    if (list !== undefined) {
      list.keys.push(key);
      return;
    }
    const keys = [key];
    if (cycle + this.#span <= this.#cycle) {
      this.#due.push(keys);
      return;
    }
    const ticket = this.#agenda.at(cycle + this.#span, Rank.advance, () => {
      this.#due.push(keys);
      this.#listed.delete(cycle);
    });
    this.#listed.set(cycle, { keys, ticket });
  }

  /** The key that has been idle for longest, as far as `most` keys that are looked at show it. */
  first(most: number): Key | undefined {
    for (let looked = 0; looked < most; looked += 1) {
      const keys = this.#due.first;
      const key = keys?.at(-1);
      if (keys === undefined) return undefined;
      if (key === undefined) this.#due.shift();
      else if (!key.isGone && this.lastOf(key) + this.#span <= this.#cycle) return key;
      else this.#listAgain(keys);
    }
    return undefined;
  }

  /** Takes the `first` from its list. */
  shift(): void {
    this.#due.first!.pop();
  }

  /** When the next key becomes idle if it does not count again; undefined without keys. */
  nextCycle(most: number): number | undefined {
    for (let looked = 0; looked < most && this.#listed.size > 0; looked += 1) {
      const cycle = this.#agenda.nextDue() - this.#span;
      const { keys, ticket } = this.#listed.get(cycle)!;
      const key = keys.at(-1);
      if (key?.isGone === false && this.lastOf(key) <= cycle) break;
      if (key !== undefined) this.#listAgain(keys);
      else {
        this.#agenda.cancel(ticket);
        this.#listed.delete(cycle);
      }
    }
    return this.#listed.size === 0 ? undefined : this.#agenda.nextDue();
  }

  #listAgain(keys: Key[]): void {
    const key = keys.pop()!;
    if (!key.isGone) this.list(key, this.lastOf(key));
  }
}
