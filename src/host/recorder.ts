// Owns what the contracts of a host do to the world around them: rows of their transitions, states to be stored, wakes to be set.
import type { ContractEmitted, ContractEvent, Inspect } from '../actor/contract-actor.js';
import type { PlannedTransition } from '../limiter/plan.js';
import type { Store } from '../store/store.js';
import type { Contract, Surroundings } from './contract.js';
import type { Ledger } from './ledger.js';
import { perform } from './performance.js';
import type { Wakes } from './wakes.js';

interface RecorderParts {
  readonly ledger: Ledger;
  readonly wakes: Wakes;
  readonly store: Store;
  readonly keepsStates: boolean;
  readonly inspect: Inspect | undefined;
}

export class Recorder implements Surroundings {
  readonly inspect: Inspect | undefined;
  /** Contracts whose newest counts the store does not know. */
  private changed: Contract[] = [];
  private readonly ledger: Ledger;
  private readonly wakes: Wakes;
  private readonly store: Store;
  private readonly keepsStates: boolean;

  constructor({ ledger, wakes, store, keepsStates, inspect }: RecorderParts) {
    this.ledger = ledger;
    this.wakes = wakes;
    this.store = store;
    this.keepsStates = keepsStates;
    this.inspect = inspect;
  }

  reach(cycle: number): void {
    this.wakes.catchUp(cycle);
  }

  dirty(contract: Contract): void {
    this.changed.push(contract);
  }

  saveWindows(): void {
    const { changed } = this;
    this.changed = [];
    for (const contract of changed) {
      contract.isDirty = false;
      this.store.putState(contract.saved());
    }
  }

  perform(
    contract: Contract,
    transition: PlannedTransition,
    event: ContractEvent,
    take: () => readonly ContractEmitted[],
  ): boolean {
    const { machine, plan, id } = contract;
    const performance = perform(transition, event);
    const common = {
      cycle: event.cycle,
      contract_id: id,
      from: plan.states[transition.from]!.name,
      to: plan.states[transition.to]!.name,
      cause: event.type === 'move' ? 'manual' : 'trigger',
    } as const;
    if (!performance.ok) {
      const { code, why, operator } = performance;
      const failure = { code, detail: why };
      this.ledger.write(machine, { ...common, kind: 'transition_failed', operator, failure, emitted: [] });
      this.ledger.commit();
      return false;
    }
    const row = this.ledger.write(machine, {
      ...common,
      ...performance.fields,
      kind: 'transition',
      emitted: transition.emits,
    });
    for (const { type, cycle, count } of take()) {
      this.ledger.tell({
        kind: 'emitted',
        event: type,
        machine: machine.slug,
        contractId: id,
        cycle,
        count,
        seq: row.seq,
      });
    }
    return true;
  }

  /** The row of the transition is written; the state it led to goes with it, and both are made durable together. */
  moved(contract: Contract): void {
    this.wakes.schedule(contract);
    if (this.keepsStates) this.store.putState(contract.saved());
    this.ledger.commit();
  }

  stayed(contract: Contract): void {
    this.wakes.schedule(contract);
  }

  failed(contract: Contract, error: unknown): void {
    this.wakes.forget(contract);
    const { id, machine, gate } = contract;
    this.ledger.tell({ kind: 'contract_failed', machine: machine.slug, contractId: id, cycle: gate.cycle, error });
    this.ledger.commit();
  }
}
