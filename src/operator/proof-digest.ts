// The digest of a proved firing: one number on the audit row that stands for everything that was proved.
import { digestOf } from '../schema/canonical.js';
import type { Inputs, Operator } from './operator.js';

/**
 * SHA-256 over the canonical JSON (RFC 8785) of operator, version, inputs with units, result, equation and cycle, as 64 lower-case
 * hexadecimal digits:
 * `{"cycle":…,"equation":"…","inputs":{"m":{"unit":"kg","value":2},…},"operator":"NEWTON2","result":…,"version":"1.0"}`.
 * @param inputs all of them, defaults filled in
 */
export function proofDigest(operator: Operator, inputs: Inputs, result: number, cycle: number): string {
  const { id, version, equation } = operator;
  const withUnits = Object.entries(operator.inputs).map(([name, { unit }]) => [name, { value: inputs[name], unit }]);
  return digestOf({ operator: id, version, inputs: Object.fromEntries(withUnits), result, equation, cycle });
}
