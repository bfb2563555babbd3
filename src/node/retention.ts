// Signs the heads of records some cycles after they grew. Removes rows beyond the number that the operator keeps, leaving a signed cut, and the
// records of deleted machines after their retention.
//
//   |········ 900|901 ················ 1,900|       kept: 1,000 rows, and up to a tenth more
//      removed   └ cut: "rows 1 to 900 were removed at …", signed with the hash of row 900
//
// Readers lose the rows with the commit of the cut; the database frees their room later, in small steps, and after a restart too.
import type { AuditRow } from '../core/record/row.js';
import { cutHolds, publicKeyFrom, signCheckpoint, signCut } from '../core/record/signing.js';
import { Failure } from '../core/schema/failure.js';
import { instantText } from '../core/time/cycle.js';
import { type CallerQueue, NODE } from './caller-queue.js';
import type { Durability } from './durability.js';
import type { Machine } from './host/machine.js';
import type { MachineWork } from './machine-work.js';
import type { RegistryContext } from './registry/registry.js';
import type { Store } from './store/store.js';

/** Between two signatures, in cycles. Rows appended since are chained, but could be cut off unnoticed. */
const SIGNED_EVERY = 4;

/** Signatures and cuts per turn: a signature takes some 50 µs. The rest follows a cycle later. */
const AT_ONCE = 100;

const REVIEWED_AT_ONCE = 500;

/** Rows freed per turn: some ms. */
const SWEPT_AT_ONCE = 200;

export interface LocalRegistryContext extends RegistryContext {
  readonly store: Store;
  readonly durability: Pick<Durability, 'commit'>;
  readonly queue: CallerQueue;
  readonly work: MachineWork;
  readonly keepRows: number | undefined;
}

type Sources = Omit<LocalRegistryContext, 'durability' | 'work' | 'ownership' | 'credentials' | 'onKey'>;

export class Retention {
  readonly #context: Sources;
  readonly #most: number;
  readonly #grown = new Set<Machine>();
  #nextSigned = 0;
  readonly #long = new Set<Machine>();
  readonly #unreviewed: Iterator<Machine>;
  /** Machines whose removed rows may still take room. */
  readonly #unswept = new Set<string>();
  readonly #deleted = new Set<Machine>();
  readonly #removing = new Set<string>();
  #isSweeping = false;

  constructor(context: Sources) {
    this.#context = context;
    const { keepRows = Number.POSITIVE_INFINITY, host, store } = context;
    this.#most = keepRows + Math.ceil(keepRows / 10);
    const machines = [...host.machines.values()];
    this.#unreviewed = machines.values();
    const deleted = machines.filter(({ deletedMs }) => deletedMs !== undefined);
    for (const machine of deleted.sort((a, b) => a.deletedMs! - b.deletedMs!)) this.#deleted.add(machine);
    for (const slug of store.unswept()) this.#unswept.add(slug);
    host.changes.subscribe(({ kind, machine }) => {
      if (kind === 'machine_deleted') this.#deleted.add(machine);
      if (kind === 'machine_deleted' || kind === 'contract_removed' || kind === 'contract_changed')
        this.#unswept.add(machine.slug);
    });
  }

