// Owns whole requests out of exact rates: what is left over is carried to the next cycle. Leaves rates to the models.
//
//   10 per 7 cycles    1 1 2 1 2 1 2 | 1 1 2 1 ...       by the end of cycle c, floor((c + 1) * 10 / 7) have come
//   carried, in 7ths   3 6 2 5 1 4 0 | 3 6 2 5
//
// Only whole numbers are added, so the thousand millionth cycle is as exact as the first.
import type { Rate } from '../../schema/quantity.js';

/** A number as `whole + part / parts`, 0 <= part < parts; `parts` is known from beside it. `whole` may be negative. */
export interface Mixed {
  readonly whole: number;
  readonly part: number;
}

export class Carry {
  #carried = 0;

  /** @param parts how many parts make a request, an integer from 1 to MOST_PARTS */
  constructor(readonly parts: number) {}

  /** Takes in `whole + part / parts` requests; the whole ones that are due by now. */
  take(whole: number, part: number): number {
    const carried = this.#carried + part;
    if (carried < this.parts) {
      this.#carried = carried;
      return whole;
    }
    this.#carried = carried - this.parts;
    return whole + 1;
  }

  /** What is carried, in [0, 1). */
  get fraction(): number {
    return this.#carried / this.parts;
  }
}

/** Two remainders add up to a whole number that a double holds. */
export const MOST_PARTS = 2 ** 52;

/** Rates over one denominator: in every cycle `amounts[i] / parts` requests. */
export interface CommonRates {
  readonly parts: bigint;
  readonly amounts: readonly bigint[];
}

/**
 * Brings rates to their least common denominator. Where this would be above `mostParts`, they are rounded to multiples of
 * `1 / mostParts`.
 */
export function onCommonParts(rates: readonly Rate[], mostParts: number): CommonRates {
  const most = BigInt(mostParts);
  const least = rates.reduce((parts, { cycles }) => leastCommonMultiple(parts, BigInt(cycles)), 1n);
  const parts = least > most ? most : least;
  return { parts, amounts: rates.map((rate) => nearestMultiple(rate, parts)) };
}

/** `amount / parts` as a mixed number; of a negative amount, `whole` is rounded down. */
export function mixed(amount: bigint, parts: bigint): Mixed {
  const part = ((amount % parts) + parts) % parts;
  return { whole: Number((amount - part) / parts), part: Number(part) };
}

/** Requests per cycle as a double. */
export function perCycle({ requests, cycles }: Rate): number {
  return requests / cycles;
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}

/** The whole number n for which `n / parts` is nearest to the rate. */
function nearestMultiple({ requests, cycles }: Rate, parts: bigint): bigint {
  const under = BigInt(cycles);
  return (2n * BigInt(requests) * parts + under) / (2n * under);
}
