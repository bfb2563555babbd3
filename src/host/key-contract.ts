// One key of a contract, awake: a contract with gate and actor, which its owner lets sleep when it can.
import type { Plan } from '../limiter/plan.js';
import type { ContractImage, ContractState } from '../store/store.js';
import { Contract } from './contract.js';
import type { HostContext } from './host-context.js';
import type { Chain } from './ledger.js';

/** The contract that the key is one of. */
interface KeyOwner {
  /** The contract has moved, or may have. */
  settle(contract: KeyContract): void;
  counted(n: number, admitted: number): void;
  /** It has counts that the store does not know. */
  markDirty(number: number): void;
}

export class KeyContract extends Contract {
  readonly number: number;
  readonly #owner: KeyOwner;

  /** @param number of the key in the table of its owner; `key`: its name there */
  constructor(
    owner: KeyOwner,
    number: number,
    key: string,
    image: ContractImage,
    plan: Plan,
    machine: Chain,
    cycle: number,
    context: HostContext,
    saved?: Omit<ContractState, 'id'>,
  ) {
    super(image, plan, machine, cycle, context, saved, key);
    this.number = number;
    this.#owner = owner;
  }

  override decide(n: number, cycle: number, kind?: number, holdMs?: number): number {
    const admitted = super.decide(n, cycle, kind, holdMs);
    this.#owner.counted(n, admitted);
    return admitted;
  }

  override decideLate(n: number, happened: number, cycle: number, kind?: number): number {
    const admitted = super.decideLate(n, happened, cycle, kind);
    this.#owner.counted(n, admitted);
    return admitted;
  }

  override wake(ms: number): void {
    super.wake(ms);
    this.#owner.settle(this);
  }

  protected override changed(): void {
    this.isDirty = true;
    this.#owner.markDirty(this.number);
  }
}
