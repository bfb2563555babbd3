// One window read against a quiet band: how many events can be counted before the actor has to be asked.
//
//   band   lo ............ hi
//   count        ^ room = hi - count      reach(n): counts up to n events and stops behind the first that leaves the band
import { RollingWindow } from './window.js';

export class Gauge extends RollingWindow {
  /** Counts within lo .. hi are quiet. An empty band (lo > hi) means that the next evaluation fires. */
  lo = 0;
  hi = Number.POSITIVE_INFINITY;

  get isQuiet(): boolean {
    return this.count >= this.lo && this.count <= this.hi;
  }

  /** How many of `n` events, taken one by one, can be counted until the first one that leaves the band; that one included. */
  reach(n: number): number {
    const { count } = this;
    if (count + 1 < this.lo || count + 1 > this.hi) return 1;
    return Math.min(n, this.hi - count + 1);
  }

  /**
   * The first cycle after now, up to `last`, at which the count lies outside the band if nothing arrives; Infinity for none.
   * Events only leave, so only the lower end can be crossed on the way.
   */
  exitBy(last: number): number {
    const { lo } = this;
    let { count } = this;
    if (count < lo || count > this.hi) return this.cycle + 1;
    if (lo <= 0 || count === 0) return Number.POSITIVE_INFINITY;
    const steps = Math.min(last - this.cycle, this.within);
    for (let after = 1; after <= steps; after += 1) {
      count -= this.leaving(after);
      if (count < lo) return this.cycle + after;
    }
    return Number.POSITIVE_INFINITY;
  }
}
