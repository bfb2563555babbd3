// Exponential decay: how many nuclei, or other things that vanish at a constant rate, are left after a time.
import { exp } from '../math/elementary.js';
import { provenOperator } from './proven-operator.js';

/** 365.25 days, in seconds. */
const YEAR = 31_557_600;

/** The input ranges need 210. The bound ends the loop for an infinite time, which only a damaged proof can contain. */
const MOST_DOUBLINGS = 250;

export const exponentialDecay = provenOperator({
  id: 'DECAY',
  name: 'Exponential decay',
  version: '1.0',
  kind: 'physics',
  equation: 'N(t) = N0 * exp(-lambda * t)',
  inputs: {
    N0: { unit: '1', min: 0, max: 1e60, description: 'How many there are at t = 0.' },
    lambda: { unit: '1/s', min: 0, max: 1e30, description: 'Decay constant: ln 2 over the half-life.' },
    t: { unit: 's', min: 0, max: 1e30, description: 'Time since there were N0.' },
  },
  result: { unit: '1', description: 'How many are left at t; 0 where less than the smallest double would be.' },
  cases: [
    {
      inputs: { N0: 1, lambda: 1, t: 1 },
      result: 0.36787944117144233,
      tolerance: 1e-14,
      source: 'Abramowitz and Stegun (1964), table 4.4: exp(-1)',
    },
    {
      inputs: { N0: 1, lambda: 1, t: 10 },
      result: 4.5399929762484854e-5,
      tolerance: 1e-14,
      source: 'Abramowitz and Stegun (1964), table 4.4: exp(-10)',
    },
    {
      inputs: { N0: 1, lambda: Math.LN2 / (5730 * YEAR), t: 690 * YEAR },
      result: 0.92,
      tolerance: 1e-3,
      source: 'OpenStax, College Physics, section 31.5: carbon 14 in the Shroud of Turin, half-life 5730 y, age 690 y',
    },
  ],
  compute: ({ N0, lambda, t }) => N0 * exp(-(lambda * t)),

  // Integration of N' = -lambda N in small steps: over h, with z = lambda h, one step of the classical Runge-Kutta method
  // multiplies by 1 - z + z^2/2 - z^3/6 + z^4/24, and n squarings make 2^n steps. z <= 2^-10 leaves 1e-10 of N at e^-700.
  check: {
    method: "integration of N' = -lambda * N in small steps (Runge-Kutta, fourth order)",
    tolerance: 1e-6,
    evaluate: ({ N0, lambda, t }, result) => {
      let [z, doublings] = [lambda * t, 0];
      for (; z > 1 / 1024 && doublings < MOST_DOUBLINGS; z /= 2) doublings += 1;
      let left = 1 - z * (1 - (z / 2) * (1 - (z / 3) * (1 - z / 4)));
      for (let i = 0; i < doublings; i++) left *= left;
      // Below 1e-300 of N0, exp has run out of digits.
      return {
        left: result,
        right: N0 * left,
        least: Math.max(1e-300, N0 * 1e-300),
        figures: { stepExponent: z, doublings, partLeft: left },
      };
    },
  },
});
