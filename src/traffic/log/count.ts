// Owns reading a number of requests from its decimal text. Leaves which column it stands in to columns.ts.

/** More requests than this in one row are refused: sums over a log stay exact. */
const MAX_COUNT = 1e12;

const WHOLE = /^\s*\+?(\d{1,15})(?:\.0*)?\s*$/;

/** A whole number from 0 to 10^12, as `61` or `61.0`; NaN for anything else. */
export function readCount(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  let at = from;
  for (; at < to && at - from < 12; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) break;
    count = count * 10 + digit;
  }
  if (at === to && to > from) return count;
  if (to - from > 64) return Number.NaN;
  const digits = WHOLE.exec(String.fromCharCode(...bytes.subarray(from, to)))?.[1];
  const whole = digits === undefined ? Number.NaN : Number(digits);
  return whole <= MAX_COUNT ? whole : Number.NaN;
}
