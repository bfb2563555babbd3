// A part of a list, taken at equal distances.

/** At most `most` elements, in order; all if there are no more. @param most at least 1 */
export function sampleEvenly<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(most, all.length) }, (_, k) => all[Math.floor(k * step)]!);
}
