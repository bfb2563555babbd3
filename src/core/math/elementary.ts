// The elementary functions that enter a digest: log, exp, pow, sine and cosine.
//
// ECMAScript leaves the precision of Math.log, exp, pow, sin and cos to the engine: the last bit may differ between two engines, or two
// versions of one. These functions use only what the standard defines exactly, so results are identical on every machine: + - * / on
// doubles, Math.floor, round, abs and fround, bigint and the bits of a double.
//
// Errors are in ulp, the distance to the next double: the largest over 200,000 arguments against 320-bit arithmetic (correct rounding:
// half an ulp). Special values (0, infinite, NaN) are those of Math.
import { expOfFraction, logOfQuotient, nearestDouble, pi, twoDoubles } from './fixed-point.js';

const BITS = 160n;
const LN2 = logOfQuotient(2n, 1n, BITS);

const SMALLEST_NORMAL = 2.2250738585072014e-308;
const LARGEST = Number.MAX_VALUE;
const TWO_TO_54 = 18014398509481984;

// A double viewed as two 32-bit words. The byte order decides which word holds sign, exponent and the upper mantissa.
const double = new Float64Array(1);
const words = new Int32Array(double.buffer);
double[0] = 1;
const TOP = words[1] === 0x3ff00000 ? 1 : 0;

/** `scale[1023 + k] = 2^-k`, exact, for k = -1023 .. 1024. */
const scale = new Float64Array(2048);
for (let k = 0, small = 1, large = 1; k <= 1024; k++, small /= 2, large *= 2) {
  scale[1023 + k] = small;
  if (k < 1024) scale[1023 - k] = large;
}

// Some steps return a double and store the part below its last bit here: returning a pair would allocate.
let rest = 0;

// ---- log ----------------------------------------------------------------------------------------------------------------
//
//   x = 2^k m                 3/4                 1                                       3/2
//   F = the mark next to m     |-|-|-|-|-|-|-|-|-|-|---|---|---|---|---|---|---|---|---|---|
//                                 1/256 apart                   1/128 apart
//
//   ln x = k ln 2 + ln F + ln(1 + r),   r = (m - F) / F,   |r| <= 1/256
//
// The marks are the doubles whose mantissa ends after 7 bits, so the bits of x identify the mark. At 1 both k and ln F are 0
// and only ln(1 + r) remains: nothing cancels, and the bound on the relative error holds there too.

/** For each mark: F, 1/F, and ln F in two parts, the first of which is a multiple of 2^-42. */
const marks = new Float64Array(4 * 128);
for (let i = 0n; i < 128n; i++) {
  const lnF = i < 64n ? logOfQuotient(128n + i, 128n, BITS) : -logOfQuotient(256n, 128n + i, BITS);
  const F = Number(128n + i) / (i < 64n ? 128 : 256);
  marks.set([F, 1 / F, ...twoDoubles(lnF, BITS, 42n)], 4 * Number(i));
}
// |k| < 2^11 times a multiple of 2^-42 below 1 fits 53 bits: k * LN2_UPPER + ln F is exact.
const [LN2_UPPER, LN2_LOWER] = twoDoubles(LN2, BITS, 42n);

/** Error <= 0.88 ulp. `log(0)` is -Infinity; the logarithm of a negative number is NaN. */
export function log(x: number): number {
  if (x >= SMALLEST_NORMAL && x <= LARGEST) return logOfNormal(x, 0);
  if (x > 0 && x < SMALLEST_NORMAL) return logOfNormal(x * TWO_TO_54, -54);
  if (x === 0) return -Infinity;
  return x === Infinity ? x : NaN;
}

/** `ln x + shift ln 2` for a normal x. */
function logOfNormal(x: number, shift: number): number {
  double[0] = x;
  // Adding half a step rounds to the next mark; from 3/4 of a power of two, x belongs to the next power.
  const rounded = words[TOP]! + 0x1000;
  const biased = (rounded + 0x80000) >> 20;
  const mark = ((rounded >> 13) & 127) << 2;
  const k = biased - 1023 + shift;
  const r = (x * scale[biased]! - marks[mark]!) * marks[mark + 1]!;
  const base = k * LN2_UPPER + marks[mark + 2]!;
  // ln(1 + r) = r - r^2/2 + r^3/3 - ... + r^7/7; the next term is below 2^-59 r.
  const r2 = r * r;
  const curve = r2 * (r * (1 / 3) - 1 / 2 + r2 * (r * (1 / 5) - 1 / 4 + r2 * (r * (1 / 7) - 1 / 6)));
  const sum = base + r;
  return sum + (base - sum + r + (k * LN2_LOWER + marks[mark + 3]! + curve));
}

