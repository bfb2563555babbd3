// What owners have on the node, and how much they may have. A node has room for `onNode` of a thing. Owners whose keys were minted for one
// network of addresses share a pool: a part of what all others leave, and an owner may have as many as are still free in it. So neither a
// few keys nor a few addresses take all.
//
//   node     |others ■■■■■■■■■■|pool ■■■□□□|                  |      an owner with as many as the 3 that are free in the pool gets no more
//                               └── 1/8 ──┘                          more than 1/8 where two owners could not have their bounds in it
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import { KeyedContract } from '../host/keyed-contract.js';
import { cellsOfKeys } from '../host/keys.js';
import type { Machine } from '../host/machine.js';
import { type Plan, windowCycles } from '../limiter/plan.js';
import { Failure } from '../schema/failure.js';
import type { Credentials } from '../store/credential-store.js';
import type { Store } from '../store/store.js';
import { type Limits, poolOf } from './limits.js';
import { isReserved, type Ownership } from './ownership.js';

/** What is made, and removed when it is deleted. */
export interface Stocked {
  machines: number;
  contracts: number;
  /** Cycles of all windows together. */
  windowCycles: number;
  /** What the keys of all contracts with keys may take, in cells. */
  keyCells: number;
  /** Bytes of the texts of definitions; those that are equal count once for an owner. */
  definitionBytes: number;
}

/** What is there, of an owner or on the node. */
interface Used extends Stocked {
  /** Rows of all records together, without those that were removed, and the KiB that they take. */
  rows: number;
  recordKib: number;
}

/** Room for something that is about to be made. */
export interface Wanted {
  readonly owner: string;
  /** What is not made without it. */
  readonly what: string;
  readonly asked: readonly (readonly [name: keyof Stocked, more: number, fix: string])[];
  /** Of a contract. */
  readonly plan?: Plan;
}

interface Pool extends Used {
  readonly name: string;
  readonly owners: Set<string>;
}

/** What a contract that is deleted leaves free. */
export interface Freed {
  readonly contracts: number;
  readonly window_cycles: number;
  readonly key_cells: number;
  readonly definition_bytes: number;
}

/** What it is that is full: the first of these that has no room. */
const RECORDS = ['rows', 'recordKib'] as const;

export class Usage {
  readonly #host: Host;
  readonly #ownership: Ownership;
  readonly #limits: Limits;
  /** How many contracts of a machine are counted already: the first ones. */
  readonly #counted = new Map<Machine, number>();
  /** `plans`: how many of its contracts have each. */
  readonly #byOwner = new Map<string, Used & { readonly plans: Map<Plan, number> }>();
  /** What the owners of one pool have together, without machines; and who they are. */
  readonly #pools = new Map<string, Pool>();
  readonly #poolByOwner = new Map<string, Pool>();
  readonly #credentials: Pick<Credentials, 'keysOf'>;
  readonly #bytes = new WeakMap<Plan, number>();
  readonly #onNode: Used = none();

  constructor(
    host: Host,
    store: Pick<Store, 'cut' | 'recordBytes'>,
    credentials: Pick<Credentials, 'keysOf'>,
    ownership: Ownership,
    limits: Limits,
  ) {
    this.#credentials = credentials;
    this.#host = host;
    this.#ownership = ownership;
    this.#limits = limits;
    for (const machine of host.machines.values()) {
      this.#count(machine);
      const rows = machine.head.seq - (store.cut(machine.slug)?.removed_to_seq ?? 0);
      this.add(machine.image.owner, rows, store.recordBytes(machine.slug));
    }
  }

