// What owners use on the node of the rooms of limits.ts, by what changes on its host. An owner may have as much as is free, and no more than
// its bound.
import { type Plan, windowCycles } from '../core/limiter/plan.js';
import { type AuditRow, bytesOfRow } from '../core/record/row.js';
import { Failure } from '../core/schema/failure.js';
import type { Bounds, SharedRoom } from './bounds.js';
import type { Contract } from './host/contract.js';
import type { Host, HostChange } from './host/host.js';
import { cellsOfKeys } from './host/keys.js';
import type { Machine } from './host/machine.js';
import { ROOMS, type RoomName } from './limits.js';
import { isReserved, type Ownership } from './ownership.js';
import { ofOwner } from './request-source.js';
import type { Credentials } from './store/credential-store.js';
import type { Store } from './store/store.js';

export const QUOTAS = ['machines', 'contracts', 'windowCycles', 'keyCells', 'definitionBytes'] as const;

/** Equal texts of definitions of an owner count once. */
export type QuotaAmounts = Readonly<Record<(typeof QUOTAS)[number], number>>;

/** What machines keep: the rows of their records, without removed ones, and answers under idempotency keys. */
type Kept = Record<'rows' | 'recordKib' | 'answersKib', number>;

export type Used = Readonly<Record<(typeof NAMES)[number], number>>;

type Asked = readonly (readonly [name: keyof QuotaAmounts, more: number])[];

export interface QuotaRequest {
  readonly owner: string;
  /** Default: by the table of limits.ts. */
  readonly what?: string;
  readonly asked: Asked;
  readonly plan?: Plan;
}

export type Freed = ReturnType<typeof freedOf>;

const NOTHING: Readonly<Kept> = { rows: 0, recordKib: 0, answersKib: 0 };

const RECORDS = ['rows', 'recordKib'] as const;

export class Usage {
  readonly #host: Host;
  readonly #ownership: Ownership;
  readonly #bounds: Bounds;
  readonly #credentials: Pick<Credentials, 'keysOf'>;
  readonly #kept = new Map<Machine, Kept>();
  readonly #networkByOwner = new Map<string, string>();
  readonly #plans = new Map<string, Map<Plan, number>>();
  readonly #bytes = new WeakMap<Plan, number>();

