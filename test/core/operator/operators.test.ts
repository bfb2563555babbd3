// Owns the promises every operator makes: published values, proofs that hold over the whole range, and none that holds when damaged.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fire } from '../../../src/core/operator/fire.js';
import type { Operator, Proof } from '../../../src/core/operator/operator.js';
import { standardOperators } from '../../../src/core/operator/registry.js';
import { forAll } from '../../draws.js';
import { cycleOf, inputsOf } from './sample.js';

const operators = [...standardOperators().values()];
const cases = operators.flatMap((operator) =>
  operator.cases.map((reference) => [operator.id, reference.source, operator, reference] as const),
);

it('the registry holds the substrate and six physics operators', () => {
  expect(operators.map(({ id, kind, proofRequired, equation }) => [id, kind, proofRequired, equation])).toEqual([
    ['KO42', 'substrate', false, 'R(t) = S(t) * (1 + a * sin(2*pi*f*t))'],
    ['NEWTON2', 'physics', true, 'F = m * a'],
    ['GRAVITATION', 'physics', true, 'F = G * m1 * m2 / r^2'],
    ['OSCILLATOR', 'physics', true, 'x(t) = x0 * cos(omega * t) + (v0 / omega) * sin(omega * t), omega = sqrt(k / m)'],
    ['DECAY', 'physics', true, 'N(t) = N0 * exp(-lambda * t)'],
    ['IDEALGAS', 'physics', true, 'P = n * R * T / V'],
    ['DIFFUSION', 'physics', true, 'C(r,t) = M / (4*pi*D*t)^(3/2) * exp(-r^2 / (4*D*t))'],
  ]);
});

it.each(cases)('%s reproduces a published value: %s', (_id, _source, operator, { inputs, result, tolerance }) => {
  expect(Math.abs(operator.compute(inputs) - result)).toBeLessThanOrEqual(tolerance * Math.abs(result));
  expect(tolerance).toBeLessThanOrEqual(5e-3);
});

describe.each(operators.map((operator) => [operator.id, operator] as const))('%s', (_id, operator) => {
  it('an operator proves its result everywhere in the ranges of its inputs, within 0.1 %, and the proof survives JSON', () => {
    forAll([inputsOf(operator)], (inputs) => {
      expect(fire(operator, inputs, cycleOf(inputs), { proofRequired: true })).toMatchObject({ ok: true, inputs });
      const result = operator.compute(inputs) + 0;
      const proof = operator.prove(inputs, result);
      expect(proof.tolerance).toBeLessThanOrEqual(1e-3);
      expect(operator.verify(inputs, result, JSON.parse(JSON.stringify(proof)))).toBe(true);
    });
  });

  it('an operator finds no proof of a result that is off by twice the tolerance', () => {
    forAll([inputsOf(operator)], (inputs) => {
      const result = operator.compute(inputs);
      const { tolerance } = operator.prove(inputs, result);
      fc.pre(Math.abs(result) > 1e-190);
      // A displacement is measured against the amplitude, which the displacement itself may be far below.
      const { amplitude = 0 } = operator.prove(inputs, result).witness;
      const off = result + 2.1 * tolerance * Math.max(Math.abs(result), amplitude);
      const { residual } = operator.prove(inputs, off);
      expect(residual).toBeGreaterThan(tolerance);
      expect(operator.verify(inputs, off, operator.prove(inputs, off))).toBe(false);
    });
  });

  it('an operator refuses a proof when any bit of the result or of an input is another one', () => {
    for (const { inputs } of operator.cases) {
      const result = operator.compute(inputs);
      const proof = operator.prove(inputs, result);
      expect(operator.verify(inputs, result, proof)).toBe(true);
      const accepted = [
        ...flips(result).filter((other) => operator.verify(inputs, other, proof)),
        ...Object.entries(inputs).flatMap(([name, value]) =>
          flips(value).filter((other) => operator.verify({ ...inputs, [name]: other }, result, proof)),
        ),
      ];
      expect(accepted).toEqual([]);
    }
  });

  it('an operator refuses a proof that was damaged in any field', () => {
    for (const { inputs } of operator.cases) {
      const result = operator.compute(inputs);
      const damaged = damages(operator.prove(inputs, result));
      expect(damaged.length).toBeGreaterThan(5 * 64);
      expect(damaged.filter((proof) => operator.verify(inputs, result, proof))).toEqual([]);
    }
  });

  it('an operator refuses what is no proof at all', () => {
    const [{ inputs }] = operator.cases as [Operator['cases'][number]];
    const result = operator.compute(inputs);
    const shapes = [null, undefined, 1, 'proof', [], {}, { witness: null }, { method: 'trust me' }];
    expect(shapes.filter((shape) => operator.verify(inputs, result, shape as unknown as Proof))).toEqual([]);
  });
});

