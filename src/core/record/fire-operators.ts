// The operators of a due transition: the substrate, which is part of every one, then the one that it names.
import type { Due } from '../limiter/gate.js';
import { type Firing, fire } from '../operator/fire.js';
import { ko42 } from '../operator/ko42.js';
import type { AuditEntry } from './row.js';

type OperatorFields = Pick<
  AuditEntry,
  'operator' | 'operator_version' | 'inputs' | 'result' | 'master_equation_block' | 'proof_digest' | 'substrate'
>;

type Fired =
  | { readonly ok: true; readonly fields: OperatorFields }
  | (Extract<Firing, { ok: false }> & { readonly operator: string });

/** Inputs of a manual transition that the operator lacks are for conditions only. */
export function fireOperators({ transition, event, count }: Omit<Due, 'emitted'>): Fired {
  const { operator, proofRequired, inputs } = transition;
  const { cycle } = event;
  const base = fire(ko42, { S: count }, cycle, {
    proofRequired: operator === ko42 && proofRequired,
  });
  if (!base.ok) return { ...base, operator: ko42.id };
  if (operator === ko42) return { ok: true, fields: fieldsOf(base) };
  const asked = event.type === 'move' ? Object.entries(event.input) : [];
  const given = Object.fromEntries(asked.filter(([name]) => Object.hasOwn(operator.inputs, name)));
  const firing = fire(operator, { ...inputs, ...given }, cycle, { proofRequired });
  if (!firing.ok) return { ...firing, operator: operator.id };
  const substrate = { operator: base.operator, inputs: base.inputs, result: base.result };
  return { ok: true, fields: { ...fieldsOf(firing), substrate } };
}

function fieldsOf(firing: Extract<Firing, { ok: true }>): OperatorFields {
  return {
    operator: firing.operator,
    operator_version: firing.version,
    inputs: firing.inputs,
    result: firing.result,
    master_equation_block: firing.equation,
    ...(firing.proofDigest === undefined ? {} : { proof_digest: firing.proofDigest }),
  };
}
