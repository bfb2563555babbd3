// Suggests the word a person probably meant: one that begins as typed, otherwise the nearest of the allowed words.

/**
 * The first of `among` that starts with `word` (of two letters at least), otherwise the nearest, otherwise undefined.
 *
 * Near means: one edit for 2 letters, two for 5, three for 8 and more. An edit inserts, drops or replaces a letter, or swaps two
 * neighbours (optimal string alignment). Letter case is ignored. Of equally near words the first wins.
 */
export function nearest(word: string, among: Iterable<string>): string | undefined {
  const asked = word.toLowerCase();
  const words = [...among];
  const begun = words.find((candidate) => asked.length > 1 && candidate.toLowerCase().startsWith(asked));
  if (begun !== undefined) return begun;
  let best: string | undefined;
  let bestEdits = Math.min(3, Math.floor((word.length + 1) / 3)) + 1;
  for (const candidate of words) {
    if (Math.abs(candidate.length - asked.length) >= bestEdits) continue;
    const edits = editsBetween(asked, candidate.toLowerCase());
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits];
  }
  return best;
}

export function meantOr(word: string, among: Iterable<string>, otherwise: string): string {
  const guess = nearest(word, among);
  return guess === undefined ? otherwise : `did you mean "${guess}"?`;
}

/** Optimal string alignment: row i of the table holds the edits from the first i letters of `a` to each prefix of `b`. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + (same ? 0 : 1),
        swapped ? beforeLast[j - 2]! + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