  constructor(
    host: Host,
    store: Pick<Store, 'cut' | 'recordBytes'>,
    credentials: Pick<Credentials, 'keysOf'>,
    ownership: Ownership,
    bounds: Bounds,
  ) {
    this.#credentials = credentials;
    this.#host = host;
    this.#ownership = ownership;
    this.#bounds = bounds;
    for (const name of NAMES) this.#room(name).clear();
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

  of(owner: string): Used {
    return usedBy((name) => this.amountOf(owner, name));
  }

  amountOf(owner: string, name: keyof Used): number {
    return this.#room(name).of(ofOwner(owner));
  }

  /** Without the node's own machines. */
  get onNode(): Used {
    return usedBy((name) => this.#room(name).all);
  }

  takeRow(row: AuditRow): void {
    const machine = this.#host.machines.get(row.machine);
    if (machine !== undefined) this.keep(machine, { rows: 1, recordKib: bytesOfRow(row) / 1024 });
  }

  /** @param more below 0 for what was removed */
  keep(machine: Machine, more: Partial<Kept>): void {
    const { owner } = machine.image;
    const { rows = 0, recordKib = 0, answersKib = 0 } = more;
    const kept = this.#kept.get(machine) ?? { ...NOTHING };
    kept.rows += rows;
    kept.recordKib += recordKib;
    kept.answersKib += answersKib;
    this.#kept.set(machine, kept);
    this.#add(owner, more);
    this.#noteFull(owner);
    if (rows < 0 || recordKib < 0) for (const one of this.#ownership.full.keys()) this.#noteFull(one);
  }

  #noteFull(owner: string): void {
    const { full } = this.#ownership;
    const name = RECORDS.find((one) => {
      const used = this.amountOf(owner, one);
      return used >= this.#room(one).most.perOwner || used >= this.freeIn(owner, one);
    });
    if (name === undefined) full.delete(owner);
    else full.set(owner, `as many ${ROOMS[name].of} as they may have, or as the node has room for`);
  }

  refuse(wanted: QuotaRequest): void {
    const { owner } = wanted;
    const refusal = refusalBeyond('node', wanted, (name) => ({
      most: this.#room(name).most.perOwner,
      used: this.amountOf(owner, name),
      free: this.freeIn(owner, name),
    }));
    if (refusal !== undefined) {
      this.#bounds.countRefused(refusal.name);
      throw refusal.failure;
    }
    if (wanted.asked.some(([name]) => name === 'machines')) this.refuseFurther(owner, 'deletedMachines');
  }

  /** @throws Failure by the table of limits.ts if there is no room for a further one */
  refuseFurther(owner: string, name: keyof Used, least = 1): void {
    this.#bounds.refuse(name, [ofOwner(owner), this.#networkOfOwner(owner)], least);
  }

  leftOf(owner: string): Used {
    const used = this.of(owner);
    return usedBy((name) => {
      const most = Math.min(this.#room(name).most.perOwner, this.freeIn(owner, name));
      return Math.max(0, Math.floor(most - used[name]));
    });
  }

  #room(name: keyof Used): SharedRoom {
    return this.#bounds.room(name);
  }

  /** What others leave for an owner, and for the owners of the same network of addresses. */
  freeIn(owner: string, name: keyof Used): number {
    return this.#room(name).freeIn(this.#networkOfOwner(owner));
  }

  #networkOfOwner(owner: string): string {
    let name = this.#networkByOwner.get(owner);
    if (name === undefined) {
      const [key] = this.#credentials.keysOf(owner, '', 1);
      // An owner without a minted key counts as a network of its own.
      name = `network ${key?.network ?? `of ${owner}`}`;
      this.#networkByOwner.set(owner, name);
    }
    return name;
  }

  ofContract(owner: string, plan: Plan, maxKeys: number | undefined): QuotaRequest {
    const { windowCycles, keyCells } = sizeOf([plan], maxKeys);
    return {
      owner,
      plan,
      asked: Object.entries({ contracts: 1, windowCycles, keyCells, definitionBytes: this.#bytesOf(plan) }) as Asked,
    };
  }

  ofChange(owner: string, { plans, image }: Sized, after: readonly Plan[]): QuotaRequest {
    const [was, is] = [plans, after].map((all) => sizeOf(all, image.keyed?.maxKeys)) as [Size, Size];
    const more = {
      windowCycles: is.windowCycles - was.windowCycles,
      keyCells: is.keyCells - was.keyCells,
      definitionBytes: after.reduce((sum, plan) => sum + (plans.includes(plan) ? 0 : this.#bytesOf(plan)), 0),
    };
    const asked = Object.entries(more) as Asked;
    return { owner, what: 'The contract was not changed.', asked: asked.filter(([, amount]) => amount > 0) };
  }

  #countMachine({ slug, image, deletedMs }: Machine, by: 1 | -1): void {
    if (deletedMs !== undefined) this.#add(image.owner, { deletedMachines: by });
    else if (!isReserved(slug)) this.#add(image.owner, { machines: by });
  }

  /** The node's own machines take no room. */
  #change(machine: Machine, { plans, image }: Sized, by: 1 | -1): void {
    if (isReserved(machine.slug)) return;
    const { owner } = machine.image;
    const known = this.#plans.get(owner) ?? new Map<Plan, number>();
    this.#plans.set(owner, known);
    let bytes = 0;
    for (const plan of plans) {
      const count = (known.get(plan) ?? 0) + by;
      if (count === (by > 0 ? 1 : 0)) bytes += this.#bytesOf(plan);
      if (count === 0) known.delete(plan);
      else known.set(plan, count);
    }
    const { windowCycles, keyCells } = sizeOf(plans, image.keyed?.maxKeys);
    const more = { windowCycles: by * windowCycles, keyCells: by * keyCells, definitionBytes: by * bytes };
    this.#add(owner, { contracts: by, ...more });
  }

  #add(owner: string, more: Partial<Used>): void {
    const network = this.#networkOfOwner(owner);
    for (const name of NAMES) if (more[name]) this.#room(name).add(ofOwner(owner), network, more[name]);
  }

  freedBy(owner: string, remove: () => void): Freed & { readonly machines: number } {
    const before = this.of(owner);
    remove();
    const now = this.of(owner);
    const freed = usedBy((name) => before[name] - now[name]);
    return { machines: freed.machines, ...freedOf(freed) };
  }

  #bytesOf(plan: Plan): number {
    let bytes = this.#bytes.get(plan);
    if (bytes === undefined) {
      bytes = JSON.stringify(plan.definition).length;
      this.#bytes.set(plan, bytes);
    }
    return bytes;
  }
}

type Sized = Pick<Contract, 'plans' | 'image'>;
type Size = Pick<QuotaAmounts, 'windowCycles' | 'keyCells'>;

function sizeOf(plans: readonly Plan[], maxKeys: number | undefined): Size {
  const sum = (sizeOfOne: (plan: Plan) => number) => plans.reduce((all, plan) => all + sizeOfOne(plan), 0);
  return {
    windowCycles: sum(windowCycles),
    keyCells: maxKeys === undefined ? 0 : sum((plan) => cellsOfKeys(plan, maxKeys)),
  };
}

export function freedOf({ contracts, windowCycles, keyCells, definitionBytes }: QuotaAmounts) {
  return { contracts, window_cycles: windowCycles, key_cells: keyCells, definition_bytes: definitionBytes };
}

export function ofMachine(owner: string): QuotaRequest {
  return { owner, asked: [['machines', 1]] };
}

/** @param roomOf the most of an owner, what it uses, and what others leave for it @returns undefined if there is room */
export function refusalBeyond(
  place: 'node' | 'network',
  { what, asked }: QuotaRequest,
  roomOf: (name: keyof QuotaAmounts) => Readonly<Record<'most' | 'used' | 'free', number>>,
): { readonly name: RoomName; readonly failure: Failure } | undefined {
  for (const [name, more] of asked) {
    const row = ROOMS[name];
    const { most, used, free } = roomOf(name);
    const all = used + more;
    const left = Math.max(0, Math.floor(free));
    if (all <= Math.min(most, left)) continue;
    const isOwn = all > most;
    const so = more === 1 ? '' : `, and with this one it would be ${all}`;
    const why = isOwn
      ? `An owner has up to ${most} ${row.of} on this ${place}${so}.`
      : `An owner has no more ${row.of} than are still free on the ${place}, or for their network of addresses: ${left}.`;
    const fix = isOwn ? row.fix : `Delete what you do not need, or ask another ${place}.`;
    return { name, failure: new Failure('limit_reached', { what: what ?? row.what, why, fix }) };
  }
  return undefined;
}

export function usedBy(of: (name: keyof Used) => number): Used {
  return Object.fromEntries(NAMES.map((name) => [name, of(name)])) as unknown as Used;
}

const NAMES = [...QUOTAS, 'rows', 'recordKib', 'answersKib', 'deletedMachines'] as const;
