// Diffusion from a point source: the concentration around a point at which a mass was released at once.
//
//   C |  .                               t = 1: narrow and high
//     | ' '     _ . - ' - . _            t = 4: half as high in every direction, an eighth in all; twice as wide
//     |'   ' '                ' - . _
//     +------------------------------ r
import { exp } from '../math/elementary.js';
import { provenOperator } from './proven-operator.js';

/** Density of a normal step of variance 1 at 0, 1 and 2: Z of Abramowitz and Stegun, table 26.1. */
const [Z0, Z1, Z2] = [0.3989422804, 0.2419707245, 0.0539909665];

export const diffusionPointSource = provenOperator({
  id: 'DIFFUSION',
  name: 'Diffusion from a point source',
  version: '1.0',
  kind: 'physics',
  equation: 'C(r,t) = M / (4*pi*D*t)^(3/2) * exp(-r^2 / (4*D*t))',
  inputs: {
    M: { unit: 'kg', min: 1e-30, max: 1e15, description: 'Mass released at r = 0 and t = 0.' },
    D: { unit: 'm^2/s', min: 1e-20, max: 1e6, description: 'Diffusion coefficient.' },
    r: { unit: 'm', min: 0, max: 1e9, default: 0, description: 'Distance from the source.' },
    t: { unit: 's', min: 1e-6, max: 1e12, description: 'Time since the release.' },
  },
  result: { unit: 'kg/m^3', description: 'Concentration at r and t, in an unbounded medium at rest.' },
  cases: [
    {
      inputs: { M: 1, D: 0.5, r: 0, t: 1 },
      result: Z0 * Z0 * Z0,
      tolerance: 1e-9,
      source: 'Abramowitz and Stegun (1964), table 26.1: Z(0)^3, a normal step of variance 2Dt = 1 in each direction',
    },
    {
      inputs: { M: 1, D: 0.5, r: 1, t: 1 },
      result: Z1 * Z0 * Z0,
      tolerance: 1e-9,
      source: 'Abramowitz and Stegun (1964), table 26.1: Z(1) Z(0)^2',
    },
    {
      inputs: { M: 1, D: 0.5, r: 2, t: 1 },
      result: Z2 * Z0 * Z0,
      tolerance: 1e-9,
      source: 'Abramowitz and Stegun (1964), table 26.1: Z(2) Z(0)^2',
    },
  ],
  compute: ({ M, D, r, t }) => {
    const spread = 4 * D * t;
    const volume = Math.PI * spread * Math.sqrt(Math.PI * spread);
    return (M / volume) * exp(-(r * r) / spread);
  },

  // A cloud that keeps its shape has C = M / L^3 c(r / L) with L = sqrt(4 D t). Put into dC/dt = D (1/r^2) (r^2 C')' this becomes
  // (rho^2 c' + 2 rho^3 c)' = 0, so c' = -2 rho c. That is integrated in small steps outwards from c(0) = 1, and along with it
  // the mass 4 pi rho^2 c of every shell: all shells together must hold M. Neither exp nor pi^(3/2) is used.
  check: {
    method: 'integration of the diffusion equation outwards in small steps, with conservation of mass',
    tolerance: 1e-3,
    evaluate: ({ M, D, r, t }, result) => {
      const width = Math.sqrt(4 * D * t);
      const rho = r / width;
      const reach = Math.min(rho, NOTHING_BEYOND);
      // The slope grows with rho: this number of steps leaves 1e-9 of c at rho = 1, 1e-6 at 7 and 2e-5 at 28.
      const inner = marched({ rho: 0, shape: 1, mass: 0 }, reach, Math.ceil(64 + 36 * reach * reach));
      const all = reach < MASS_WITHIN ? marched(inner, MASS_WITHIN, 448) : inner;
      const peak = M / (width * width * width * all.mass);
      const shape = rho > NOTHING_BEYOND ? 0 : inner.shape;
      // Below 1e-300 of the peak, exp has run out of digits.
      const least = Math.max(1e-300, peak * 1e-300);
      return { left: result, right: peak * shape, least, figures: { rho, shape, mass: all.mass, peak } };
    },
  },
});

/** c(28) = 1e-341 is too small for a double; beyond rho = 7 lies 1e-20 of the mass. */
const NOTHING_BEYOND = 28;
const MASS_WITHIN = 7;

interface Front {
  readonly rho: number;
  readonly shape: number;
  /** 4 pi rho^2 c, integrated from 0 to rho. */
  readonly mass: number;
}

/** Moves the front outwards by the classical Runge-Kutta method for c' = -2 rho c and m' = 4 pi rho^2 c. */
function marched(from: Front, end: number, steps: number): Front {
  const h = (end - from.rho) / steps;
  let { rho, shape, mass } = from;
  for (let i = 0; i < steps; i++) {
    const middle = rho + h / 2;
    const next = from.rho + (i + 1) * h;
    const slope1 = -2 * rho * shape;
    const shape2 = shape + (h / 2) * slope1;
    const slope2 = -2 * middle * shape2;
    const shape3 = shape + (h / 2) * slope2;
    const slope3 = -2 * middle * shape3;
    const shape4 = shape + h * slope3;
    const slope4 = -2 * next * shape4;
    const shells = rho * rho * shape + 2 * middle * middle * (shape2 + shape3) + next * next * shape4;
    mass += ((4 * Math.PI * h) / 6) * shells;
    shape += (h / 6) * (slope1 + 2 * slope2 + 2 * slope3 + slope4);
    rho = next;
  }
  return { rho, shape, mass };
}
