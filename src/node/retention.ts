// Removes what is kept no longer: old rows of records, where the operator wants no more than so many, with a signed cut in their place; the
// records of deleted machines after their retention; and what owners have left whose keys have all ended.
//
//   |········ 900|901 ················ 1,900|       kept: 1,000 rows, and up to a tenth more
//      removed   └ cut: "rows 1 to 900 were removed at …", signed with the hash of row 900
//
// Rows are gone for readers with the commit of the cut; their room in the database is freed afterwards, in small steps. A node that dies
// meanwhile goes on with that when it starts.
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import type { AuditRow } from '../record/row.js';
import { cutHolds, publicKeyFrom, type Signer, signCut } from '../record/signing.js';
import type { Credentials } from '../store/credential-store.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { instantText } from '../time/cycle.js';
import { NODE, type Turns } from './fair-queue.js';
import { ORPHANS_AT_ONCE } from './limits.js';
import type { Ownership } from './ownership.js';
import { isMinted } from './secret.js';

/** Records that are cut in one go, each with a signature; the others follow a cycle later. */
const AT_ONCE = 100;

/** Machines looked at in one go after a start. */
const REVIEWED_AT_ONCE = 500;

/** Rows whose room is freed in one turn: some ms. */
const SWEPT_AT_ONCE = 200;

export interface RetentionSources {
  readonly host: Host;
  readonly store: Store;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly turns: Turns;
  /** Rows of a record that are kept at least; undefined: all. */
  readonly keepRows: number | undefined;
  readonly ownership: Ownership;
  readonly credentials: Pick<Credentials, 'hasValidKey'>;
  /** For how long the record of a deleted machine is read. */
  readonly retentionMs: number;
  /** Deletes a machine of an owner who is gone. */
  readonly onOrphan: (machine: Machine) => void;
  /** So many rows of an owner were removed, and so many bytes of rows were freed. */
  readonly onRemoved: (owner: string, rows: number, bytes: number) => void;
}

export class Retention {
  readonly #sources: RetentionSources;
  /** Rows beyond which a record is cut. */
  readonly #most: number;
  /** Records that have more. */
  readonly #long = new Set<Machine>();
  /** Machines that were there at the start and were not looked at yet. */
  readonly #unreviewed: Iterator<Machine>;
  /** Machines whose removed rows may still take room. */
  readonly #unswept = new Set<string>();
  /** Deleted machines, first those that were deleted first. */
  readonly #deleted = new Set<Machine>();
  /** Slugs of machines whose records are being removed. */
  readonly #removing = new Set<string>();
  #owners: Iterator<string> = [].values();
  #isSweeping = false;

  constructor(sources: RetentionSources) {
    this.#sources = sources;
    const { keepRows = Number.POSITIVE_INFINITY, host } = sources;
    this.#most = keepRows + Math.ceil(keepRows / 10);
    const machines = [...host.machines.values()];
    this.#unreviewed = machines.values();
    const deleted = machines.filter(({ deletedMs }) => deletedMs !== undefined);
    for (const machine of deleted.sort((a, b) => a.deletedMs! - b.deletedMs!)) this.#deleted.add(machine);
    for (const slug of sources.store.unswept()) this.#unswept.add(slug);
  }

  /** A machine was deleted, or a contract of it: what it had is freed a little at a time. */
  takeDeleted(machine: Machine): void {
    if (machine.deletedMs !== undefined) this.#deleted.add(machine);
    this.#unswept.add(machine.slug);
  }

