// Owns one rolling window: how many events lie in the last `within` cycles. Leaves what follows from the count to gate.ts.
//
//   ring     | 0 | 3 | 1 | 0 | 2 |        within = 5, count = 3 + 1 + 0 + 2 + 0 = 6
//   cycle      c  c-4 c-3 c-2 c-1         slot of cycle c is overwritten when c + 5 begins
//              ^ slot
//
// Counts of a cycle are held in 32 bits, and in doubles from the first that does not fit: none overflows below 2^53.

/** A window as data: the cycle it stands at and its non-zero counts as pairs (age in cycles, events), youngest first. */
export interface WindowImage {
  readonly cycle: number;
  readonly counts: readonly (readonly [age: number, events: number])[];
}

/** The largest count that fits 32 bits. */
const MOST_32 = 2 ** 32 - 1;

export class RollingWindow {
  /** Events in the cycles `cycle - within + 1 .. cycle`. */
  count = 0;
  private ring: Uint32Array | Float64Array;
  private slot = 0;

  /**
   * @param within length in cycles, an integer >= 1
   * @param cycle the cycle at which the window begins, empty
   */
  constructor(
    readonly within: number,
    public cycle: number,
  ) {
    this.ring = new Uint32Array(within);
  }

  /** Counts `n` events of the cycle at which the window stands. */
  add(n: number): void {
    this.put(this.slot, n);
  }

  /**
   * Counts `n` events of an earlier cycle in that cycle.
   * @returns false, and counts nothing, when that cycle has left the window or has not begun
   */
  addAt(cycle: number, n: number): boolean {
    const age = this.cycle - cycle;
    if (age < 0 || age >= this.within) return false;
    this.put(this.slotOf(age), n);
    return true;
  }

  /** Moves on to `cycle`; what is `within` cycles old leaves. At most `within` steps, however far it is. */
  advance(cycle: number): void {
    const gap = cycle - this.cycle;
    if (gap <= 0) return;
    this.cycle = cycle;
    if (this.count === 0) return;
    if (gap >= this.within) {
      this.ring.fill(0);
      this.count = 0;
      return;
    }
    const { ring, within } = this;
    let { slot, count } = this;
    for (let step = 0; step < gap; step += 1) {
      slot = slot + 1 === within ? 0 : slot + 1;
      count -= ring[slot]!;
      ring[slot] = 0;
    }
    this.slot = slot;
    this.count = count;
  }

  /** How many events leave when the window moves from `cycle + after - 1` to `cycle + after`; `after` from 1 to `within`. */
  leaving(after: number): number {
    return this.ring[this.slotOf(this.within - after)]!;
  }

  /** The smallest k >= 1 such that k cycles from now the count is at most `most`, if nothing arrives; 1 if it already is. */
  cyclesUntilAtMost(most: number): number {
    let { count } = this;
    let after = 0;
    do {
      after += 1;
      count -= this.leaving(after);
    } while (count > most && after < this.within);
    return after;
  }

  image(): WindowImage {
    const counts: [number, number][] = [];
    for (let age = 0; age < this.within; age += 1) {
      const events = this.ring[this.slotOf(age)]!;
      if (events > 0) counts.push([age, events]);
    }
    return { cycle: this.cycle, counts };
  }

  /** Takes over what an image holds, its cycle included. The window must be empty. */
  restore({ cycle, counts }: WindowImage): void {
    this.cycle = cycle;
    for (const [age, events] of counts) this.addAt(cycle - age, events);
  }

  private put(slot: number, n: number): void {
    const events = this.ring[slot]! + n;
    if (events > MOST_32) this.ring = Float64Array.from(this.ring);
    this.ring[slot] = events;
    this.count += n;
  }

  private slotOf(age: number): number {
    const slot = this.slot - age;
    return slot < 0 ? slot + this.within : slot;
  }
}
