// The available operators. Each one is checked against published values when it is registered.
import { assert } from '../schema/failure.js';
import { diffusionPointSource } from './diffusion-point-source.js';
import { exponentialDecay } from './exponential-decay.js';
import { fire } from './fire.js';
import { harmonicOscillator } from './harmonic-oscillator.js';
import { idealGas } from './ideal-gas.js';
import { ko42 } from './ko42.js';
import { newtonSecondLaw } from './newton-second-law.js';
import type { FindOperator, Operator, ReferenceCase } from './operator.js';
import { universalGravitation } from './universal-gravitation.js';

export class OperatorRegistry {
  readonly #operators = new Map<string, Operator>();

  /** @throws Bug for an id that is taken or malformed, a physics operator with under three cases, or a case that fails */
  constructor(operators: Iterable<Operator>) {
    for (const operator of operators) this.#register(operator);
  }

  has(id: string): boolean {
    return this.#operators.has(id);
  }

  get(id: string): Operator | undefined {
    return this.#operators.get(id);
  }

  list(): readonly Operator[] {
    return [...this.#operators.values()];
  }

  #register(operator: Operator): void {
    const { id, kind, cases } = operator;
    assert(/^[A-Z][A-Z0-9]{0,31}$/.test(id), `the operator id "${id}" is of upper-case letters and digits`);
    assert(!this.#operators.has(id), `the operator id ${id} is free`);
    assert(kind !== 'physics' || cases.length >= 3, `the physics operator ${id} has three reference cases`);
    for (const reference of cases) assertHolds(operator, reference);
    this.#operators.set(id, operator);
  }
}

let standard: OperatorRegistry | undefined;

/** The substrate and the physics set: one registry for all, made at the first call. */
export function standardOperators(): OperatorRegistry {
  standard ??= new OperatorRegistry([
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

/** The default wherever a caller may pass others. */
export const findStandardOperator: FindOperator = (id) => standardOperators().get(id);

function assertHolds(operator: Operator, { inputs, result, tolerance, source }: ReferenceCase): void {
  const firing = fire(operator, inputs, inputs['cycle'] ?? 0);
  assert(firing.ok, `${operator.id} computes the reference case "${source}"${firing.ok ? '' : `: ${firing.why}`}`);
  const holds = Math.abs(firing.result - result) <= tolerance * Math.abs(result);
  assert(holds, `${operator.id} gives ${firing.result} for the reference case "${source}", published as ${result}`);
}
