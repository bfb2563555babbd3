// The available operators. Each one is checked against published values when it is registered.
import { assert } from '../schema/failure.js';
import { diffusionPointSource } from './diffusion-point-source.js';
import { exponentialDecay } from './exponential-decay.js';
import { fire } from './fire.js';
import { harmonicOscillator } from './harmonic-oscillator.js';
import { idealGas } from './ideal-gas.js';
import { ko42 } from './ko42.js';
import { newtonSecondLaw } from './newton-second-law.js';
import type { Operator, ReferenceCase } from './operator.js';
import { universalGravitation } from './universal-gravitation.js';

/** By id. @throws Bug for an id that is taken or malformed, a physics operator with under three cases, or a case that fails */
export function registered(operators: Iterable<Operator>): ReadonlyMap<string, Operator> {
  const byId = new Map<string, Operator>();
  for (const operator of operators) {
    const { id, kind, cases } = operator;
    assert(/^[A-Z][A-Z0-9]{0,31}$/.test(id), `the operator id "${id}" is of upper-case letters and digits`);
    assert(!byId.has(id), `the operator id ${id} is free`);
    assert(kind !== 'physics' || cases.length >= 3, `the physics operator ${id} has three reference cases`);
    for (const reference of cases) assertHolds(operator, reference);
    byId.set(id, operator);
  }
  return byId;
}

let standard: ReadonlyMap<string, Operator> | undefined;

/** The substrate and the physics set: one registry for all, made at the first call. */
export function standardOperators(): ReadonlyMap<string, Operator> {
  standard ??= registered([
    ko42,
    newtonSecondLaw,
    universalGravitation,
    harmonicOscillator,
    exponentialDecay,
    idealGas,
    diffusionPointSource,
  ]);
  return standard;
}

export function findOperator(id: string): Operator | undefined {
  return standardOperators().get(id);
}

function assertHolds(operator: Operator, { inputs, result, tolerance, source }: ReferenceCase): void {
  const firing = fire(operator, inputs, inputs['cycle'] ?? 0);
  assert(firing.ok, `${operator.id} computes the reference case "${source}"${firing.ok ? '' : `: ${firing.why}`}`);
  const holds = Math.abs(firing.result - result) <= tolerance * Math.abs(result);
  assert(holds, `${operator.id} gives ${firing.result} for the reference case "${source}", published as ${result}`);
}
