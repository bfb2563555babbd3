// KO42, the substrate operator: a small oscillation of the value that a trigger compared, part of every transition.
//
//   R / S
//   1.00129 |              . - .         seen once a cycle, the swing takes a million cycles (nine days): f t grows by
//   1       |.-----------'-------'->     0.999999 turns a cycle, a millionth short of a full one
//   0.99871 |  ' - . - '     cycle
import { sinTurns } from '../math/elementary.js';
import { modulo } from '../math/modulo.js';
import { provenOperator } from './proven-operator.js';

/** Fired by every transition, besides the operator that it names. */
export const SUBSTRATE = 'KO42';

/** a, without unit. */
const AMPLITUDE = 0.00129;

/** f t in millionths of a turn a cycle: 1.287 Hz times 0.777 s, a whole number. */
const ADVANCE = 1287 * 777;

const TURN = 1e6;

export const ko42 = provenOperator({
  id: SUBSTRATE,
  name: 'Substrate oscillation',
  version: '1.0',
  kind: 'substrate',
  equation: 'R(t) = S(t) * (1 + a * sin(2*pi*f*t))',
  inputs: {
    S: {
      unit: '1',
      min: -1e300,
      max: 1e300,
      default: 1,
      description: 'The value that the trigger looked at: the window count; 1 where there is none.',
    },
    cycle: {
      unit: 'cycle',
      min: Number.MIN_SAFE_INTEGER,
      max: Number.MAX_SAFE_INTEGER,
      description: 'The cycle of the firing, a whole number: t = cycle * 0.777 s.',
    },
  },
  result: { unit: '1', description: 'S, swung by at most 0.129 %: a = 0.00129, f = 1.287 Hz.' },
  cases: [
    { inputs: { S: 101, cycle: 0 }, result: 101, tolerance: 0, source: 'sin(0) = 0' },
    {
      inputs: { S: 1, cycle: 250_000 },
      result: 0.99871,
      tolerance: 1e-15,
      source: 'f*t = 249999.75 turns, sin(-pi/2) = -1',
    },
    {
      inputs: { S: 1, cycle: 750_000 },
      result: 1.00129,
      tolerance: 1e-15,
      source: 'f*t = 749999.25 turns, sin(pi/2) = 1',
    },
    {
      inputs: { S: 1000, cycle: 2_999_916_667 },
      result: 1000.645,
      tolerance: 1e-8,
      source: 'f*t = 2999913667.083333 turns, sin(pi/6) = 1/2',
    },
  ],

  // The sine needs the fraction of f t. In doubles, the product f t loses it as cycles grow: at 2^53 nothing is left.
  // But f t = 0.999999 cycle = cycle - cycle / 10^6 without remainder, and whole turns do not count: the phase is
  // -(cycle mod 10^6) / 10^6, and the remainder of two doubles is exact.
  compute: ({ S, cycle }) => S * (1 + AMPLITUDE * sinTurns(-(cycle % TURN) / TURN)),

  // The check does not use that 999999 is one less than a million, and takes no sine: it multiplies f t out in whole numbers
  // and turns the pointer (1, 0) by that many millionths of a turn. The last bits of 20 doublings leave 10^-13 of R.
  check: {
    method: 'a pointer turned by a millionth of a turn, over and over',
    tolerance: 1e-11,
    evaluate: ({ S, cycle }, result) => {
      const millionths = (ADVANCE * modulo(cycle, TURN)) % TURN;
      const { cosine, sine } = turned(millionths);
      return { left: result, right: S + S * AMPLITUDE * sine, least: 1e-300, figures: { millionths, cosine, sine } };
    },
  },
});

/** The pointer (1, 0) after a number of millionths of a turn: the step of each bit set, doubled from bit to bit. */
function turned(millionths: number): { readonly cosine: number; readonly sine: number } {
  const angle = (2 * Math.PI) / TURN;
  // For one step, sine and cosine are the first terms of their series; the rest is below 10^-28.
  const square = angle * angle;
  let [stepX, stepY] = [1 - (square / 2) * (1 - square / 12), angle * (1 - square / 6)];
  let [x, y] = [1, 0];
  for (let bits = millionths; bits >= 1; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) [x, y] = [x * stepX - y * stepY, x * stepY + y * stepX];
    [stepX, stepY] = [stepX * stepX - stepY * stepY, 2 * stepX * stepY];
  }
  return { cosine: x, sine: y };
}
