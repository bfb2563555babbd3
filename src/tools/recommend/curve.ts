// The curve of a limit: how many requests each threshold limits.
//
//   limited  |*
//            | **                limited(t) = requests with a window count above t
//            |   ****            shares are of all requests of the keys included
//            |       *********
//            +------------------ threshold
import { firstIndex } from '../../core/math/first-index.js';
import { lengthened } from '../../core/math/lengthened.js';
import type { CountedRequests } from './window-counts.js';

export class Curve {
  readonly requests: number;
  /** The largest count, and the smallest threshold that limits nothing. */
  readonly peak: number;
  /** Counts at which the number of requests changes, ascending, from 1. */
  readonly #from: Float64Array;
  /** Requests with each count from `#from[i]` up to the next. */
  readonly #each: Float64Array;
  readonly #above: Float64Array;

  constructor(counts: CountedRequests, window: number, keys: Iterable<number>) {
    let dense = new Float64Array(1024);
    const far = new Map<number, number>();
    let requests = 0;
    for (const key of keys) {
      requests += counts.requestsOf(key);
      counts.differencesOf(key, window, (place, difference) => {
        if (place < MOST_DENSE) {
          if (place >= dense.length) dense = lengthened(dense, 2 ** (32 - Math.clz32(place)));
          dense[place]! += difference;
        } else far.set(place, (far.get(place) ?? 0) + difference);
      });
    }
    const from: number[] = [];
    const each: number[] = [];
    let now = 0;
    const step = (place: number, difference: number) => {
      if (difference === 0) return;
      now += difference;
      from.push(place + 1);
      each.push(now);
    };
    dense.forEach((difference, place) => {
      step(place, difference);
    });
    for (const place of [...far.keys()].sort((a, b) => a - b)) step(place, far.get(place)!);
    this.requests = requests;
    this.#from = Float64Array.from(from);
    this.#each = Float64Array.from(each);
    this.peak = (from.at(-1) ?? 1) - 1;
    this.#above = new Float64Array(from.length + 1);
    for (let i = from.length - 2; i >= 0; i -= 1)
      this.#above[i] = this.#above[i + 1]! + each[i]! * (from[i + 1]! - from[i]!);
  }

  limited(threshold: number): number {
    const count = threshold + 1;
    const next = firstIndex(this.#from.length, (index) => this.#from[index]! > count);
    if (next === this.#from.length) return 0;
    const inside = next === 0 ? 0 : this.#each[next - 1]! * (this.#from[next]! - count);
    return inside + this.#above[next]!;
  }

  /** The smallest threshold from 1 that limits less than `share`; for a share of 0, that limits nothing. */
  thresholdFor(share: number): number {
    const isKept = (threshold: number) => {
      const limited = this.limited(threshold);
      return limited === 0 || limited < share * this.requests;
    };
    return 1 + firstIndex(Math.max(0, this.peak - 1), (below) => isKept(1 + below));
  }

  /** At most `most` thresholds from 1 to the peak: all if they fit, else with steps proportional to the threshold. */
  thresholds(most: number): number[] {
    for (let steps = Number.POSITIVE_INFINITY; ; steps = steps === Number.POSITIVE_INFINITY ? most : steps / 2) {
      const all: number[] = [];
      for (let at = 1; at <= this.peak && all.length <= most; at += Math.max(1, Math.floor(at / steps))) all.push(at);
      if (all.length > most) continue;
      if (all.length > 0 && all.at(-1) !== this.peak) all.push(this.peak);
      return all;
    }
  }
}

const MOST_DENSE = 1 << 20;
