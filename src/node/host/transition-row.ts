// Turns a due transition into an audit row: operators fire, and prove if required.
import type { Due } from '../../core/limiter/gate.js';
import type { Plan } from '../../core/limiter/plan.js';
import { fireOperators } from '../../core/record/fire-operators.js';
import type { AuditEntry } from '../../core/record/row.js';
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
  ledger.write(machine, {
    ...common,
    ...fired.fields,
    kind: 'transition',
    emitted: due.emitted.map(({ type }) => type),
  });
  return true;
}

function causeOf({ event }: Due): Pick<AuditEntry, 'cause' | 'by'> {
  if (event.type !== 'move') return { cause: 'trigger' };
  return event.by === undefined ? { cause: 'manual' } : { cause: 'manual', by: event.by };
}
