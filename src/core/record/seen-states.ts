// Tracks the states of contracts and their keys through a record: each transition begins where the previous one ended.
import { unreachable } from '../schema/failure.js';
import type { AuditRow } from './row.js';

interface SeenContract {
  /** Undefined if the creation was removed from the record. */
  initial: string | undefined;
  /** Undefined until a row after the removed ones shows it. */
  state: string | undefined;
  /** Keys that are not in the initial state; undefined for a contract without keys. */
  readonly keys: Map<string, string> | undefined;
}

export class SeenStates {
  readonly #contracts = new Map<string, SeenContract>();
  readonly #deleted = new Set<string>();
  #isMachineDeleted = false;
  /** The first rows were removed: the first row of a contract shows its state. */
  isCut = false;

  faultOf(row: AuditRow): string | undefined {
    const { kind, seq, contract_id: id = '', key, from } = row;
    if ((kind === 'machine_created') !== (seq === 1)) return 'Row 1, and only row 1, must be of kind machine_created.';
    if (this.#isMachineDeleted) return 'The machine was deleted in the row before, which ends its record.';
    if (this.#deleted.has(id)) return `Contract ${id} was deleted before.`;
    switch (kind) {
      case 'machine_created':
      case 'machine_deleted':
      case 'admin_action':
      case 'rows_lost':
        return undefined;
      case 'contract_created':
        return this.#contracts.has(id) ? `Contract ${id} was created before.` : undefined;
      case 'contract_changed':
        return this.#changeFaultOf(row);
      case 'contract_deleted':
        return this.#of(id) === undefined ? `Contract ${id} was never created.` : undefined;
      case 'transition':
      case 'transition_failed': {
        const contract = this.#of(id);
        if (contract === undefined) return `Contract ${id} was never created.`;
        if (key !== undefined && contract.keys === undefined) return `Contract ${id} has no keys.`;
        const state = (key === undefined ? contract.state : (contract.keys?.get(key) ?? contract.initial)) ?? from;
        const which = key === undefined ? `Contract ${id}` : `Key ${JSON.stringify(key)} of contract ${id}`;
        return from === state ? undefined : `${which} is in state ${state}, and not in ${from}.`;
      }
      default:
        return unreachable(kind);
    }
  }

  take(row: AuditRow): void {
    const { kind, contract_id: id, key, to, keyed } = row;
    if (kind === 'machine_deleted') this.#isMachineDeleted = true;
    if (id === undefined) return;
    if (kind === 'contract_deleted') {
      this.#contracts.delete(id);
      this.#deleted.add(id);
    }
    if (to === undefined) return;
    if (kind === 'contract_created') {
      this.#contracts.set(id, { initial: to, state: to, keys: keyed === undefined ? undefined : new Map() });
      return;
    }
    const contract = this.#of(id);
    if (contract === undefined) return;
    if (kind === 'contract_changed') change(contract, row);
    if (kind !== 'transition') return;
    if (key === undefined) contract.state = to;
    else if (to === contract.initial) contract.keys?.delete(key);
    else contract.keys?.set(key, to);
  }

  #changeFaultOf({ contract_id: id = '', from, to = '', states = [], resets }: AuditRow): string | undefined {
    const contract = this.#of(id);
    if (contract === undefined) return `Contract ${id} was never created.`;
    const state = contract.state ?? from;
    if (from !== state) return `Contract ${id} is in state ${state}, and not in ${from}.`;
    const [initial] = states;
    if (!resets && contract.initial !== undefined && initial !== contract.initial)
      return `Contract ${id} began in ${contract.initial}, and keeps its states in a machine that begins in ${initial}.`;
    const expected = !resets && from !== undefined && states.includes(from) ? from : initial;
    return to === expected ? undefined : `Contract ${id} goes on in ${expected}, and not in ${to}.`;
  }

  #of(id: string): SeenContract | undefined {
    const known = this.#contracts.get(id);
    if (known !== undefined || !this.isCut) return known;
    const contract = { initial: undefined, state: undefined, keys: new Map() };
    this.#contracts.set(id, contract);
    return contract;
  }
}

function change(contract: SeenContract, { to, states = [], resets }: AuditRow): void {
  contract.state = to;
  contract.initial = states[0];
  if (resets) contract.keys?.clear();
  else for (const [key, state] of contract.keys ?? []) if (!states.includes(state)) contract.keys?.delete(key);
}
