// Sets of counts: the integers >= 0 for which a condition holds, as sorted, disjoint, non-adjacent closed ranges.
//
//   count > 100                    |          [101 ................... Infinity)
//   count <= 100                   [0 .. 100]
//   count < 10 or count > 100      [0 .. 9]   [101 ................... Infinity)

export interface IntegerRange {
  readonly lo: number;
  readonly hi: number;
}

export type IntegerSet = readonly IntegerRange[];

export const NONE: IntegerSet = [];
export const ALL: IntegerSet = [{ lo: 0, hi: Number.POSITIVE_INFINITY }];

export function range(lo: number, hi: number): IntegerSet {
  const from = Math.max(0, lo);
  return from <= hi ? [{ lo: from, hi }] : NONE;
}

export function has(set: IntegerSet, count: number): boolean {
  for (const { lo, hi } of set) {
    if (count < lo) return false;
    if (count <= hi) return true;
  }
  return false;
}

export function union(...sets: readonly IntegerSet[]): IntegerSet {
  const merged: { lo: number; hi: number }[] = [];
  for (const { lo, hi } of sets.flat().sort((x, y) => x.lo - y.lo)) {
    const last = merged.at(-1);
    if (last !== undefined && lo <= last.hi + 1) last.hi = Math.max(last.hi, hi);
    else merged.push({ lo, hi });
  }
  return merged;
}

export function complement(set: IntegerSet): IntegerSet {
  const gaps: IntegerRange[] = [];
  let from = 0;
  for (const { lo, hi } of set) {
    if (from < lo) gaps.push({ lo: from, hi: lo - 1 });
    from = hi + 1;
  }
  if (from < Number.POSITIVE_INFINITY) gaps.push({ lo: from, hi: Number.POSITIVE_INFINITY });
  return gaps;
}

export function intersection(a: IntegerSet, b: IntegerSet): IntegerSet {
  return complement(union(complement(a), complement(b)));
}

export function rangeAround(set: IntegerSet, count: number): IntegerRange | undefined {
  for (const range of set) if (range.lo <= count && count <= range.hi) return range;
  return undefined;
}
