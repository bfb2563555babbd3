// Removes old rows of records, where the operator wants no more than so many: a signed cut stands in their place.
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
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { instantText } from '../time/cycle.js';
import { NODE, type Turns } from './fair-queue.js';

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
  #isSweeping = false;

  constructor(sources: RetentionSources) {
    this.#sources = sources;
    const { keepRows = Number.POSITIVE_INFINITY, host } = sources;
    this.#most = keepRows + Math.ceil(keepRows / 10);
    this.#unreviewed = [...host.machines.values()].values();
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
    let left = AT_ONCE;
    for (const machine of this.#long) {
      if (left === 0) break;
      left -= 1;
      if (this.#cut(machine, cycle)) this.#long.delete(machine);
    }
    if (this.#unswept.size > 0 && !this.#isSweeping) this.#sweep();
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
      const [slug] = this.#unswept;
      if (slug === undefined || host.failure !== undefined) return;
      const bytes = store.recordBytes(slug);
      if (store.sweep(slug, SWEPT_AT_ONCE) < SWEPT_AT_ONCE) this.#unswept.delete(slug);
      onRemoved(host.machine(slug).image.owner, 0, bytes - store.recordBytes(slug));
      host.commit();
      if (this.#unswept.size > 0) this.#sweep();
    });
  }

  #removedOf(slug: string): number {
    return this.#sources.store.cut(slug)?.removed_to_seq ?? 0;
  }
}
