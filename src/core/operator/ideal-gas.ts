// The ideal gas law: the pressure of an amount of gas in a volume.
import { provenOperator } from './proven-operator.js';

/** R in J/(mol K), k in J/K and N_A in 1/mol: SI 2019, exact. */
const GAS_CONSTANT = 8.31446261815324;
const BOLTZMANN_CONSTANT = 1.380649e-23;
const AVOGADRO_CONSTANT = 6.02214076e23;

export const idealGas = provenOperator({
  id: 'IDEALGAS',
  name: 'Ideal gas law',
  version: '1.0',
  kind: 'physics',
  equation: 'P = n * R * T / V',
  inputs: {
    n: { unit: 'mol', min: 1e-24, max: 1e30, description: 'Amount of gas.' },
    T: { unit: 'K', min: 1e-9, max: 1e12, description: 'Absolute temperature.' },
    V: { unit: 'm^3', min: 1e-30, max: 1e30, description: 'Volume.' },
  },
  result: { unit: 'Pa', description: 'Pressure; R = 8.31446261815324 J/(mol K).' },
  cases: [
    {
      inputs: { n: 1, T: 273.15, V: 22.41396954e-3 },
      result: 101_325,
      tolerance: 1e-9,
      source: 'CODATA 2018: molar volume of ideal gas (273.15 K, 101.325 kPa)',
    },
    {
      inputs: { n: 1, T: 273.15, V: 22.71095464e-3 },
      result: 100_000,
      tolerance: 1e-9,
      source: 'CODATA 2018: molar volume of ideal gas (273.15 K, 100 kPa)',
    },
    {
      inputs: { n: 2.651645804e25 / AVOGADRO_CONSTANT, T: 273.15, V: 1 },
      result: 100_000,
      tolerance: 1e-9,
      source: 'CODATA 2018: Loschmidt constant (273.15 K, 100 kPa), molecules in a cubic metre',
    },
  ],
  compute: ({ n, T, V }) => (n * GAS_CONSTANT * T) / V,

  // Kinetic theory: N = n N_A molecules of mean kinetic energy 3/2 k T each press with two thirds of their energy per volume.
  check: {
    method: 'kinetic theory: two thirds of the kinetic energy of the molecules in a unit of volume',
    tolerance: 1e-12,
    evaluate: ({ n, T, V }, result) => {
      const molecules = n * AVOGADRO_CONSTANT;
      const energy = 1.5 * BOLTZMANN_CONSTANT * T;
      const pressure = (2 / 3) * (molecules / V) * energy;
      return { left: result, right: pressure, least: 1e-300, figures: { molecules, energy, pressure } };
    },
  },
});
