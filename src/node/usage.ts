// What owners use on the node of the rooms of limits.ts, by what changes on its host. An owner may have as much as is free, and no more than
// its bound.
import type { freed } from '../api/shapes.js';
import { type Plan, windowCycles } from '../core/limiter/plan.js';
import { getOrInsert } from '../core/math/get-or-insert.js';
import { type AuditRow, bytesOfRow } from '../core/record/row.js';
import { Failure } from '../core/schema/failure.js';
import type { Bounds } from './bounds.js';
import type { Contract } from './host/contract.js';
import type { Host, HostChange } from './host/host.js';
import { cellsOfKeys } from './host/keys.js';
import { isReserved, type Machine } from './host/machine.js';
import { nameOfLimit, ROOMS, type RoomName } from './limits.js';
import { ofOwner } from './request-source.js';
import type { Credentials } from './store/credential-store.js';
import { definitionText, type KeyedImage, type Store } from './store/store.js';

/** Equal texts of definitions of an owner count once. */
export const QUOTAS = ['machines', 'contracts', 'windowCycles', 'keyCells', 'definitionBytes'] as const;

type Quota = (typeof QUOTAS)[number];

/** What machines keep: the rows of their records, without removed ones, and answers under idempotency keys. */
type Kept = Record<'rows' | 'recordKib' | 'answersKib', number>;

/** Rooms that are counted by owner, as long as something is kept. */
type KeptRoom = (typeof NAMES)[number];

export type Amounts = Partial<Record<Quota, number>>;

export type Freed = Readonly<Record<keyof typeof freed, number>>;

const NOTHING: Readonly<Kept> = { rows: 0, recordKib: 0, answersKib: 0 };

const RECORDS = ['rows', 'recordKib'] as const;

export class Usage {
  readonly #host: Host;
  readonly #bounds: Bounds;
  readonly #credentials: Pick<Credentials, 'keysOf'>;
  readonly #kept = new Map<Machine, Kept>();
  readonly #networkByOwner = new Map<string, string>();
  readonly #plans = new Map<string, Map<Plan, number>>();

  constructor(
    host: Host,
    store: Pick<Store, 'cut' | 'recordBytes'>,
    credentials: Pick<Credentials, 'keysOf'>,
    bounds: Bounds,
  ) {
    this.#credentials = credentials;
    this.#host = host;
    this.#bounds = bounds;
    for (const name of NAMES) this.#bounds[name].clear();
    for (const machine of host.machines.values()) {
      this.#countMachine(machine, 1);
      for (const contract of machine.contracts) this.#change(machine, contract, 1);
      const rows = machine.head.seq - (store.cut(machine.slug)?.removed_to_seq ?? 0);
      this.keep(machine, { rows, recordKib: store.recordBytes(machine.slug) / 1024 });
    }
    host.changes.subscribe((change) => this.#take(change));
  }

  #take(change: HostChange): void {
    const { kind, machine } = change;
    if (kind === 'machine_added') this.#countMachine(machine, 1);
    else if (kind === 'machine_deleted') {
      if (!isReserved(machine.slug)) this.#add(machine.image.owner, { machines: -1 });
      this.#countMachine(machine, 1);
    } else if (kind === 'contract_added') this.#change(machine, change.contract, 1);
    else if (kind === 'contract_removed') this.#change(machine, change.contract, -1);
    else if (kind === 'contract_changed') {
      this.#change(machine, { plans: change.before, image: change.contract.image }, -1);
      this.#change(machine, change.contract, 1);
    } else {
      const { rows, recordKib, answersKib } = this.#kept.get(machine) ?? NOTHING;
      this.keep(machine, { rows: -rows, recordKib: -recordKib, answersKib: -answersKib });
      this.#kept.delete(machine);
      this.#countMachine(machine, -1);
    }
  }

  /** Without the node's own machines. @returns what an owner has, and may still have */
  of(owner: string, name: KeptRoom): { readonly used: number; readonly left: number } {
    const used = this.#amountOf(owner, name);
    const most = Math.min(this.#bounds[name].most.perOwner, this.#freeIn(owner, name));
    return { used, left: Math.max(0, Math.floor(most - used)) };
  }

  get keepsAnswers(): boolean {
    return this.#bounds.answersKib.all > 0;
  }

  #amountOf(owner: string, name: KeptRoom): number {
    return this.#bounds[name].of(ofOwner(owner));
  }

  takeRow(row: AuditRow): void {
    const machine = this.#host.machines.get(row.machine);
    if (machine !== undefined) this.keep(machine, { rows: 1, recordKib: bytesOfRow(row) / 1024 });
  }

