// Live machines and contracts: takes events and cycles, returns decisions, appends rows, publishes what happened.
//
//   event ─► contract ─► gate ─► decision
//                          └─ may move ─► operator ─► row ─► store ─► durable ─► published

import { type Observable, Subject } from 'rxjs';
import { adaptedImage } from '../../core/limiter/carry-over.js';
import { ContractActors } from '../../core/limiter/contract-actor.js';
import type { GateImage } from '../../core/limiter/gate-record.js';
import type { Plan } from '../../core/limiter/plan.js';
import { planContract } from '../../core/limiter/validate.js';
import { FifoQueue } from '../../core/math/fifo-queue.js';
import type { AuditEntry, AuditRow } from '../../core/record/row.js';
import { digestOf } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import { hexOf, sha256 } from '../../core/schema/sha256.js';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import type { ContractImage, KeyedImage, MachineImage, Store } from '../store/store.js';
import { beginCandidate } from './candidate.js';
import { Contract } from './contract.js';
import { type Changed, type ContractChange, changeContract, relearn } from './contract-change.js';
import { contractNotFound, type Move } from './contract-failures.js';
import type { HostContext } from './host-context.js';
import { keyedFields } from './keys.js';
import { Ledger } from './ledger.js';
import { Machine, slugTaken } from './machine.js';
import { SharedPlans } from './shared-plans.js';
import { finish, type Steps } from './steps.js';
import { Wakes } from './wakes.js';

interface HostOptions {
  readonly clock: Clock;
  readonly store: Store;
  /** Called once, before any wake-up; afterwards the clock must not be behind the newest stored cycle. */
  readonly holdClock?: (newestCycle: number) => void;
  /** Throws if there is no memory for another key. Default: never throws. */
  readonly claimMemory?: () => void;
  readonly onFailed?: HostContext['onFailed'];
}

export interface NewMachine {
  readonly slug: string;
  readonly owner?: string;
  readonly isPublic?: boolean;
  readonly displayName?: string;
  readonly by?: string | undefined;
}

export interface ContractOptions {
  readonly templateId?: string | undefined;
  readonly by?: string | undefined;
  readonly keyed?: KeyedImage | undefined;
  readonly name?: string | undefined;
}

export type HostChange = { readonly machine: Machine } & (
  | { readonly kind: 'contract_added' | 'contract_removed'; readonly contract: Contract }
  | { readonly kind: 'contract_changed'; readonly contract: Contract; readonly before: readonly Plan[] }
  /** `machine_deleted` removes the contracts and keeps the record; `machine_removed` removes both. */
  | { readonly kind: 'machine_added' | 'machine_deleted' | 'machine_removed' }
);

export class Host {
  readonly machines = new Map<string, Machine>();
  readonly contracts = new Map<string, Contract>();
  readonly keyed = new Set<Contract>();
  readonly durableRows: Observable<AuditRow>;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #ledger: Ledger;
  readonly #ofContracts: Pick<HostOptions, 'claimMemory' | 'onFailed'>;
  readonly #actors = new ContractActors();
  readonly #plans = new SharedPlans();
  #changes = new Subject<HostChange>();

  constructor({ clock, store, holdClock, ...ofContracts }: HostOptions) {
    this.#clock = clock;
    this.#store = store;
    this.#ledger = new Ledger(clock, store);
    this.durableRows = this.#ledger.durableRows;
    this.#ofContracts = ofContracts;
    this.#revive(holdClock);
  }

  /** Synchronous; completes when the host recovers with new machines. */
  get changes(): Observable<HostChange> {
    return this.#changes;
  }

