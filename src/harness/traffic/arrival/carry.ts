// Converts exact rates to whole requests: the remainder of a cycle is carried to the next.
//
//   10 per 7 cycles    1 1 2 1 2 1 2 | 1 1 2 1 ...       by the end of cycle c, floor((c + 1) * 10 / 7) have arrived
//   carried, in 7ths   3 6 2 5 1 4 0 | 3 6 2 5
//
// Only whole numbers are added, so cycle 1,000,000,000 is as exact as the first.
import type { Rate } from '../../../core/schema/quantity.js';

/** `whole + part / parts` with 0 <= part < parts; the caller knows `parts`. `whole` may be negative. */
interface Mixed {
  readonly whole: number;
  readonly part: number;
}

export class Carry {
  #carried = 0;

  /** @param parts the denominator, an integer from 1 to MOST_PARTS */
  constructor(readonly parts: number) {}

  take(whole: number, part: number): number {
    const carried = this.#carried + part;
    if (carried < this.parts) {
      this.#carried = carried;
      return whole;
    }
    this.#carried = carried - this.parts;
    return whole + 1;
  }

  get fraction(): number {
    return this.#carried / this.parts;
  }
}

/** The sum of two remainders is a whole number that a double can hold. */
export const MOST_PARTS = 2 ** 52;

/** The least common denominator; if it is above `mostParts`, rates are rounded to multiples of `1 / mostParts`. */
export function onCommonParts(rates: readonly Rate[], mostParts: number) {
  const most = BigInt(mostParts);
  const least = rates.reduce((parts, { cycles }) => leastCommonMultiple(parts, BigInt(cycles)), 1n);
  const parts = least > most ? most : least;
  return { parts, amounts: rates.map((rate) => nearestMultiple(rate, parts)) };
}

/** `amount / parts` as a mixed number; for a negative amount, `whole` is rounded down. */
export function mixed(amount: bigint, parts: bigint): Mixed {
  const part = ((amount % parts) + parts) % parts;
  return { whole: Number((amount - part) / parts), part: Number(part) };
}

export function perCycle({ requests, cycles }: Rate): number {
  return requests / cycles;
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}

function nearestMultiple({ requests, cycles }: Rate, parts: bigint): bigint {
  const under = BigInt(cycles);
  return (2n * BigInt(requests) * parts + under) / (2n * under);
}