/** As `logOfNormal`, to about 2^-68: returns the rounded logarithm and stores the remainder in `rest`. */
function logWithRest(x: number, shift: number): number {
  double[0] = x;
  const rounded = words[TOP]! + 0x1000;
  const biased = (rounded + 0x80000) >> 20;
  const mark = ((rounded >> 13) & 127) << 2;
  const k = biased - 1023 + shift;
  const F = marks[mark]!;
  const base = k * LN2_UPPER + marks[mark + 2]!;
  // (m - F) / F = r + s, r of 24 bits: F r and r^2 / 2 are exact, and 1 + r + s = (1 + r)(1 + t).
  const distance = x * scale[biased]! - F;
  const r = Math.fround(distance * marks[mark + 1]!);
  const t = ((distance - F * r) * marks[mark + 1]!) / (1 + r);
  const square = -0.5 * r * r;
  const cubic = r * r * r * (1 / 3 - r * (1 / 4 - r * (1 / 5 - r * (1 / 6 - r * (1 / 7 - r * (1 / 8 - r * (1 / 9)))))));
  const first = base + r;
  const second = first + square;
  const lost = base - first + r + (first - second + square);
  const lower = lost + (k * LN2_LOWER + marks[mark + 3]! + (t - 0.5 * t * t + cubic));
  const upper = second + lower;
  rest = second - upper + lower;
  return upper;
}

// ---- exp ----------------------------------------------------------------------------------------------------------------
//
//   x = n ln2/64 + r,   n = 64 k + j,   |r| <= ln2/128            exp x = 2^k * 2^(j/64) * exp r

/** `2^(j/64)` in two parts, for j = 0 .. 63. */
const roots = new Float64Array(2 * 64);
for (let j = 0n; j < 64n; j++) roots.set(twoDoubles(expOfFraction((LN2 * j) / 64n, BITS), BITS, 52n), 2 * Number(j));
// |n| < 2^17 times a multiple of 2^-42 below 2^-6 fits 53 bits.
const [STEP_UPPER, STEP_LOWER] = twoDoubles(LN2 / 64n, BITS, 42n);
const STEPS_PER_UNIT = nearestDouble(((64n << BITS) << BITS) / LN2, BITS);

/** Error <= 0.52 ulp (1 ulp below 2.3e-308). */
export function exp(x: number): number {
  return expOfSum(x, 0);
}

/** `exp(x + y)`, where y is smaller than the last bit of x. */
function expOfSum(x: number, y: number): number {
  if (x > 710) return Infinity;
  if (x < -746) return 0;
  const n = Math.floor(x * STEPS_PER_UNIT + 0.5);
  const r = x - n * STEP_UPPER - n * STEP_LOWER + y;
  // exp r - 1 = r + r^2/2! + ... + r^6/6!; the next term is below 2^-64.
  const growth = r + r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720)))));
  const root = (n & 63) << 1;
  const value = roots[root]! + (roots[root]! * growth + roots[root + 1]!);
  // 2^k may be out of range when the product is not: multiply by two factors, the first without rounding.
  const k = n >> 6;
  const half = k >> 1;
  return value * scale[1023 - half]! * scale[1023 - k + half]!;
}

// ---- pow ----------------------------------------------------------------------------------------------------------------

/** Error <= 0.52 ulp, so whole powers that fit are exact. Otherwise as `Math.pow`: NaN for x < 0 unless y is whole. */
export function pow(x: number, y: number): number {
  if (y === 0) return 1;
  if (!(Math.abs(y) < Infinity) || !(Math.abs(x) < Infinity) || x === 0) return powOfSpecial(x, y);
  if (x > 0) return powOfPositive(x, y);
  if (Math.floor(y) !== y) return NaN;
  return y % 2 === 0 ? powOfPositive(-x, y) : -powOfPositive(-x, y);
}

function powOfPositive(x: number, y: number): number {
  const upper = x < SMALLEST_NORMAL ? logWithRest(x * TWO_TO_54, -54) : logWithRest(x, 0);
  const exponent = y * upper;
  if (exponent === 0) return 1;
  if (Math.abs(exponent) > 746) return exponent > 0 ? Infinity : 0;
  return expOfSum(exponent, lostInProduct(y, upper, exponent) + y * rest);
}

/** For 0, infinite and NaN arguments: it only matters whether |x| is above or below 1. */
function powOfSpecial(x: number, y: number): number {
  const size = Math.abs(x);
  if (Number.isNaN(x) || Number.isNaN(y) || (size === 1 && Math.abs(y) === Infinity)) return NaN;
  const value = size > 1 === y > 0 ? Infinity : 0;
  const negative = x < 0 || Object.is(x, -0);
  return negative && Math.abs(y % 2) === 1 ? -value : value;
}

/** The exact `a b - product`, where `product` is the rounded `a b`: each factor is split into halves of 26 bits (Dekker, Veltkamp). */
function lostInProduct(a: number, b: number, product: number): number {
  const a1 = upperHalf(a);
  const b1 = upperHalf(b);
  return a1 * b1 - product + a1 * (b - b1) + (a - a1) * b1 + (a - a1) * (b - b1);
}