  /** Looks at the machines of the owner, and at those of their contracts that are new. */
  of(owner: string): Readonly<Used> {
    const machines = this.#ownership.machinesOf(owner);
    for (const machine of machines) this.#count(machine);
    return { ...this.#of(owner), machines: machines.length };
  }

  get onNode(): Readonly<Used> {
    return {
      ...this.#onNode,
      machines: this.#host.machines.size - this.#ownership.deleted,
      contracts: this.#host.contracts.size,
    };
  }

  /** Rows of so many bytes together were added to a record of an owner, or, below 0, removed from one. */
  add(owner: string, rows: number, bytes: number): void {
    for (const used of [this.#of(owner), this.#poolOf(owner), this.#onNode]) {
      used.rows += rows;
      used.recordKib += bytes / 1024;
    }
    this.#noteFull(owner);
    if (rows < 0 || bytes < 0) for (const one of this.#ownership.full.keys()) this.#noteFull(one);
  }

  #noteFull(owner: string): void {
    const { full } = this.#ownership;
    const used = this.#of(owner);
    const name = RECORDS.find((one) => {
      return used[one] >= this.#limits[one].perOwner || used[one] >= this.#freeIn(owner, one);
    });
    if (name === undefined) full.delete(owner);
    else full.set(owner, `as many ${WORDS[name]} as they may have, or as the node has room for`);
  }

  /** @throws Failure `limit_reached` */
  refuse(wanted: Wanted): void {
    const free = Object.fromEntries(wanted.asked.map(([name]) => [name, this.#freeIn(wanted.owner, name)]));
    const refusal = refusalBeyond(this.#limits, 'node', wanted, this.of(wanted.owner), free);
    if (refusal !== undefined) throw refusal;
    if (wanted.asked.some(([name]) => name === 'machines')) this.refuseBeyondDeleted(wanted);
  }

  /** Refuses a machine where too many records of deleted ones are kept. @throws Failure `limit_reached` */
  refuseBeyondDeleted({ owner, what }: Wanted): void {
    const { perOwner, onNode } = this.#limits.deletedMachines;
    const { deleted } = this.#ownership;
    if (this.#ownership.deletedOf(owner) < Math.min(perOwner, onNode - deleted + 1)) return;
    throw new Failure('limit_reached', {
      what,
      why: `The records of as many deleted machines as an owner may have, ${perOwner}, or as the node has room for, are still kept.`,
      fix: 'Wait until some are removed, or use the machines you have.',
    });
  }

  /** How many an owner may still have. */
  leftOf(owner: string, name: keyof Used): number {
    const used = this.of(owner)[name];
    return Math.max(0, Math.floor(Math.min(this.#limits[name].perOwner, this.#freeIn(owner, name)) - used));
  }

  /** What the owners of a pool may still take together. */
  #freeIn(owner: string, name: keyof Used): number {
    const pool = this.#poolOf(owner);
    let used = pool[name];
    if (name === 'machines') for (const one of pool.owners) used += this.#ownership.machinesOf(one).length;
    const all = name === 'machines' || name === 'contracts' ? this.onNode[name] : this.#onNode[name];
    return poolOf(this.#limits[name], all - used) - used;
  }

  /** The name of the pool of an owner. */
  poolName(owner: string): string {
    return this.#poolOf(owner).name;
  }

  #poolOf(owner: string): Pool {
    const known = this.#poolByOwner.get(owner);
    if (known !== undefined) return known;
    const [key] = this.#credentials.keysOf(owner, '', 1);
    // One that nobody minted is in a pool of its own, under a name that no network has.
    const name = key?.network ?? `owner ${owner}`;
    const pool = this.#pools.get(name) ?? { ...none(), name, owners: new Set() };
    pool.owners.add(owner);
    this.#pools.set(name, pool);
    this.#poolByOwner.set(owner, pool);
    return pool;
  }

  /** What a contract takes. */
  ofContract(owner: string, plan: Plan, maxKeys: number | undefined): Wanted {
    const most = cellsOfKeys(plan, 1);
    const cells = maxKeys === undefined ? 0 : cellsOfKeys(plan, maxKeys);
    return {
      ...{ owner, plan, what: 'No contract was created.' },
      asked: [
        ['contracts', 1, 'Let several clients share one.'],
        ['windowCycles', windowCycles(plan), 'Choose shorter windows, or let several clients share a contract.'],
        ['keyCells', cells, `Choose fewer max_keys or a shorter window: a key takes up to ${most} cells.`],
        ['definitionBytes', this.#bytesOf(plan), 'Let several contracts share a definition.'],
      ],
    };
  }

  #count(machine: Machine): void {
    const { contracts, image, slug } = machine;
    let counted = this.#counted.get(machine) ?? 0;
    if (counted === contracts.length || isReserved(slug)) return;
    for (; counted < contracts.length; counted += 1) this.#change(image.owner, contracts[counted]!, 1);
    this.#counted.set(machine, counted);
  }

  /** A contract came, or went. */
  #change(owner: string, contract: Contract, by: 1 | -1): void {
    const of = this.#of(owner);
    const { plan } = contract;
    const cells = contract instanceof KeyedContract ? cellsOfKeys(plan, contract.keyed.maxKeys) : 0;
    const before = of.plans.get(plan) ?? 0;
    const isFirst = before + by === (by > 0 ? 1 : 0);
    if (before + by === 0) of.plans.delete(plan);
    else of.plans.set(plan, before + by);
    for (const used of [of, this.#poolOf(owner), this.#onNode]) {
      used.contracts += by;
      used.windowCycles += by * windowCycles(plan);
      used.keyCells += by * cells;
      used.definitionBytes += isFirst ? by * this.#bytesOf(plan) : 0;
    }
  }

  /**
   * Contracts of a machine go: to be called before the host removes them.
   * @returns what is free then
   */
  free(machine: Machine, contracts: readonly Contract[]): Freed {
    this.#count(machine);
    const of = this.#of(machine.image.owner);
    const before = { ...of };
    for (const contract of contracts) this.#change(machine.image.owner, contract, -1);
    this.#counted.set(machine, machine.contracts.length - contracts.length);
    return {
      contracts: before.contracts - of.contracts,
      window_cycles: before.windowCycles - of.windowCycles,
      key_cells: before.keyCells - of.keyCells,
      definition_bytes: before.definitionBytes - of.definitionBytes,
    };
  }

  #bytesOf(plan: Plan): number {
    let bytes = this.#bytes.get(plan);
    if (bytes === undefined) {
      bytes = JSON.stringify(plan.definition).length;
      this.#bytes.set(plan, bytes);
    }
    return bytes;
  }

  #of(owner: string) {
    let used = this.#byOwner.get(owner);
    if (used === undefined) {
      used = { ...none(), plans: new Map<Plan, number>() };
      this.#byOwner.set(owner, used);
    }
    return used;
  }
}

/** What a machine takes. */
export function ofMachine(owner: string): Wanted {
  return {
    ...{ owner, what: 'No machine was created.' },
    asked: [['machines', 1, 'Put further contracts on the machines you have.']],
  };
}

/**
 * @param free how many the owner may have at most, for what others have
 * @returns undefined where there is room
 */
export function refusalBeyond(
  limits: Limits,
  place: 'node' | 'network',
  { what, asked }: Wanted,
  used: Stocked,
  free: Partial<Stocked>,
): Failure | undefined {
  for (const [name, more, fix] of asked) {
    const { perOwner } = limits[name];
    if (used[name] + more > perOwner) {
      const so = more === 1 ? '' : `, and with this one it would be ${used[name] + more}`;
      return new Failure('limit_reached', {
        what,
        why: `An owner has up to ${perOwner} ${WORDS[name]} on this ${place}${so}.`,
        fix,
      });
    }
    const most = Math.max(0, Math.floor(free[name] ?? 0));
    if (used[name] + more > most)
      return new Failure('limit_reached', {
        what,
        why: `An owner has no more ${WORDS[name]} than are still free on the ${place}, or for their network of addresses: ${most}.`,
        fix: `Delete what you do not need, or ask another ${place}.`,
      });
  }
  return undefined;
}

function none(): Used {
  return { machines: 0, contracts: 0, windowCycles: 0, keyCells: 0, definitionBytes: 0, rows: 0, recordKib: 0 };
}

const WORDS = {
  machines: 'machines',
  contracts: 'contracts',
  windowCycles: "cycles of its contracts' windows",
  keyCells: 'cells for keys',
  definitionBytes: 'bytes of definitions',
  rows: 'rows',
  recordKib: 'KiB of rows',
} as const satisfies Record<keyof Used, string>;
