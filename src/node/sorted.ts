// Owns the search in something sorted.

/** The first index of `0 .. length - 1` for which the condition holds, given that it holds for all behind it too; else `length`. */
export function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
