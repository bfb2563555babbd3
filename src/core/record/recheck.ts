// Repeats the operators of an audit row and compares the results with the row. verify-record.ts checks the rest.

import { fire } from '../operator/fire.js';
import type { Inputs } from '../operator/operator.js';
import { findOperator } from '../operator/registry.js';
import type { AuditEntry } from './row.js';

export type FiredRow = Pick<AuditEntry, 'cycle'> & Partial<AuditEntry>;

/** Repeats the operators, and the proof if the row has its digest, to the last bit. Returns the first fault in words. */
export function recheck(row: FiredRow): string | undefined {
  const { cycle, operator, inputs, result, substrate } = row;
  if (!Number.isSafeInteger(cycle)) return `${cycle} is no cycle.`;
  if (operator === undefined || inputs === undefined || result === undefined) {
    return 'The row does not say which operator was fired, with which inputs and result.';
  }
  const fault = recheckFiring(row, { operator, inputs, result });
  if (fault !== undefined) return fault;
  if (substrate !== undefined) return recheckFiring({ cycle }, substrate);
  return findOperator(operator)?.kind === 'substrate'
    ? undefined
    : `The row lacks the substrate operator, which is fired beside ${operator}.`;
}

interface RecordedFiring {
  readonly operator: string;
  readonly inputs: Inputs;
  readonly result: number;
}

function recheckFiring(row: FiredRow, recorded: RecordedFiring): string | undefined {
  const { operator: id, inputs, result } = recorded;
  const { operator_version: version, master_equation_block: equation, proof_digest: digest } = row;
  const operator = findOperator(id);
  if (operator === undefined) return `There is no operator ${id}.`;
  if (version !== undefined && version !== operator.version) {
    return `The row was written by version ${version} of ${id}, and this is version ${operator.version}.`;
  }
  if (equation !== undefined && equation !== operator.equation) {
    return `The equation of ${id} is ${operator.equation}, and not ${equation}.`;
  }
  const absent = Object.keys(operator.inputs).find((name) => !Object.hasOwn(inputs, name));
  if (absent !== undefined) return `The row lacks the input ${absent} of ${id}.`;

  const firing = fire(operator, inputs, row.cycle, { proofRequired: digest !== undefined });
  if (!firing.ok) return firing.why;
  if (firing.result !== result) return `${id} gives ${firing.result} for the inputs of the row, and not ${result}.`;
  if (firing.proofDigest === digest) return undefined;
  return digest === undefined
    ? `The row lacks the proof digest that ${id} requires.`
    : `The proof of ${id} has the digest ${firing.proofDigest}, and not ${digest}.`;
}
