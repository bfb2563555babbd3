// The syntax of seeds.

/** All randomness of a run follows from its seed. 7 and '7' are the same: files and command lines write it differently. */
export type Seed = number | string;

/** Seeds derived from another, as for replications: `77/2`, and `77/2/1` for its own replications. */
export const FOLLOWING_SEED = '^(0|[1-9]\\d{0,15})(/[1-9]\\d{0,8}){1,8}$';

/** A whole number, or a derived seed such as `77/2`; undefined for anything else. */
export function seedOf(text: unknown): Seed | undefined {
  const number = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text;
  if (typeof number === 'number') return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
  return typeof text === 'string' && new RegExp(FOLLOWING_SEED).test(text) ? text : undefined;
}
