// The harmonic oscillator: the position of a mass on a spring at a time after its release.
import { cos, sin } from '../math/elementary.js';
import { provenOperator } from './proven-operator.js';

/** The input ranges need 38. The bound ends the loop for an infinite time, which only a damaged proof can contain. */
const MOST_DOUBLINGS = 100;

export const harmonicOscillator = provenOperator({
  id: 'OSCILLATOR',
  name: 'Harmonic oscillator',
  version: '1.0',
  kind: 'physics',
  equation: 'x(t) = x0 * cos(omega * t) + (v0 / omega) * sin(omega * t), omega = sqrt(k / m)',
  // The ranges keep the phase omega t below 3.2e8: there the last bits of k / m still place the mass to 1e-7 of its amplitude.
  inputs: {
    m: { unit: 'kg', min: 1e-3, max: 1e6, description: 'Mass.' },
    k: { unit: 'N/m', min: 1e-3, max: 1e6, description: 'Stiffness of the spring.' },
    x0: { unit: 'm', min: -1e6, max: 1e6, description: 'Displacement from rest at t = 0.' },
    v0: { unit: 'm/s', min: -1e6, max: 1e6, default: 0, description: 'Velocity at t = 0.' },
    t: { unit: 's', min: 0, max: 1e4, description: 'Time since the displacement was x0.' },
  },
  result: { unit: 'm', description: 'Displacement from rest at t.' },
  cases: [
    {
      inputs: { m: 1, k: 1, x0: 1, v0: 0, t: 1 },
      result: 0.5403023058681397,
      tolerance: 1e-14,
      source: 'Abramowitz and Stegun (1964), table 4.6: cos 1',
    },
    {
      inputs: { m: 1, k: 1, x0: 0, v0: 1, t: 1 },
      result: 0.8414709848078965,
      tolerance: 1e-14,
      source: 'Abramowitz and Stegun (1964), table 4.6: sin 1',
    },
    {
      inputs: { m: 0.68, k: 65, x0: 0.11, v0: 0, t: 0.64 },
      result: 0.11,
      tolerance: 1e-3,
      source:
        'Halliday, Resnick and Walker, Fundamentals of Physics, 6th ed., sample problem 16-1: back after a period of 0.64 s',
    },
  ],
  compute: ({ m, k, x0, v0, t }) => {
    const omega = Math.sqrt(k / m);
    return x0 * cos(omega * t) + (v0 / omega) * sin(omega * t);
  },

  // Integration of x'' = -w x, w = k / m, in small steps: neither a sine nor omega. With x' = v, one step of the classical
  // Runge-Kutta method over h is x' = c x + b v, v' = c v - w b x, where c = 1 - w h^2/2 + w^2 h^4/24 and b = h - w h^3/6; two
  // equal steps are one of the same form, so n doublings make 2^n steps. A phase of 1/512 a step leaves 4e-5 of the amplitude
  // at the end of the ranges, and far less in their middle.
  check: {
    method: "integration of m * x'' = -k * x in small steps (Runge-Kutta, fourth order)",
    tolerance: 1e-3,
    evaluate: ({ m, k, x0, v0, t }, result) => {
      const w = k / m;
      let [h, doublings] = [t, 0];
      for (; w * h * h > 1 / (512 * 512) && doublings < MOST_DOUBLINGS; h /= 2) doublings += 1;
      const square = w * h * h;
      let [c, b] = [1 - (square / 2) * (1 - square / 12), h * (1 - square / 6)];
      for (let i = 0; i < doublings; i++) [c, b] = [c * c - w * b * b, 2 * c * b];
      const amplitude = Math.sqrt(x0 * x0 + (v0 * v0) / w);
      const position = c * x0 + b * v0;
      return { left: result, right: position, least: amplitude, figures: { step: h, doublings, amplitude, position } };
    },
  },
});
