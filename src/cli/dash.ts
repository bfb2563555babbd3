// Owns the lone dash, which means standard input. yargs drops it from positional arguments, so it is given another word on the way
// through. Leaves reading standard input to who is given a dash.

/** No argument of a process can hold a zero, so nobody can have meant anything else by it. */
const DASH = '\u0000-';

/** For the arguments, before yargs sees them. */
export function hideDash(words: readonly string[]): string[] {
  return words.map((word) => (word === '-' ? DASH : word));
}

/** For `coerce` of a positional argument that may be a dash. */
export function showDash(word: string): string {
  return word === DASH ? '-' : word;
}

/** The same for a list of them. */
export function showDashes(words: readonly string[]): string[] {
  return words.map(showDash);
}
