// Newton's law of universal gravitation: the attraction between two masses.
import { provenOperator } from './proven-operator.js';

/** G in m^3 kg^-1 s^-2, CODATA 2018 and 2022. */
const GRAVITATIONAL_CONSTANT = 6.6743e-11;

export const universalGravitation = provenOperator({
  id: 'GRAVITATION',
  name: 'Universal gravitation',
  version: '1.0',
  kind: 'physics',
  equation: 'F = G * m1 * m2 / r^2',
  inputs: {
    m1: { unit: 'kg', min: 1e-31, max: 1e42, description: 'One mass, from an electron to a galaxy.' },
    m2: { unit: 'kg', min: 1e-31, max: 1e42, description: 'The other mass.' },
    r: { unit: 'm', min: 1e-16, max: 1e27, description: 'Distance between the centres of the masses.' },
  },
  result: { unit: 'N', description: 'Attractive force on each of the masses; G = 6.67430e-11 m^3 kg^-1 s^-2.' },
  cases: [
    {
      inputs: { m1: 1, m2: 1, r: 1 },
      result: 6.6743e-11,
      tolerance: 1e-15,
      source: 'CODATA 2018: Newtonian constant of gravitation',
    },
    {
      inputs: { m1: 5.972e24, m2: 1, r: 6.37101e6 },
      result: 9.82022,
      tolerance: 1e-4,
      source: 'Yoder (1995), Astrometric and Geodetic Properties of Earth: surface gravity at the mean radius',
    },
    {
      inputs: { m1: 7.346e22, m2: 1, r: 1.7374e6 },
      result: 1.62,
      tolerance: 5e-3,
      source: 'NASA NSSDCA, Moon Fact Sheet: surface gravity, three digits',
    },
  ],
  compute: ({ m1, m2, r }) => (GRAVITATIONAL_CONSTANT * m1 * m2) / (r * r),

  // A force is the slope of the potential energy U(r) = -G m1 m2 / r, taken here over a step h to either side:
  // (U(r + h) - U(r - h)) / 2h = F / (1 - (h/r)^2), which is F to 1.5e-8 for h = r / 2^13.
  check: {
    method: 'numerical derivative of the potential energy',
    tolerance: 1e-6,
    evaluate: ({ m1, m2, r }, result) => {
      const energy = (distance: number) => (-GRAVITATIONAL_CONSTANT * m1 * m2) / distance;
      const step = r / 8192;
      const energyNear = energy(r - step);
      const energyFar = energy(r + step);
      const slope = (energyFar - energyNear) / (2 * step);
      return { left: result, right: slope, least: 1e-300, figures: { step, energyNear, energyFar, slope } };
    },
  },
});
