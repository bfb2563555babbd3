// Owns one machine alive: its contracts and the end of its chain.
import { link } from '../core/record/chain.js';
import { type AuditEntry, type AuditRow, GENESIS } from '../core/record/row.js';
import type { MachineImage } from '../store/store.js';
import type { Contract } from './contract.js';

export class Machine {
  /** In order of creation. */
  readonly contracts: Contract[] = [];
  /** The last row that is known to be durable: nobody outside may be told of a later one. */
  durableSeq: number;
  /** The last row written since the host began. */
  last: AuditRow | undefined;

  constructor(
    readonly image: MachineImage,
    public head: { readonly seq: number; readonly hash: string } = { seq: 0, hash: GENESIS },
  ) {
    this.durableSeq = head.seq;
  }

  get slug(): string {
    return this.image.slug;
  }

  /**
   * Links an entry to the end of the chain, once `keep` has taken the row.
   * @throws whatever `keep` throws; the chain is as it was then
   */
  extend(entry: Omit<AuditEntry, 'machine'>, keep: (row: AuditRow) => void): AuditRow {
    const row = link(this.head, { machine: this.slug, ...entry });
    keep(row);
    this.head = { seq: row.seq, hash: row.hash };
    this.last = row;
    return row;
  }
}