  /** Takes note of a row. */
  take({ machine: slug, seq }: AuditRow): void {
    if (seq <= this.#most) return;
    const machine = this.#sources.host.machines.get(slug);
    if (machine !== undefined && seq - this.#removedOf(slug) > this.#most) this.#long.add(machine);
  }

  /** Cuts what is too long; durable with the next commit. */
  cut(cycle: number): void {
    this.#review(cycle);
    this.#removeDeleted();
    this.#lookForOrphans();
    let left = AT_ONCE;
    for (const machine of this.#long) {
      if (left === 0) break;
      left -= 1;
      if (this.#cut(machine, cycle)) this.#long.delete(machine);
    }
    if (this.#unswept.size + this.#removing.size > 0 && !this.#isSweeping) this.#sweep();
  }

  /** Lets go of machines whose retention is over. */
  #removeDeleted(): void {
    const { host, store, clock, ownership, retentionMs, onRemoved } = this.#sources;
    for (const machine of this.#deleted) {
      const { deletedMs = 0, slug, head, durableSeq } = machine;
      if (deletedMs + retentionMs > clock.now() || durableSeq < head.seq) return;
      this.#deleted.delete(machine);
      onRemoved(machine.image.owner, head.seq - this.#removedOf(slug), store.recordBytes(slug));
      ownership.remove(machine);
      host.forget(machine);
      this.#unswept.delete(slug);
      this.#removing.add(slug);
    }
  }

  /** Deletes what minted owners have left. Others have no key that could end: the operator has named them. */
  #lookForOrphans(): void {
    const { ownership, credentials, clock, onOrphan } = this.#sources;
    for (let left = ORPHANS_AT_ONCE; left > 0; left -= 1) {
      const { value: owner } = this.#owners.next();
      if (owner === undefined) {
        this.#owners = [...ownership.owners()].values();
        return;
      }
      if (!isMinted(owner) || credentials.hasValidKey(owner, clock.now())) continue;
      for (const machine of ownership.machinesOf(owner)) onOrphan(machine);
    }
  }

  /** @returns whether the record is short enough now; otherwise its newer rows are not durable, or not signed, yet */
  #cut({ slug, durableSeq, head, image }: Machine, cycle: number): boolean {
    const { store, signer, clock, keepRows = Number.POSITIVE_INFINITY, onRemoved } = this.#sources;
    // Only what was signed is removed: the newest checkpoint is never one of a removed row.
    const toSeq = Math.min(durableSeq - keepRows, store.checkpoint(slug)?.seq ?? 0);
    const removed = this.#removedOf(slug);
    const [last] = toSeq > removed ? store.rows(slug, { afterSeq: toSeq - 1, limit: 1 }) : [];
    if (last === undefined) return false;
    const at = instantText(clock.now());
    const bytes = store.recordBytes(slug);
    store.putCut(signCut(signer, { machine: slug, removed_to_seq: toSeq, removed_hash: last.hash, at, cycle }));
    this.#unswept.add(slug);
    onRemoved(image.owner, toSeq - removed, bytes - store.recordBytes(slug));
    return head.seq - toSeq <= this.#most;
  }

  /** What an earlier process left: records that are too long, rows without a reader, cuts by a key that has retired. */
  #review(cycle: number): void {
    const { store, signer } = this.#sources;
    for (let left = REVIEWED_AT_ONCE; left > 0; left -= 1) {
      const { value: machine } = this.#unreviewed.next();
      if (machine === undefined) return;
      const cut = store.cut(machine.slug);
      if (machine.head.seq - (cut?.removed_to_seq ?? 0) > this.#most) this.#long.add(machine);
      if (cut === undefined) continue;
      this.#unswept.add(machine.slug);
      if (!cutHolds(cut, publicKeyFrom(signer.publicKey))) store.putCut(signCut(signer, { ...cut, cycle }));
    }
  }

  #sweep(): void {
    const { turns, store, host, onRemoved } = this.#sources;
    this.#isSweeping = true;
    turns.take(NODE, () => {
      this.#isSweeping = false;
      if (host.failure !== undefined) return;
      const [removed] = this.#removing;
      if (removed !== undefined) {
        if (store.removeMachine(removed, SWEPT_AT_ONCE) < SWEPT_AT_ONCE) this.#removing.delete(removed);
        host.commit();
        if (this.#removing.size + this.#unswept.size > 0) this.#sweep();
        return;
      }
      const [slug] = this.#unswept;
      if (slug === undefined) return;
      const bytes = store.recordBytes(slug);
      if (store.sweep(slug, SWEPT_AT_ONCE) < SWEPT_AT_ONCE) this.#unswept.delete(slug);
      onRemoved(host.machine(slug).image.owner, 0, bytes - store.recordBytes(slug));
      host.commit();
      if (this.#unswept.size > 0) this.#sweep();
    });
  }

  /** Whether the record of a machine of this name is still being removed: a matter of moments. */
  isRemoving(slug: string): boolean {
    return this.#removing.has(slug);
  }

  #removedOf(slug: string): number {
    return this.#sources.store.cut(slug)?.removed_to_seq ?? 0;
  }
}
