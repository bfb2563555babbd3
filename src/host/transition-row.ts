// Turns a due transition into an audit row: operators fire, and prove if required.
import type { Due } from '../limiter/gate.js';
import type { Plan } from '../limiter/plan.js';
import { type Firing, fire } from '../operator/fire.js';
import { ko42 } from '../operator/ko42.js';
import type { AuditEntry } from '../record/row.js';
import type { Chain, Ledger } from './ledger.js';

interface Moving {
  readonly id: string;
  readonly plan: Plan;
  readonly machine: Chain;
}

/** Writes the row of a transition, or of its failure. @returns whether the transition is taken */
export function recordTransition(ledger: Ledger, { id, plan, machine }: Moving, due: Due, key?: string): boolean {
  const { transition, event } = due;
  const [from, to] = [plan.states[transition.from]!.name, plan.states[transition.to]!.name];
  const { cycle } = event;
  const ofKey = key === undefined ? {} : { key };
  const common = { cycle, contract_id: id, ...ofKey, from, to, ...causeOf(due) };
  const fired = fireOperators(due);
  if (!fired.ok) {
    const { code, why, operator } = fired;
    const failure = { code, detail: why };
    ledger.write(machine, { ...common, kind: 'transition_failed', operator, failure, emitted: [] });
    ledger.commit();
    return false;
  }
  ledger.write(machine, { ...common, ...fired.fields, kind: 'transition', emitted: [...transition.emits] });
  return true;
}

type OperatorFields = Pick<
  AuditEntry,
  'operator' | 'operator_version' | 'inputs' | 'result' | 'master_equation_block' | 'proof_digest' | 'substrate'
>;

type Fired =
  | { readonly ok: true; readonly fields: OperatorFields }
  | (Extract<Firing, { ok: false }> & { readonly operator: string });

/**
 * Fires the substrate, which is part of every transition, then the operator that the transition names.
 * Inputs of a manual transition that the operator lacks are for conditions only.
 */
export function fireOperators({ transition, event, count }: Due): Fired {
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

function causeOf({ event }: Due): Pick<AuditEntry, 'cause' | 'by'> {
  if (event.type !== 'move') return { cause: 'trigger' };
  return event.by === undefined ? { cause: 'manual' } : { cause: 'manual', by: event.by };
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
