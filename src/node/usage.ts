// What owners have on the node, and how much they may have. A node has room for `onNode` of a thing; an owner may have as many as are still
// free, so that a few owners never take all.
//
//   room     |■■■■■■■■■■■■■■■■□□□□□□□□□|      an owner with as many as the 9 that are free gets no more
import type { Host } from '../host/host.js';
import { KeyedContract } from '../host/keyed-contract.js';
import { cellsOfKeys } from '../host/keys.js';
import type { Machine } from '../host/machine.js';
import { type Plan, windowCycles } from '../limiter/plan.js';
import { Failure } from '../schema/failure.js';
import type { Store } from '../store/store.js';
import type { Limits } from './limits.js';
import { isReserved, type Ownership } from './ownership.js';

/** What is made, and never removed. */
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

/** What it is that is full: the first of these that has no room. */
const RECORDS = ['rows', 'recordKib'] as const;

export class Usage {
  readonly #host: Host;
  readonly #ownership: Ownership;
  readonly #limits: Limits;
  /** How many contracts of a machine are counted already: contracts only come. */
  readonly #counted = new Map<Machine, number>();
  readonly #byOwner = new Map<string, Used & { readonly plans: Set<Plan> }>();
  readonly #bytes = new WeakMap<Plan, number>();
  readonly #onNode: Used = none();

  constructor(host: Host, store: Pick<Store, 'cut' | 'recordBytes'>, ownership: Ownership, limits: Limits) {
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
    return { ...this.#onNode, machines: this.#host.machines.size, contracts: this.#host.contracts.size };
  }

  /** Rows of so many bytes together were added to a record of an owner, or, below 0, removed from one. */
  add(owner: string, rows: number, bytes: number): void {
    for (const used of [this.#of(owner), this.#onNode]) {
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
      const { perOwner, onNode } = this.#limits[one];
      return used[one] >= perOwner || used[one] >= onNode - this.#onNode[one];
    });
    if (name === undefined) full.delete(owner);
    else full.set(owner, `as many ${WORDS[name]} as they may have, or as the node has room for`);
  }

  /** @throws Failure `limit_reached` */
  refuse(wanted: Wanted): void {
    const refusal = refusalBeyond(this.#limits, 'node', wanted, this.of(wanted.owner), this.onNode);
    if (refusal !== undefined) throw refusal;
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
    const of = this.#of(image.owner);
    for (; counted < contracts.length; counted += 1) {
      const contract = contracts[counted]!;
      const { plan } = contract;
      const cells = contract instanceof KeyedContract ? cellsOfKeys(plan, contract.keyed.maxKeys) : 0;
      const bytes = of.plans.has(plan) ? 0 : this.#bytesOf(plan);
      of.plans.add(plan);
      for (const used of [of, this.#onNode]) {
        used.contracts += 1;
        used.windowCycles += windowCycles(plan);
        used.keyCells += cells;
        used.definitionBytes += bytes;
      }
    }
    this.#counted.set(machine, counted);
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
      used = { ...none(), plans: new Set<Plan>() };
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
 * @param place of which `onNode` is all
 * @returns undefined where there is room
 */
export function refusalBeyond(
  limits: Limits,
  place: 'node' | 'network',
  { what, asked }: Wanted,
  used: Stocked,
  onNode: Stocked,
): Failure | undefined {
  for (const [name, more, fix] of asked) {
    const { perOwner, onNode: room } = limits[name];
    if (used[name] + more > perOwner) {
      const so = more === 1 ? '' : `, and with this one it would be ${used[name] + more}`;
      return new Failure('limit_reached', {
        what,
        why: `An owner has up to ${perOwner} ${WORDS[name]} on this ${place}${so}.`,
        fix,
      });
    }
    const free = room - onNode[name];
    if (used[name] + more > free)
      return new Failure('limit_reached', {
        what,
        why: `An owner has no more ${WORDS[name]} than are still free on the ${place}: ${Math.max(0, free)}.`,
        fix: `Ask another ${place}.`,
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
