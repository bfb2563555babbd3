// Decodes the bytes of a gate that Redis counts: see gate-functions.ts.
import type { WindowImage } from '../../../core/limiter/window.js';
import { HEAD_BYTES } from './gate-functions.js';

export class GateBytes {
  readonly cycle: number;
  readonly isLimiting: boolean;
  readonly heldUntilCycle: number;
  readonly within: number;
  readonly #bytes: Buffer;
  readonly #total: number;

  constructor(bytes: Buffer) {
    const head = (index: number) => bytes.readDoubleLE(8 * index);
    this.#bytes = bytes;
    this.cycle = head(0);
    this.#total = head(1);
    this.isLimiting = head(3) === 1;
    this.heldUntilCycle = head(4);
    this.within = head(7);
  }

  get window(): WindowImage {
    const counts: number[] = [];
    let before = this.#total;
    for (let age = 0; age < this.within; age += 1) {
      const total = this.#slot(this.cycle - age - 1);
      if (before > total) counts.push(age, before - total);
      before = total;
    }
    return { cycle: this.cycle, counts };
  }

  /**
   * The smallest k from `first` on such that, k cycles after `cycle` without arrivals, the window holds at most `most`.
   * @param cycle in which the window holds `count`; its past must be that of this gate
   */
  cyclesUntilAtMost(most: number, count: number, cycle: number, first: number): number {
    const base = this.#slot(cycle - this.within);
    let low = Math.max(first, this.cycle - cycle);
    let high = Math.max(low, this.within);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const left = middle >= this.within ? count : this.#slot(cycle + middle - this.within) - base;
      if (count - left <= most) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #slot(cycle: number): number {
    if (cycle >= this.cycle) return this.#total;
    const at = HEAD_BYTES + (cycle % this.within) * 8;
    return at + 8 <= this.#bytes.length ? this.#bytes.readDoubleLE(at) : 0;
  }
}
