// A priority queue of waiting tasks, ordered by due, then rank, then order of adding.
//
//   heap, 4-ary, keys side by side       slots: where a waiting task lives until it has run
//
//   place     0     1     2  | 3   4     slot           0    1    2    3    4
//   due      5.0   7.5   7.5 |           task           f    g    -    -    h
//   order    #2    #0    #1  |           place          1    2    -    -    0
//   slot      4     0     1  | 2   3     generation     1    6    3    1    2      ticket = generation * 2^31 + slot
//             waiting          free
//
// The row of slots is a permutation: free slots follow those in use. Arrays double when full; adding a task allocates nothing.
//
// A task that runs leaves the first place vacant, and the next task added moves in there: one way down the heap instead of two.
// A caller that needs the first entry settles the vacancy first.
import { lengthened } from '../math/lengthened.js';
import { assert, Bug } from '../schema/failure.js';
import type { Rank } from './rank.js';

/** `due` is the requested instant in unix ms, however late the task runs. */
export type Task = (due: number) => void;

/** Above 0 and never reused. */
export type Ticket = number;

/** The lower 31 bits of a ticket are the slot, the 22 above the generation of its content: 53 bits, an exact double. */
const SLOTS = 2 ** 31;
/** A slot used this often is retired, so that no ticket repeats: 40 bytes for four million tasks. */
const GENERATIONS = 2 ** 22;
/** Order within an instant is `rank * ASKS + number of the task`: 2^48 tasks are a year of nine million a second. */
const ASKS = 2 ** 48;
const RANKS = 32;
const FIRST_CAPACITY = 64;
const FIRST_SLOTS = Int32Array.from({ length: FIRST_CAPACITY }, (_, slot) => slot);

const nothing: Task = () => {};

/** `at`, `cancel` and `step` take O(log size). */
export class Agenda {
  #now = 0;
  #asked = 0;
  #size = 0;
  /** Places to fill before the arrays grow: the capacity minus the retired slots. */
  #room = FIRST_CAPACITY;
  #vacant = false;
  readonly #onEarlier: ((due: number) => void) | undefined;

  #dues = new Float64Array(FIRST_CAPACITY);
  #orders = new Float64Array(FIRST_CAPACITY);
  #slots = FIRST_SLOTS.slice();
  #places = new Int32Array(FIRST_CAPACITY);
  #generations = new Uint32Array(FIRST_CAPACITY).fill(1);
  readonly #tasks: Task[] = new Array<Task>(FIRST_CAPACITY).fill(nothing);

  /** @param onEarlier called when a new task becomes the first, so that a sleeping driver wakes up sooner */
  constructor(startMs: number, onEarlier?: (due: number) => void) {
    assert(Number.isFinite(startMs), `the agenda cannot start at ${startMs}`);
    this.#now = startMs;
    this.#onEarlier = onEarlier;
  }

  /** The due of the last step, in unix ms; it never decreases. */
  get now(): number {
    return this.#now;
  }

  get size(): number {
    this.#settle();
    return this.#size;
  }

  /** In unix ms; `Infinity` when nothing waits. */
  nextDue(): number {
    this.#settle();
    return this.#size === 0 ? Infinity : this.#dues[0]!;
  }

  /** Ties run by rank, then in order of adding. @param due unix ms, may have a fraction; before `now` means now; NaN and Infinity are bugs */
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

  /** False when the task has run, is running, or was cancelled. */
  cancel(ticket: Ticket): boolean {
    const slot = ticket & (SLOTS - 1);
    // A free slot already has the generation of its next ticket, so only a waiting task can match.
    if (this.#generations[slot] !== (ticket - slot) / SLOTS) return false;
    this.#release(slot);
    // A vacant first place can stay: its key precedes all others.
    this.#remove(this.#places[slot]!);
    return true;
  }

  /** Runs the first task; false when nothing waits. Throws an error of the task; the next step can follow. */
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

  /** Advances time to `ms`, never back; earlier tasks must have run. */
  passTo(ms: number): void {
    // Not `assert`: its message would be built for each request of a run.
    if (ms > this.nextDue()) throw new Bug(`time cannot pass to ${ms} while a task is due at ${this.nextDue()}`);
    if (ms > this.#now) this.#now = ms;
  }

  #settle(): void {
    if (!this.#vacant) return;
    this.#vacant = false;
    this.#remove(0);
  }

  #release(slot: number): void {
    this.#tasks[slot] = nothing;
    this.#generations[slot]!++;
  }

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
    this.#dues = lengthened(this.#dues, capacity);
    this.#orders = lengthened(this.#orders, capacity);
    this.#slots = lengthened(this.#slots, capacity);
    this.#places = lengthened(this.#places, capacity);
    this.#generations = lengthened(this.#generations, capacity).fill(1, before);
    for (let slot = before; slot < capacity; slot++) {
      this.#slots[this.#room++] = slot;
      this.#tasks.push(nothing);
    }
  }
}
