// Owns random inputs of an operator for property tests: over all orders of magnitude of their ranges, ends included.
import fc from 'fast-check';
import type { Inputs, Operator, OperatorInput } from '../../../src/core/operator/operator.js';

/** Inputs within the ranges, evenly over orders of magnitude. A cycle is a whole number. */
export function inputsOf(operator: Operator): fc.Arbitrary<Inputs> {
  return fc.record(
    Object.fromEntries(Object.entries(operator.inputs).map(([name, input]) => [name, numberIn(name, input)])),
  );
}

/** The cycle a firing with these inputs takes place in. */
export function cycleOf(inputs: Inputs): number {
  return inputs['cycle'] ?? 2_372_000_000;
}

function numberIn(name: string, { min, max }: OperatorInput): fc.Arbitrary<number> {
  if (name === 'cycle') return fc.maxSafeInteger();
  const smallest = Math.log(min > 0 ? min : 1e-40);
  const size = fc.double({ min: smallest, max: Math.log(max), noNaN: true }).map(Math.exp);
  const signed = min < 0 ? fc.tuple(size, fc.boolean()).map(([x, negative]) => (negative ? -x : x)) : size;
  const inRange = signed.map((x) => Math.min(max, Math.max(min, x)) + 0);
  const ends = fc.constantFrom(...[min, max, 0, 1].filter((x) => x >= min && x <= max));
  return fc.oneof({ weight: 9, arbitrary: inRange }, { weight: 1, arbitrary: ends });
}
