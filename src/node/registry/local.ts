// The registry of a single node: the host of this process, with the store behind it.
import type { Observable } from 'rxjs';
import type { Plan } from '../../core/limiter/plan.js';
import type { AuditRow } from '../../core/record/row.js';
import type { Contract } from '../host/contract.js';
import { type Changed, type ContractChange, plansAfter } from '../host/contract-change.js';
import type { ContractOptions, NewMachine } from '../host/host.js';
import { type Machine, slugTaken } from '../host/machine.js';
import { contractOf, deleted } from '../ownership.js';
import { type LocalRegistryContext, Retention } from '../retention.js';
import type { MissingRows } from '../store/head-mark.js';
import { takenByContract } from '../usage.js';
import { type KeyChange, keyLimitReached, keyMachineOf, keySlugOf, type NodeShown, type Registry } from './registry.js';

export class LocalRegistry implements Registry {
  readonly place = 'node';
  readonly durableRows: Observable<AuditRow>;
  readonly #context: LocalRegistryContext;
  readonly #retention: Retention;

  constructor(context: LocalRegistryContext) {
    this.#context = context;
    this.durableRows = context.host.durableRows;
    this.#retention = new Retention(context);
  }

  async createMachine(asked: NewMachine): Promise<Machine> {
    const { host, usage, durability } = this.#context;
    if (host.failure !== undefined) throw host.failure;
    if (this.#retention.isRemoving(asked.slug)) throw slugTaken(asked.slug);
    if (asked.by !== undefined) usage.refuse(asked.owner ?? '', { machines: 1 }, this.place);
    const machine = host.createMachine(asked);
    await durability.commit();
    return machine;
  }

  async createContract(machine: Machine, plan: Plan, options: ContractOptions): Promise<Contract> {
    const { host, usage, work, durability } = this.#context;
    const contract = await work.once(machine, () => {
      if (machine.deletedMs !== undefined) throw deleted(machine);
      const { owner } = machine.image;
      if (options.by !== undefined) usage.refuse(owner, takenByContract(plan, options.keyed), this.place);
      return host.createPlanned(machine.slug, plan, options);
    });
    await durability.commit();
    return contract;
  }

  async changeContract(contract: Contract, change: ContractChange): Promise<Changed> {
    const { host, work, durability } = this.#context;
    const machine = host.machine(contract.machine.slug);
    const changed = await work.of(machine, () => this.#change(machine, contract, change));
    await durability.commit();
    return changed;
  }

  *#change(machine: Machine, contract: Contract, change: ContractChange) {
    const { host, usage } = this.#context;
    contractOf(host, machine, contract.id);
    usage.refuseChange(machine.image.owner, contract, plansAfter(contract, change), this.place);
    return yield* host.changeContract(contract, change);
  }

  async deleteContract(contract: Contract, by?: string) {
    const { host, usage, work, durability } = this.#context;
    const machine = host.machine(contract.machine.slug);
    const freed = await work.once(machine, () => {
      // It may be gone by now.
      contractOf(host, machine, contract.id);
      const room = usage.roomOf(machine.image.owner, [contract]);
      host.deleteContract(contract, by);
      return room;
    });
    await durability.commit();
    return freed;
  }

  async changeKeys({ made, changed = [], note }: KeyChange): Promise<void> {
    const { host, credentials, onKey, limits, durability } = this.#context;
    if (host.failure !== undefined) throw host.failure;
    if (made !== undefined) {
      const { keysPerOwner: most } = limits;
      if (credentials.countKeys(made.owner) >= most) throw keyLimitReached(most, this.place);
      credentials.putKey(made);
    }
    for (const key of changed) {
      credentials.putKey(key);
      onKey(key);
    }
    if (note !== undefined) {
      const { owner, ...action } = note;
      const machine = host.machines.get(keySlugOf(owner)) ?? host.createMachine(keyMachineOf(owner));
      host.note(machine, { ...action, kind: 'admin_action', cause: 'manual' });
    }
    await durability.commit();
  }

  purgeExpired(): void {
    this.#context.credentials.purgeExpired(this.#context.clock.now());
  }

  async deleteMachine(machine: Machine, by?: string) {
    const { host, usage, work, durability } = this.#context;
    const freed = await work.once(machine, () => {
      if (machine.deletedMs === undefined) {
        const room = usage.roomOf(machine.image.owner, machine.contracts);
        host.deleteMachine(machine, by);
        return { machines: 1, ...room };
      }
      if (by === undefined) return undefined;
      throw deleted(machine);
    });
    await durability.commit();
    return freed;
  }

  nodes(): readonly NodeShown[] {
    return [];
  }

  take(row: AuditRow): void {
    this.#context.usage.takeRow(row);
    this.#retention.take(row);
  }

  async tick(cycle: number): Promise<void> {
    const { host, ownership, credentials, clock, store } = this.#context;
    store.noteCycle(cycle);
    if (host.failure !== undefined) return;
    this.#retention.sign(cycle);
    this.#retention.cut(cycle);
    const left = [...ownership.orphans(credentials, clock.now())].flatMap((owner) => ownership.machinesOf(owner));
    await Promise.all(left.map((machine) => this.deleteMachine(machine)));
  }

  async start(lost: readonly MissingRows[]): Promise<void> {
    const { host, store, clock } = this.#context;
    store.noteCycle(clock.cycle());
    for (const { machine: slug, toSeq } of lost) {
      const machine = host.machines.get(slug);
      if (machine !== undefined) host.note(machine, { kind: 'rows_lost', lost_to_seq: toSeq, cause: 'system' });
    }
  }

  join(): Promise<void> {
    return this.#context.durability.commit();
  }

  async leave(): Promise<void> {
    const { host, clock, durability } = this.#context;
    if (host.failure !== undefined) return;
    this.#retention.signAll(clock.cycle());
    host.saveWindows();
    await durability.commit();
  }

  close(): void {
    this.#context.store.close();
  }
}
