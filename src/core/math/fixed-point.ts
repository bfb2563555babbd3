// The constants of elementary.ts, computed in whole numbers: identical on every engine.
//
// A real number x >= 0 is the bigint floor(x * 2^bits). A product or a quotient loses less than one unit, so a series of n terms is
// correct to about bits - log2(n) bits.

/** `2 artanh z = 2 (z + z^3/3 + ...)`, `z = (l - s) / (l + s)`. For quotients from 1 to 2: more than 3 bits per term. */
export function logOfQuotient(larger: bigint, smaller: bigint, bits: bigint): bigint {
  const z = ((larger - smaller) << bits) / (larger + smaller);
  const square = (z * z) >> bits;
  let total = 0n;
  for (let n = 1n, power = z; power > 0n; n += 2n, power = (power * square) >> bits) total += power / n;
  return 2n * total;
}

/** `exp(x)` for `0 <= x < 1` by `1 + x + x^2/2! + ...`. */
export function expOfFraction(x: bigint, bits: bigint): bigint {
  let total = 0n;
  for (let n = 1n, term = 1n << bits; term > 0n; n++) {
    total += term;
    term = ((term * x) >> bits) / n;
  }
  return total;
}

/** pi by Machin's formula, `16 arctan(1/5) - 4 arctan(1/239)`. */
export function pi(bits: bigint): bigint {
  return 16n * arctanOfReciprocal(5n, bits) - 4n * arctanOfReciprocal(239n, bits);
}

/** `arctan(1/d) = 1/d - 1/(3 d^3) + 1/(5 d^5) - ...` */
function arctanOfReciprocal(d: bigint, bits: bigint): bigint {
  let total = 0n;
  for (let n = 1n, power = (1n << bits) / d; power > 0n; n += 2n, power /= d * d) {
    total += (n & 2n) === 0n ? power / n : -power / n;
  }
  return total;
}

/** For either sign; `bits <= 1000`, so that the scale is a double. */
export function nearestDouble(fixed: bigint, bits: bigint): number {
  return Number(fixed) / Number(1n << bits);
}

/** A sum for either sign: a multiple of `2^-kept`, whose products with small whole numbers are exact, and the next 53 bits. */
export function twoDoubles(fixed: bigint, bits: bigint, kept: bigint): [upper: number, lower: number] {
  const upper = (fixed >> (bits - kept)) << (bits - kept);
  return [nearestDouble(upper, bits), nearestDouble(fixed - upper, bits)];
}
