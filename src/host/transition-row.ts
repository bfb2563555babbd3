// A transition that is due becomes a row: its operators fire, the row says what they gave, and what it emits is announced.
import type { Due } from '../limiter/gate.js';
import type { Plan } from '../limiter/plan.js';
import { causeOf, fireOperators } from './fire-operators.js';
import type { Chain, Ledger } from './ledger.js';

interface Moving {
  readonly id: string;
  readonly plan: Plan;
  readonly machine: Chain;
}

/**
 * Writes the row of a transition, or of its failure.
 * @param key of the contract that moves; undefined where it counts all requests together
 * @returns whether the transition is taken
 */
export function recordTransition(ledger: Ledger, { id, plan, machine }: Moving, due: Due, key?: string): boolean {
  const { transition, event, count } = due;
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
  for (const emitted of transition.emits) {
    const of = { machine: machine.slug, contractId: id, ...ofKey, seq: machine.head.seq };
    ledger.announce({ kind: 'emitted', event: emitted, ...of, cycle, count });
  }
  return true;
}
