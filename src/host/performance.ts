// Owns what firing a transition comes to: its operators computed (and proved), and the fields of the row that says so.
import { type ContractEvent, countFor } from '../actor/contract-actor.js';
import type { PlannedTransition } from '../limiter/plan.js';
import { type Firing, fire } from '../operator/fire.js';
import { ko42 } from '../operator/ko42.js';
import type { Inputs, Operator } from '../operator/operator.js';
import type { AuditEntry } from '../record/row.js';

/** The part of a row that the operators fill in. */
type OperatorFields = Pick<
  AuditEntry,
  'operator' | 'operator_version' | 'inputs' | 'result' | 'master_equation_block' | 'proof_digest' | 'substrate'
>;

export type Performance =
  | { readonly ok: true; readonly fields: OperatorFields }
  | {
      readonly ok: false;
      readonly code: 'compute_failed' | 'prove_failed' | 'verify_failed';
      readonly why: string;
      readonly operator: string;
    };

/**
 * Fires the operators of a transition: the substrate, which is part of every fire, and the one the transition names.
 * A manual transition may give inputs; those that the operator knows are taken, the others speak to conditions alone.
 */
export function perform(transition: PlannedTransition, event: ContractEvent): Performance {
  const { operator } = transition;
  const base = fire(ko42, { S: countFor(transition, event.counts) }, event.cycle, {
    proofRequired: operator === ko42 && transition.proofRequired,
  });
  if (!base.ok) return { ok: false, code: base.code, why: base.why, operator: ko42.id };
  if (operator === ko42) return { ok: true, fields: fieldsOf(base) };
  const given = event.type === 'move' ? knownTo(operator, event.input) : {};
  const firing = fire(operator, { ...transition.inputs, ...given }, event.cycle, {
    proofRequired: transition.proofRequired,
  });
  if (!firing.ok) return { ok: false, code: firing.code, why: firing.why, operator: operator.id };
  const { id, inputs, result } = { id: base.operator, inputs: base.inputs, result: base.result };
  return { ok: true, fields: { ...fieldsOf(firing), substrate: { operator: id, inputs, result } } };
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

function knownTo(operator: Operator, input: Inputs): Inputs {
  return Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(operator.inputs, name)));
}
