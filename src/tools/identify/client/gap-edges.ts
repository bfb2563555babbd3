// Starting points for the law search: selected gaps, and the estimated range of those before a retry.
import { getOrInsert } from '../../../core/math/get-or-insert.js';
import type { RandomStream } from '../../../core/math/random.js';
import type { Gap, WaitStructure } from './wait-law.js';

export interface Edges {
  readonly k: number;
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Approximate shortest and longest gap before a randomly drawn retry, without stalls of the machine. */
export function edgesBy(gaps: readonly Gap[], { skipsFirst }: WaitStructure): (draw: RandomStream) => Edges {
  const all = gaps.filter(({ knownMs }) => knownMs === undefined);
  const later = all.filter(({ k }) => !skipsFirst || k > 1);
  // There may be no later gap.
  const own = later.length > 0 ? later : all;
  const sortedBy = new Map<number, readonly number[]>();
  return (draw) => {
    const { k } = own[draw.integer(0, own.length - 1)]!;
    const sorted = getOrInsert(sortedBy, k, () => {
      const msOf = own.flatMap((gap) => (gap.k === k ? [gap.ms] : [])).sort((x, y) => x - y);
      return msOf.slice(0, Math.ceil(0.93 * msOf.length));
    });
    const longest = sorted.length - 1;
    const inner = () => Math.min(draw.integer(0, 2), longest);
    return { k, leastMs: Math.max(1, sorted[inner()]!), mostMs: Math.max(1, sorted[longest - inner()]!) };
  };
}

/** At most n of the gaps, evenly spread over them. */
export function thinned(gaps: readonly Gap[], n: number): readonly Gap[] {
  const place = (i: number) => Math.floor((i * n) / gaps.length);
  return gaps.length <= n ? gaps : gaps.filter((_, i) => place(i) !== place(i - 1));
}
