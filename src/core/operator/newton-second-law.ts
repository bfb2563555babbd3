// Newton's second law: the force that gives a mass an acceleration.
import { provenOperator } from './proven-operator.js';

export const newtonSecondLaw = provenOperator({
  id: 'NEWTON2',
  name: "Newton's second law",
  version: '1.0',
  kind: 'physics',
  equation: 'F = m * a',
  inputs: {
    m: { unit: 'kg', min: 1e-31, max: 1e42, description: 'Mass, from an electron to a galaxy.' },
    a: { unit: 'm/s^2', min: -1e30, max: 1e30, description: 'Acceleration along the line of the force.' },
  },
  result: { unit: 'N', description: 'Force.' },
  cases: [
    { inputs: { m: 1, a: 1 }, result: 1, tolerance: 0, source: 'SI Brochure, 9th ed., table 4: N = kg m s^-2' },
    {
      inputs: { m: 1, a: 9.80665 },
      result: 9.80665,
      tolerance: 1e-15,
      source: 'NIST SP 811 (2008), appendix B.8: kilogram-force',
    },
    {
      inputs: { m: 0.45359237, a: 9.80665 },
      result: 4.4482216152605,
      tolerance: 1e-14,
      source: 'NIST SP 811 (2008), appendix B.8: pound-force',
    },
    {
      inputs: { m: 0.45359237, a: 0.3048 },
      result: 0.138254954376,
      tolerance: 1e-14,
      source: 'NIST SP 811 (2008), appendix B.8: poundal, from the pound and the foot',
    },
  ],
  compute: ({ m, a }) => m * a,

  // Back into a = F / m. Accelerations below 1e-200 m/s^2 count as 0: their force would be too small for a double.
  check: {
    method: 'back-substitution: the acceleration that the force gives the mass',
    tolerance: 1e-12,
    evaluate: ({ m, a }, result) => {
      const acceleration = result / m;
      return { left: acceleration, right: a, least: 1e-200, figures: { acceleration } };
    },
  },
});