function upperHalf(a: number): number {
  const shifted = a * 134217729;
  return shifted - (shifted - a);
}

// ---- sine and cosine ----------------------------------------------------------------------------------------------------
//
//            quadrant 1
//          . - ' | ' - .          The angle is reduced to the nearest quarter turn without error. The remainder is at most an
//    2   --------+--------  0     eighth of a turn in either direction; one of two series gives its sine or cosine.
//          ' - . | . - '
//            quadrant 3

// 24 bits of a turn times a multiple of 2^-24 below 8 fit 53 bits.
const [TAU_UPPER, TAU_LOWER] = twoDoubles(2n * pi(BITS), BITS, 24n);
const TAU = nearestDouble(2n * pi(BITS), BITS);

/** `sin(2 pi x)`, exact at every quarter turn; error <= 0.76 ulp. */
export function sinTurns(x: number): number {
  const quadrant = toQuadrant(x);
  return sineOf(quadrant, near, rest);
}

/** Of x radians; error <= 0.76 ulp for every x. Takes microseconds where |x| > 0.78; `sinTurns` is always fast. */
export function sin(x: number): number {
  if (!(Math.abs(x) < Infinity)) return NaN;
  if (Math.abs(x) <= 0.78) return sine(x, 0);
  const quadrant = radiansToQuadrant(Math.abs(x));
  return x < 0 ? -sineOf(quadrant, near, rest) : sineOf(quadrant, near, rest);
}

/** Error and cost as for `sin`. */
export function cos(x: number): number {
  if (!(Math.abs(x) < Infinity)) return NaN;
  if (Math.abs(x) <= 0.78) return cosine(x, 0);
  return sineOf(radiansToQuadrant(Math.abs(x)) + 1, near, rest);
}

// The remainder of an angle within its quadrant, in radians; `rest` holds the part below its last bit.
let near = 0;

/** The quadrant (-2 .. 2) of x turns. Every step but the last two products is exact: x - round(x) has no more bits than x. */
function toQuadrant(x: number): number {
  const turn = x - Math.round(x);
  const quadrant = Math.round(turn * 4);
  const part = turn - quadrant / 4;
  const upper = Math.fround(part);
  const product = upper * TAU_UPPER;
  const lower = upper * TAU_LOWER + (part - upper) * TAU;
  near = product + lower;
  rest = product - near + lower;
  return quadrant;
}

const REDUCTION_BITS = 1216n;
let quarterTurn = 0n;

/** The quadrant (0 .. 3) of x radians, x > 1/2. A double may be 2^1024 large and 2^-62 close to a multiple of pi/2: pi needs 1200 bits. */
function radiansToQuadrant(x: number): number {
  if (quarterTurn === 0n) quarterTurn = pi(REDUCTION_BITS) / 2n;
  const fixed = x < TWO_TO_54 ? BigInt(x * TWO_TO_54) << (REDUCTION_BITS - 54n) : BigInt(x) << REDUCTION_BITS;
  const quarters = (fixed + quarterTurn / 2n) / quarterTurn;
  const remainder = (fixed - quarters * quarterTurn) >> (REDUCTION_BITS - BITS);
  near = nearestDouble(remainder, BITS);
  rest = nearestDouble(remainder - BigInt(near * Number(1n << BITS)), BITS);
  return Number(quarters & 3n);
}

/** The sine of `quadrant` quarter turns plus `y + z` radians; `quadrant` is any whole number from -3. */
function sineOf(quadrant: number, y: number, z: number): number {
  switch ((quadrant + 4) & 3) {
    case 0:
      return sine(y, z);
    case 1:
      return cosine(y, z);
    case 2:
      return 0 - sine(y, z);
    default:
      return -cosine(y, z);
  }
}

/** `sin(y + z)`, |y| <= pi/4 and z below the last bit of y: y - y^3/3! + ... + y^17/17!; the next term is below 2^-63 y. */
function sine(y: number, z: number): number {
  if (y === 0) return y;
  const s = y * y;
  const upper =
    1 / 362880 - s * (1 / 39916800 - s * (1 / 6227020800 - s * (1 / 1307674368000 - s * (1 / 355687428096000))));
  return y + (z * (1 - s / 2) - y * s * (1 / 6 - s * (1 / 120 - s * (1 / 5040 - s * upper))));
}

/** `cos(y + z)` in the same way: 1 - y^2/2! + ... + y^16/16!. */
function cosine(y: number, z: number): number {
  const s = y * y;
  const upper = 1 / 3628800 - s * (1 / 479001600 - s * (1 / 87178291200 - s * (1 / 20922789888000)));
  const rough = 1 - s / 2;
  return rough + (1 - rough - s / 2 + (s * s * (1 / 24 - s * (1 / 720 - s * (1 / 40320 - s * upper))) - y * z));
}