  createMachine({ slug, owner = '', isPublic = false, displayName = slug, by }: NewMachine): Machine {
    if (this.machines.has(slug)) throw slugTaken(slug);
    const cycle = this.#clock.cycle();
    const machine = new Machine({ slug, owner, isPublic, displayName, createdCycle: cycle }, this.#newContext());
    this.#store.putMachine(machine.image);
    this.#ledger.write(machine, { cycle, kind: 'machine_created', cause: 'manual', ...askedBy(by), emitted: [] });
    this.machines.set(slug, machine);
    this.#changes.next({ kind: 'machine_added', machine });
    this.commit();
    return machine;
  }

  /** First evaluated without an event in the next cycle. @throws Failure `machine_not_found`, and as `planContract` */
  createContract(slug: string, definition: unknown, templateId?: string, keyed?: KeyedImage): Contract {
    return this.createPlanned(slug, planContract(definition), { templateId, keyed });
  }

  /** Contracts with equal definitions share one plan. */
  createPlanned(slug: string, planned: Plan, { templateId, by, keyed, name }: ContractOptions = {}): Contract {
    const machine = this.machine(slug);
    machine.refuseName(name);
    const plan = this.#plans.of(planned);
    const cycle = this.#catchUp(machine);
    // Cut from bytes: a substring of the hash's 64 digits would keep all of them in memory.
    const id = hexOf(sha256(`${slug}/${machine.head.seq + 1}`).subarray(0, 8));
    const image = {
      id,
      machine: slug,
      definition: plan.definition,
      templateId,
      createdCycle: cycle,
      firstFireCycle: cycle + 1,
      keyed,
      ...(name === undefined ? {} : { name }),
    };
    const contract = new Contract(image, plan, machine, cycle, machine.context);
    // Before anything is stored: what has no digest is not created.
    const definition_digest = digestOf(plan.definition);
    this.#store.putContract(image, contract.saved());
    this.#ledger.write(machine, {
      cycle,
      kind: 'contract_created',
      contract_id: id,
      to: contract.state,
      definition_digest,
      ...keyedFields(keyed),
      ...(name === undefined ? {} : { name }),
      cause: 'manual',
      ...askedBy(by),
      emitted: [],
    });
    this.#adopt(contract);
    this.#changes.next({ kind: 'contract_added', machine, contract });
    this.commit();
    return contract;
  }

  /** Nothing else may happen on the machine until this is done. @throws Failure `name_taken`, and as `changeContract` */
  *changeContract(contract: Contract, change: ContractChange): Steps<Changed> {
    const machine = this.machine(contract.machine.slug);
    const before = contract.plans;
    const { name: former } = contract.image;
    if (change.name !== former) machine.refuseName(change.name ?? undefined);
    const context = { plans: this.#plans, ledger: this.#ledger, store: this.#store };
    const cycle = Math.max(this.#catchUp(machine), contract.cycle);
    const changed = yield* changeContract(context, machine, contract, change, cycle);
    machine.rename(contract, former);
    this.#changes.next({ kind: 'contract_changed', machine, contract, before });
    // Keys whose stored state is no longer valid are stored before the change is published.
    while ((changed.resets || changed.forgotten !== undefined) && this.saveOne(machine) !== undefined) yield;
    this.commit();
    return changed;
  }

  deleteContract(contract: Contract, by?: string): void {
    const machine = this.machine(contract.machine.slug);
    const cycle = Math.max(this.#catchUp(machine), contract.cycle);
    const what = { kind: 'contract_deleted', contract_id: contract.id, ...causeBy(by), emitted: [] } as const;
    this.#ledger.write(machine, { ...what, cycle });
    this.#store.removeContract(contract.id);
    this.unlearn(machine, [contract]);
    this.commit();
  }

  /** The record stays readable until `removeMachine`. */
  deleteMachine(machine: Machine, by?: string): void {
    const cycle = machine.contracts.reduce((newest, { cycle }) => Math.max(newest, cycle), this.#catchUp(machine));
    this.#ledger.write(machine, { kind: 'machine_deleted', ...causeBy(by), emitted: [], cycle });
    this.#store.removeContracts(machine.slug);
    this.unlearn(machine, [...machine.contracts]);
    machine.context.changed.clear();
    this.#changes.next({ kind: 'machine_deleted', machine });
    this.commit();
  }

  removeMachine(machine: Machine): void {
    this.machines.delete(machine.slug);
    this.#changes.next({ kind: 'machine_removed', machine });
  }

  #newContext(): HostContext {
    const clock = this.#clock;
    return {
      ...{ clock, ledger: this.#ledger, store: this.#store },
      ...this.#ofContracts,
      actors: this.#actors,
      ...{ wakes: new Wakes(clock), changed: new FifoQueue(), busyMs: undefined },
    };
  }

  note(machine: Machine, what: Omit<AuditEntry, 'machine' | 'at' | 'cycle' | 'emitted'>): void {
    this.#ledger.write(machine, { ...what, cycle: this.#catchUp(machine), emitted: [] });
    this.commit();
  }

  machine(slug: string): Machine {
    const machine = this.machines.get(slug);
    if (machine !== undefined) return machine;
    throw new Failure('machine_not_found', {
      what: `There is no machine "${slug}".`,
      fix: 'Create it, or check the slug.',
    });
  }

  contract(id: string): Contract {
    const contract = this.contracts.get(id);
    if (contract !== undefined) return contract;
    throw contractNotFound(id);
  }

  transition(contract: Contract, asked: Move, name?: string): AuditRow {
    const cycle = Math.max(this.#catchUp(this.machine(contract.machine.slug)), contract.cycle);
    return contract.move(asked, cycle, name);
  }

  #catchUp({ cycle, context }: Machine): number {
    context.wakes.catchUp(cycle);
    return cycle;
  }

  /** Stores all counts; durable with the next commit. */
  saveWindows(): void {
    for (const machine of this.machines.values()) while (this.saveOne(machine));
  }

  /** Stores the oldest unsaved counts of a machine. @returns their contract; undefined if all are stored, or wait for their request */
  saveOne({ context: { changed, isSavedAtOnce } }: Machine): Pick<Contract, 'plan'> | undefined {
    const first = isSavedAtOnce === true ? undefined : changed.shift();
    first?.save();
    return first;
  }

  commit(settled?: (failure?: Failure) => void): void {
    this.#ledger.commit(settled);
  }

  get failure(): Failure | undefined {
    return this.#ledger.failure;
  }

  /** Restarts from the store once its disk has room. Counts since the last commit are lost. */
  recover(): boolean {
    const { failure } = this;
    if (failure === undefined || !this.#store.recover()) return false;
    for (const contract of this.contracts.values()) contract.stop(failure);
    for (const { context } of this.machines.values()) {
      context.wakes.clear();
      context.changed.clear();
    }
    this.machines.clear();
    this.contracts.clear();
    this.keyed.clear();
    this.#changes.complete();
    this.#changes = new Subject();
    this.#ledger.recover();
    this.#revive();
    return true;
  }

  /** Adds a machine of another store, or contracts of it: they are decided there, and do not wake here. */
  learn(
    image: MachineImage,
    contracts: readonly ContractImage[],
    head: Machine['head'],
    end?: Machine['end'],
  ): Machine {
    let machine = this.machines.get(image.slug);
    if (machine === undefined) {
      machine = new Machine(image, this.#newContext(), head, end);
      machine.context.wakes.hold();
      this.machines.set(machine.slug, machine);
      this.#changes.next({ kind: 'machine_added', machine });
    }
    for (const made of contracts) {
      const known = this.contracts.get(made.id);
      if (known !== undefined) {
        const before = relearn(this.#plans, machine, known, made);
        if (before !== undefined) this.#changes.next({ kind: 'contract_changed', machine, contract: known, before });
        continue;
      }
      const plan = this.#plans.ofStored(made.definition);
      const contract = new Contract(made, plan, machine, made.createdCycle, machine.context);
      machine.contracts.push(contract);
      machine.rename(contract);
      this.contracts.set(contract.id, contract);
      this.#changes.next({ kind: 'contract_added', machine, contract });
    }
    return machine;
  }

  unlearn(machine: Machine, contracts: readonly Contract[]): void {
    // Newest first, so that each is found at the end of the list.
    for (const contract of [...contracts].reverse()) {
      contract.delete();
      this.keyed.delete(contract);
      this.contracts.delete(contract.id);
      machine.rename(contract, contract.image.name, true);
      machine.contracts.splice(machine.contracts.lastIndexOf(contract), 1);
      this.#changes.next({ kind: 'contract_removed', machine, contract });
    }
  }

  endLearned(machine: Machine, end: Machine['end']): void {
    this.unlearn(machine, [...machine.contracts]);
    machine.end = end;
    this.#changes.next({ kind: 'machine_deleted', machine });
  }

  /** Restores machines and contracts from the store. What became due meanwhile fires in its own cycle once the clock runs. */
  #revive(holdClock: (newestCycle: number) => void = () => {}): void {
    let newest = this.#store.lastCycle;
    for (const { machine: image, contracts, head, last } of this.#store.machines()) {
      const machine = new Machine(image, this.#newContext(), head, last);
      newest = Math.max(newest, last?.cycle ?? 0);
      this.machines.set(machine.slug, machine);
      for (const { image: made, state } of contracts) {
        const plan = this.#plans.ofStored(made.definition);
        // The stored state may be that of an earlier definition.
        const isChanged = (made.revision ?? 0) > 0;
        const from = { cycle: last?.cycle ?? 0, ms: startOf(last?.cycle ?? 0, this.#clock.cycleMs) };
        const goesOn = (stored: GateImage) => (isChanged ? adaptedImage(stored, plan, [], from) : stored);
        const saved = state && goesOn(state);
        const cycle = saved?.windows[0]?.cycle ?? made.createdCycle;
        newest = Math.max(newest, cycle);
        const contract = new Contract(made, plan, machine, cycle, machine.context, saved);
        this.#adopt(contract);
        const { keys } = contract;
        for (const one of keys === undefined ? [] : this.#store.keys(made.id)) {
          const gate = goesOn(one);
          if (gate !== undefined) keys?.restore({ ...one, ...gate });
        }
        newest = Math.max(newest, contract.cycle);
        if (made.candidate !== undefined) {
          const checked = this.#plans.ofStored(made.candidate);
          contract.comparison = finish(beginCandidate(contract, checked, machine.context));
        }
      }
    }
    holdClock(newest);
    this.commit();
  }

  #adopt(contract: Contract): void {
    const machine = this.machine(contract.image.machine);
    machine.contracts.push(contract);
    machine.rename(contract);
    if (contract.keys !== undefined) this.keyed.add(contract);
    this.contracts.set(contract.id, contract);
    machine.context.wakes.schedule(contract);
  }
}

function causeBy(by: string | undefined): Pick<AuditEntry, 'by' | 'cause'> {
  return { cause: by === undefined ? 'system' : 'manual', ...askedBy(by) };
}

function askedBy(by: string | undefined): Pick<AuditEntry, 'by'> {
  return by === undefined ? {} : { by };
}
