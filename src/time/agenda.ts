// Everything that waits, in the order in which it runs: by due, then rank, then order of asking. virtual.ts steps at once;
// wall.ts waits, then takes the same step.
//
//   heap, 4-ary, keys side by side       slots: where a waiting task lives until it has run
//
//   place     0     1     2  | 3   4     slot           0    1    2    3    4
//   due      5.0   7.5   7.5 |           task           f    g    -    -    h
//   order    #2    #0    #1  |           place          1    2    -    -    0
//   slot      4     0     1  | 2   3     generation     1    6    3    1    2      ticket = generation * 2^31 + slot
//             waiting          free
//
// The row of slots is a permutation: beyond the waiting ones stand the free ones, so there is no other list to keep.
// Every array is parallel and doubles when full; asking allocates nothing.
//
// A task that runs leaves the first place vacant, and what it asks for next moves in there: one way down the heap instead
// of one for the leaver and one for the newcomer. Whoever needs to know who is first settles the vacancy before.
import { assert, Bug } from '../schema/failure.js';
import type { Rank } from './rank.js';

/** What runs when its time has come. `due` is the instant it was asked for, in unix ms, however late it runs. */
export type Task = (due: number) => void;

/** Proof of having asked, for `cancel`. Never given twice, so one that has run or was cancelled cancels nothing else. Above 0. */
export type Ticket = number;

/** A slot is named by the lower 31 bits of a ticket, the generation of its content by the 22 above: 53 bits, an exact double. */
const SLOTS = 2 ** 31;
/** A slot that has served this often is retired, and 40 bytes with it, lest a ticket come back: one in four million asks. */
const GENERATIONS = 2 ** 22;
/** Order within an instant is `rank * ASKS + number of the ask`: 2^48 asks last a year at nine million a second. */
const ASKS = 2 ** 48;
const RANKS = 32;
const FIRST_CAPACITY = 64;

const nothing: Task = () => {};

/** All that waits, in one heap. `at`, `cancel` and `step` take O(log size); nothing here looks at a clock. */
export class Agenda {
  #now: number;
  #asked = 0;
  #size = 0;
  /** Places that can be filled before the arrays must grow: the capacity less the retired slots. */
  #room = FIRST_CAPACITY;
  /** True when place 0 belongs to a task that has been taken out to run. */
  #vacant = false;
  readonly #onEarlier: ((due: number) => void) | undefined;

  // By place in the heap.
  #dues = new Float64Array(FIRST_CAPACITY);
  #orders = new Float64Array(FIRST_CAPACITY);
  #slots = Int32Array.from({ length: FIRST_CAPACITY }, (_, slot) => slot);
  // By slot.
  #places = new Int32Array(FIRST_CAPACITY);
  #generations = new Uint32Array(FIRST_CAPACITY).fill(1);
  readonly #tasks: Task[] = new Array<Task>(FIRST_CAPACITY).fill(nothing);

  /**
   * @param startMs where time begins, in unix ms
   * @param onEarlier called with the due of a task that was just added and is now the first to run, so that a driver
   *   which sleeps until `nextDue()` can wake up sooner
   */
  constructor(startMs: number, onEarlier?: (due: number) => void) {
    assert(Number.isFinite(startMs), `the agenda cannot start at ${startMs}`);
    this.#now = startMs;
    this.#onEarlier = onEarlier;
  }

  /** The due of the last step, in unix ms; it never decreases. */
  get now(): number {
    return this.#now;
  }

  /** How many tasks wait. */
  get size(): number {
    this.#settle();
    return this.#size;
  }

  /** When the first of those who wait is due, in unix ms; `Infinity` when nothing waits. */
  nextDue(): number {
    this.#settle();
    return this.#size === 0 ? Infinity : this.#dues[0]!;
  }