  /** @param more below 0 for what was removed */
  keep(machine: Machine, more: Partial<Kept>): void {
    const kept = getOrInsert(this.#kept, machine, () => ({ ...NOTHING }));
    for (const [name, by] of Object.entries(more)) kept[name as keyof Kept] += by;
    this.#add(machine.image.owner, more);
  }

  /** What the records of an owner have all of that they may, in words. */
  full(owner: string): string | undefined {
    const name = RECORDS.find((one) => {
      const used = this.#amountOf(owner, one);
      return used >= this.#bounds[one].most.perOwner || used >= this.#freeIn(owner, one);
    });
    return name && ROOMS[name].of;
  }

  /** @param what is not done; default: by the table of limits.ts @throws Failure `limit_reached` */
  refuse(owner: string, asked: Amounts, place: 'node' | 'network', what?: string): void {
    for (const [name, more] of Object.entries(asked) as [Quota, number][]) {
      if (more <= 0) continue;
      const row = ROOMS[name];
      const { perOwner: most } = this.#bounds[name].most;
      const all = this.#amountOf(owner, name) + more;
      const left = Math.max(0, Math.floor(this.#freeIn(owner, name)));
      if (all <= Math.min(most, left)) continue;
      this.#bounds[name].refused += 1;
      const isOwn = all > most;
      const so = more === 1 ? '' : `, and with this one it would be ${all}`;
      const why = isOwn
        ? `An owner has up to ${most} ${row.of} on this ${place}${so}.`
        : `An owner has no more ${row.of} than are still free on the ${place}, or for their network of addresses: ${left}.`;
      const fix = isOwn ? row.fix : `Delete what you do not need, or ask another ${place}.`;
      throw new Failure('limit_reached', { what: what ?? row.what, why, fix });
    }
    if (asked.machines !== undefined) this.refuseFurther(owner, 'deletedMachines');
  }

  refuseChange(owner: string, contract: Sized, after: readonly Plan[], place: 'node' | 'network'): void {
    const known = new Map<Plan, number>();
    const was = amountsOf(known, [contract], 1);
    const is = amountsOf(known, [{ plans: after, image: contract.image }], 1);
    const asked = {
      windowCycles: is.windowCycles - was.windowCycles,
      keyCells: is.keyCells - was.keyCells,
      // Only of plans that it did not have.
      definitionBytes: is.definitionBytes,
    };
    this.refuse(owner, asked, place, 'The contract was not changed.');
  }

  /** @throws Failure by the table of limits.ts if there is no room for a further one */
  refuseFurther(owner: string, name: KeptRoom, least = 1): void {
    this.#bounds[name].refuse([ofOwner(owner), this.#networkOfOwner(owner)], least);
  }

  /** What others leave for an owner, and for the owners of the same network of addresses. */
  #freeIn(owner: string, name: KeptRoom): number {
    return this.#bounds[name].freeIn(this.#networkOfOwner(owner));
  }

  #networkOfOwner(owner: string): string {
    return getOrInsert(this.#networkByOwner, owner, () => {
      const [key] = this.#credentials.keysOf(owner, '', 1);
      // An owner without a minted key counts as a network of its own.
      return `network ${key?.network ?? `of ${owner}`}`;
    });
  }

  #countMachine({ slug, image, deletedMs }: Machine, by: 1 | -1): void {
    if (deletedMs !== undefined) this.#add(image.owner, { deletedMachines: by });
    else if (!isReserved(slug)) this.#add(image.owner, { machines: by });
  }

  /** The node's own machines take no room. */
  #change({ slug, image: { owner } }: Machine, contract: Sized, by: 1 | -1): void {
    if (isReserved(slug)) return;
    const known = getOrInsert(this.#plans, owner, () => new Map<Plan, number>());
    this.#add(owner, amountsOf(known, [contract], by));
  }

  #add(owner: string, more: Partial<Record<KeptRoom, number>>): void {
    const network = this.#networkOfOwner(owner);
    for (const name of NAMES) if (more[name]) this.#bounds[name].add([ofOwner(owner), network], more[name]);
  }

  /** What the owner may have anew without these contracts. */
  roomOf(owner: string, contracts: readonly Sized[]): Freed {
    const given = Object.entries(amountsOf(new Map(this.#plans.get(owner)), contracts, -1));
    return Object.fromEntries(given.map(([name, amount]) => [nameOfLimit(name), Math.abs(amount)])) as Freed;
  }
}

interface Sized {
  readonly plans: readonly Plan[];
  readonly image: Pick<Contract['image'], 'keyed'>;
}

/** What contracts of an owner take, or give back. @param known how many have each plan; they are counted there */
function amountsOf(known: Map<Plan, number>, contracts: readonly Sized[], by: 1 | -1) {
  const sums = { contracts: by * contracts.length, windowCycles: 0, keyCells: 0, definitionBytes: 0 };
  for (const { plans, image } of contracts) {
    for (const plan of plans) {
      sums.windowCycles += by * windowCycles(plan);
      if (image.keyed !== undefined) sums.keyCells += by * cellsOfKeys(plan, image.keyed.maxKeys);
      const count = (known.get(plan) ?? 0) + by;
      if (count === (by > 0 ? 1 : 0)) sums.definitionBytes += by * definitionText(plan.definition).length;
      if (count === 0) known.delete(plan);
      else known.set(plan, count);
    }
  }
  return sums;
}

export function takenByContract(plan: Plan, keyed: KeyedImage | undefined): Amounts {
  return amountsOf(new Map(), [{ plans: [plan], image: { keyed } }], 1);
}

const NAMES = [...QUOTAS, 'rows', 'recordKib', 'answersKib', 'deletedMachines'] as const;

export function isKept(name: RoomName): name is KeptRoom {
  return (NAMES as readonly RoomName[]).includes(name);
}