const ko42 = standardOperators().get('KO42')!;

it('KO42 is exact in phase at every cycle: it repeats after a million cycles, to the last bit', () => {
  forAll([fc.integer({ min: -9e9, max: 9e9 }), fc.integer({ min: -9e8, max: 9e8 })], (cycle, millions) => {
    const far = cycle + millions * 1e6;
    expect(ko42.compute({ S: 101, cycle: far })).toBeCloseTo(ko42.compute({ S: 101, cycle }), 13);
    fc.pre(Math.sign(far) === Math.sign(cycle));
    expect(ko42.compute({ S: 101, cycle: far })).toBe(ko42.compute({ S: 101, cycle }));
  });
});

it('KO42 follows f * t multiplied out, wherever doubles still hold its fraction', () => {
  forAll([fc.integer({ min: 0, max: 1e6 })], (cycle) => {
    const t = cycle * 0.777;
    const expected = 101 * (1 + 0.00129 * Math.sin(2 * Math.PI * 1.287 * t));
    expect(ko42.compute({ S: 101, cycle })).toBeCloseTo(expected, 8);
  });
});

it('KO42 swings by at most 0.129 %', () => {
  forAll([fc.maxSafeInteger()], (cycle) => {
    expect(Math.abs(ko42.compute({ S: 1, cycle }) - 1)).toBeLessThanOrEqual(0.00129 + 1e-15);
  });
});

/** The number with each of its 64 bits flipped. */
function flips(value: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  return Array.from({ length: 64 }, (_, bit) => {
    view.setFloat64(0, value);
    view.setUint8(bit >> 3, view.getUint8(bit >> 3) ^ (1 << (bit & 7)));
    return view.getFloat64(0);
  });
}

/** The proof with every bit of every number flipped, every character of a text changed, and fields taken away and added. */
function damages(proof: Proof): Proof[] {
  const { method, witness, residual, tolerance } = proof;
  const withWitness = (changed: Record<string, unknown>) => ({ ...proof, witness: changed }) as unknown as Proof;
  return [
    ...flips(residual).map((other) => ({ ...proof, residual: other })),
    ...flips(tolerance).map((other) => ({ ...proof, tolerance: other })),
    ...Array.from(method, (_, i) => ({ ...proof, method: `${method.slice(0, i)}#${method.slice(i + 1)}` })),
    { ...proof, method: '' },
    ...Object.entries(witness).flatMap(([name, value]) => {
      const { [name]: _, ...others } = witness;
      const changed = flips(value).map((other) => withWitness({ ...witness, [name]: other }));
      return [
        ...changed,
        withWitness(others),
        withWitness({ ...others, [`${name}x`]: value }),
        withWitness({ ...witness, [name]: String(value) }),
      ];
    }),
    withWitness({ ...witness, extra: 0 }),
    { ...proof, extra: 0 } as Proof,
    ...Object.keys(proof).map(
      (name) => Object.fromEntries(Object.entries(proof).filter(([key]) => key !== name)) as unknown as Proof,
    ),
  ];
}