  /**
   * Asks for `task` to run at `due`, after those of the same due who have a lower rank or the same rank and asked before.
   * What is due before `now` is due now: the past is not reopened.
   * @param due unix ms, may have a fraction; NaN and Infinity are bugs, since neither ever comes
   */
  at(due: number, rank: Rank, task: Task): Ticket {
    if (!(due < Infinity)) throw new Bug(`a task cannot be due at ${due}`);
    if (!(rank >= 0 && rank < RANKS)) throw new Bug(`there is no rank ${rank}`);
    const clamped = Math.max(due, this.#now);
    const order = rank * ASKS + this.#asked++;
    if (!this.#vacant && this.#size === this.#room) this.#grow();
    const slot = this.#slots[this.#vacant ? 0 : this.#size]!;
    const ticket = this.#generations[slot]! * SLOTS + slot;
    this.#tasks[slot] = task;
    const place = this.#vacant ? this.#sink(0, clamped, order, slot) : this.#rise(this.#size++, clamped, order, slot);
    this.#vacant = false;
    if (place === 0 && this.#onEarlier !== undefined) this.#onEarlier(clamped);
    return ticket;
  }

  /** Takes back what was asked for. False when it has run, runs at this moment, or was cancelled before. */
  cancel(ticket: Ticket): boolean {
    const slot = ticket & (SLOTS - 1);
    // A free slot is already of the generation of its next ticket, so only what still waits can match.
    if (this.#generations[slot] !== (ticket - slot) / SLOTS) return false;
    this.#release(slot);
    // A vacant first place can stay: the key that stands there is still before every other.
    this.#remove(this.#places[slot]!);
    return true;
  }

  /**
   * Removes the first task and runs it; false when nothing waits. A task that throws is gone all the same, and its error
   * goes to the caller: the agenda is in order and can go on with the next step.
   */
  step(): boolean {
    this.#settle();
    if (this.#size === 0) return false;
    const due = this.#dues[0]!;
    const slot = this.#slots[0]!;
    const task = this.#tasks[slot]!;
    this.#release(slot);
    this.#vacant = true;
    if (this.#generations[slot] === GENERATIONS) this.#settle();
    this.#now = due;
    task(due);
    return true;
  }

  /** Lets time pass up to `ms` with nothing to do; whatever is due before must have run. Time does not go back. */
  passTo(ms: number): void {
    assert(ms <= this.nextDue(), `time cannot pass to ${ms} while a task is due at ${this.nextDue()}`);
    if (ms > this.#now) this.#now = ms;
  }

  /** Forgets all that waits; every ticket given so far is stale, and `now` stays. */
  clear(): void {
    this.#settle();
    // From the end, where removing one moves no other.
    while (this.#size > 0) {
      this.#release(this.#slots[this.#size - 1]!);
      this.#remove(this.#size - 1);
    }
  }

  #settle(): void {
    if (!this.#vacant) return;
    this.#vacant = false;
    this.#remove(0);
  }

  /** Makes every ticket for the slot stale, and lets go of its task. */
  #release(slot: number): void {
    this.#tasks[slot] = nothing;
    this.#generations[slot]!++;
  }

  /** Fills the place with the last of the heap. The slot that stood there, released before, is free or retired. */
  #remove(place: number): void {
    const slots = this.#slots;
    const slot = slots[place]!;
    const last = --this.#size;
    if (place < last) {
      const due = this.#dues[last]!;
      const order = this.#orders[last]!;
      const mover = slots[last]!;
      if (this.#rise(place, due, order, mover) === place) this.#sink(place, due, order, mover);
    }
    slots[last] = this.#generations[slot] === GENERATIONS ? slots[--this.#room]! : slot;
  }

  /** Puts an entry at `from` or, past everyone who comes after it, nearer to the root; returns where it went. */
  #rise(from: number, due: number, order: number, slot: number): number {
    const dues = this.#dues;
    const orders = this.#orders;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const parentDue = dues[parent]!;
      if (parentDue < due || (parentDue === due && orders[parent]! < order)) break;
      this.#put(place, parentDue, orders[parent]!, this.#slots[parent]!);
      place = parent;
    }
    this.#put(place, due, order, slot);
    return place;
  }

  /** Puts an entry at `from` or, below everyone who comes before it, further from the root; returns where it went. */
  #sink(from: number, due: number, order: number, slot: number): number {
    const dues = this.#dues;
    const orders = this.#orders;
    const size = this.#size;
    let place = from;
    for (let child = 4 * place + 1; child < size; child = 4 * place + 1) {
      let first = child;
      let firstDue = dues[child]!;
      const end = Math.min(child + 4, size);
      for (let sibling = child + 1; sibling < end; sibling++) {
        const siblingDue = dues[sibling]!;
        if (siblingDue < firstDue || (siblingDue === firstDue && orders[sibling]! < orders[first]!)) {
          first = sibling;
          firstDue = siblingDue;
        }
      }
      if (due < firstDue || (due === firstDue && order < orders[first]!)) break;
      this.#put(place, firstDue, orders[first]!, this.#slots[first]!);
      place = first;
    }
    this.#put(place, due, order, slot);
    return place;
  }

  #put(place: number, due: number, order: number, slot: number): void {
    this.#dues[place] = due;
    this.#orders[place] = order;
    this.#slots[place] = slot;
    this.#places[slot] = place;
  }

  #grow(): void {
    const before = this.#tasks.length;
    const capacity = 2 * before;
    assert(capacity <= SLOTS, 'more tasks wait than the agenda can number');
    this.#dues = widened(this.#dues, new Float64Array(capacity));
    this.#orders = widened(this.#orders, new Float64Array(capacity));
    this.#slots = widened(this.#slots, new Int32Array(capacity));
    this.#places = widened(this.#places, new Int32Array(capacity));
    this.#generations = widened(this.#generations, new Uint32Array(capacity).fill(1));
    for (let slot = before; slot < capacity; slot++) {
      this.#slots[this.#room++] = slot;
      this.#tasks.push(nothing);
    }
  }
}

function widened<A extends Float64Array | Int32Array | Uint32Array>(from: A, into: A): A {
  into.set(from);
  return into;
}
