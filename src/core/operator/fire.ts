// Fires an operator: computes, then proves and verifies if a proof is required.
import { digestOf } from '../schema/canonical.js';
import { assert } from '../schema/failure.js';
import type { Inputs, Operator, OperatorInput } from './operator.js';

export type Firing =
  | {
      readonly ok: true;
      readonly operator: string;
      readonly version: string;
      /** All inputs, defaults filled in. */
      readonly inputs: Inputs;
      readonly result: number;
      readonly equation: string;
      /** 64 hexadecimal digits. */
      readonly proofDigest?: string;
    }
  | {
      readonly ok: false;
      readonly code: 'compute_failed' | 'prove_failed' | 'verify_failed';
      readonly why: string;
    };

/**
 * Computes the result and, if the operator or the caller requires it, proves and verifies it. Sets an input `cycle`.
 * @param given numbers in the units of the operator's inputs; those with a default may be omitted
 * @param cycle a whole number, up to 2^53 either way
 * @param options.proofRequired also proves the result of an operator that does not require it
 */
export function fire(
  operator: Operator,
  given: Inputs,
  cycle: number,
  { proofRequired = false }: { readonly proofRequired?: boolean } = {},
): Firing {
  assert(Number.isSafeInteger(cycle), 'an operator is fired in a whole cycle');
  const { id, version, equation } = operator;
  const inputs = complete(operator, given, cycle);
  if (typeof inputs === 'string') return refusal('compute_failed', inputs);

  const computed = attempt(() => operator.compute(inputs));
  if ('thrown' in computed) return refusal('compute_failed', `${id} gave up: ${computed.thrown}`);
  // `+ 0` turns -0 into 0: JSON has no -0.
  const result = computed.value + 0;
  if (!Number.isFinite(result)) {
    return refusal('compute_failed', `${id} gives ${result} for ${listed(inputs)}, which is no finite number`);
  }
  const firing = { ok: true, operator: id, version, inputs, result, equation } as const;
  if (!operator.proofRequired && !proofRequired) return firing;

  const proved = attempt(() => operator.prove(inputs, result));
  if ('thrown' in proved) return refusal('prove_failed', `${id} has no proof of ${result}: ${proved.thrown}`);
  const { value: proof } = proved;
  if (!(proof.residual <= proof.tolerance)) {
    const distance = `differs by ${proof.residual} of its size, more than ${proof.tolerance}`;
    return refusal('prove_failed', `${id} gives ${result}, and another method (${proof.method}) ${distance}`);
  }
  const verified = attempt(() => operator.verify(inputs, result, proof));
  if ('thrown' in verified || !verified.value) {
    const reason = 'thrown' in verified ? verified.thrown : 'repeating it gives another result';
    return refusal('verify_failed', `The proof that ${id} gives of ${result} does not hold: ${reason}`);
  }
  return { ...firing, proofDigest: proofDigest(operator, inputs, result, cycle) };
}

/**
 * The hash of everything that was proved, for the audit row: SHA-256 over the canonical JSON (RFC 8785), in lower-case hexadecimal, of
 * `{"cycle":…,"equation":"…","inputs":{"m":{"unit":"kg","value":2},…},"operator":"NEWTON2","result":…,"version":"1.0"}`.
 */
function proofDigest(operator: Operator, inputs: Inputs, result: number, cycle: number): string {
  const { id, version, equation } = operator;
  const withUnits = Object.entries(operator.inputs).map(([name, { unit }]) => [name, { value: inputs[name], unit }]);
  return digestOf({ operator: id, version, inputs: Object.fromEntries(withUnits), result, equation, cycle });
}

type Refusal = Extract<Firing, { readonly ok: false }>;

function refusal(code: Refusal['code'], sentence: string): Refusal {
  return { ok: false, code, why: `${sentence}.` };
}

/** In the order of the operator, with defaults and cycle filled in; or the fault of the first wrong one. */
function complete({ id, inputs: declared }: Operator, given: Inputs, cycle: number): Inputs | string {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) return `${id} has no input "${unknown}"; it has ${Object.keys(declared).join(', ')}`;
  const inputs: Record<string, number> = {};
  for (const [name, input] of Object.entries(declared)) {
    const fallback = name === 'cycle' ? cycle : input.default;
    const value = given[name] === undefined ? fallback : given[name];
    if (value === undefined) return `${id} needs the input ${name}${input.unit === '1' ? '' : `, in ${input.unit}`}`;
    const fault = faultOf(input, value) ?? (name === 'cycle' ? cycleFault(value, cycle) : undefined);
    if (fault !== undefined) return `The input ${name} of ${id} is ${value}, ${fault}`;
    inputs[name] = value + 0;
  }
  return inputs;
}

function faultOf({ unit, min, max }: OperatorInput, value: number): string | undefined {
  if (!Number.isFinite(value)) return 'which is no finite number';
  return value < min || value > max
    ? `which does not lie between ${min} and ${max}${unit === '1' ? '' : ` ${unit}`}`
    : undefined;
}

function cycleFault(value: number, cycle: number): string | undefined {
  return value === cycle ? undefined : `but it is fired in cycle ${cycle}`;
}

function attempt<T>(act: () => T): { readonly value: T } | { readonly thrown: string } {
  try {
    return { value: act() };
  } catch (error) {
    return { thrown: error instanceof Error ? error.message : String(error) };
  }
}

function listed(inputs: Inputs): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');
}