  take({ machine: slug, seq }: AuditRow): void {
    const machine = this.#context.host.machines.get(slug);
    if (machine === undefined) return;
    this.#grown.add(machine);
    if (seq > this.#most && seq - this.#removedOf(slug) > this.#most) this.#long.add(machine);
  }

  sign(cycle: number): void {
    if (cycle < this.#nextSigned) return;
    let left = AT_ONCE;
    for (const machine of this.#grown) {
      if (left === 0) return;
      left -= 1;
      this.#sign(machine, cycle);
    }
    this.#nextSigned = cycle + SIGNED_EVERY;
  }

  signAll(cycle: number): void {
    for (const machine of this.#grown) this.#sign(machine, cycle);
  }

  #sign(machine: Machine, cycle: number): void {
    const { store, signer } = this.#context;
    store.putCheckpoint(signCheckpoint(signer, { machine: machine.slug, ...machine.head, cycle }));
    this.#grown.delete(machine);
  }

  cut(cycle: number): void {
    this.#review(cycle);
    this.#removeDeleted();
    let left = AT_ONCE;
    for (const machine of this.#long) {
      if (left === 0) break;
      left -= 1;
      if (this.#cut(machine, cycle)) this.#long.delete(machine);
    }
    if (this.#unswept.size + this.#removing.size > 0 && !this.#isSweeping) this.#sweep();
  }

  #removeDeleted(): void {
    const { host, clock, limits } = this.#context;
    for (const machine of this.#deleted) {
      const { deletedMs = 0, slug, head, durableSeq } = machine;
      if (deletedMs + limits.retentionMs > clock.now() || durableSeq < head.seq) return;
      this.#deleted.delete(machine);
      host.removeMachine(machine);
      this.#unswept.delete(slug);
      this.#removing.add(slug);
    }
  }

  /** @returns whether the record is short enough; if not, its newer rows are not durable or not signed yet */
  #cut(machine: Machine, cycle: number): boolean {
    const { slug, durableSeq, head } = machine;
    const { store, signer, clock, keepRows = Number.POSITIVE_INFINITY } = this.#context;
    // Only signed rows are removed, so the newest checkpoint never belongs to a removed row.
    const toSeq = Math.min(durableSeq - keepRows, store.checkpoint(slug)?.seq ?? 0);
    const removed = this.#removedOf(slug);
    const [last] = toSeq > removed ? store.rows(slug, { afterSeq: toSeq - 1, limit: 1 }) : [];
    if (last === undefined) return false;
    const at = instantText(clock.now());
    const bytes = store.recordBytes(slug);
    store.putCut(signCut(signer, { machine: slug, removed_to_seq: toSeq, removed_hash: last.hash, at, cycle }));
    this.#unswept.add(slug);
    this.#note(machine, toSeq - removed, bytes);
    return head.seq - toSeq <= this.#most;
  }

  /** Finds what an earlier process left: unsigned heads, long records, unswept rows, cuts by a retired key. */
  #review(cycle: number): void {
    const { store, signer } = this.#context;
    for (let left = REVIEWED_AT_ONCE; left > 0; left -= 1) {
      const { value: machine } = this.#unreviewed.next();
      if (machine === undefined) return;
      const cut = store.cut(machine.slug);
      if ((store.checkpoint(machine.slug)?.seq ?? 0) < machine.head.seq) this.#grown.add(machine);
      if (machine.head.seq - (cut?.removed_to_seq ?? 0) > this.#most) this.#long.add(machine);
      if (cut === undefined) continue;
      this.#unswept.add(machine.slug);
      if (!cutHolds(cut, publicKeyFrom(signer.publicKey))) store.putCut(signCut(signer, { ...cut, cycle }));
    }
  }

  #sweep(): void {
    const { queue, host } = this.#context;
    this.#isSweeping = true;
    queue.take(NODE, () => {
      this.#isSweeping = false;
      if (host.failure !== undefined) return;
      try {
        this.#sweepSome();
      } catch (error) {
        // The heartbeat reports failures of the store.
        if (!(error instanceof Failure)) throw error;
      }
      host.commit();
    });
  }

  #sweepSome(): void {
    const { store, host } = this.#context;
    const [removed] = this.#removing;
    const [slug] = this.#unswept;
    if (removed !== undefined) {
      if (store.removeMachine(removed, SWEPT_AT_ONCE) < SWEPT_AT_ONCE) this.#removing.delete(removed);
    } else if (slug !== undefined) {
      const bytes = store.recordBytes(slug);
      if (store.sweep(slug, SWEPT_AT_ONCE) < SWEPT_AT_ONCE) this.#unswept.delete(slug);
      this.#note(host.machine(slug), 0, bytes);
    }
    if (this.#removing.size + this.#unswept.size > 0) this.#sweep();
  }

  /** @param bytes of the record before */
  #note(machine: Machine, rows: number, bytes: number): void {
    const { usage, store } = this.#context;
    usage.keep(machine, { rows: -rows, recordKib: (store.recordBytes(machine.slug) - bytes) / 1024 });
  }

  isRemoving(slug: string): boolean {
    return this.#removing.has(slug);
  }

  #removedOf(slug: string): number {
    return this.#context.store.cut(slug)?.removed_to_seq ?? 0;
  }
}
