// The seed of a run: how it is written, and what is one.

/** All randomness of a run follows from its seed. 7 and '7' are the same seed: files and command lines write it differently. */
export type Seed = number | string;

/** A seed that follows from another, as replications have it: `77/2`, and `77/2/1` of its own replications. */
export const FOLLOWING_SEED = '^(0|[1-9]\\d{0,15})(/[1-9]\\d{0,8}){1,8}$';

/** A seed as it is written: a whole number, or one that a run has named, such as `77/2`; undefined for anything else. */
export function seedOf(text: unknown): Seed | undefined {
  const number = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text;
  if (typeof number === 'number') return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
  return typeof text === 'string' && new RegExp(FOLLOWING_SEED).test(text) ? text : undefined;
}
