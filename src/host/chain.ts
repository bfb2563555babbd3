// Owns the end of one machine's chain of rows, alive. Leaves linking to core/record/, keeping to the store.
import { link } from '../record/chain.js';
import { type AuditEntry, type AuditRow, GENESIS } from '../record/row.js';

export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

export class Chain {
  /** The last row that is known to be durable: nobody outside may be told of a later one. */
  durableSeq: number;
  /** The last row written since the host began. */
  last: AuditRow | undefined;

  constructor(
    readonly slug: string,
    public head: ChainHead = { seq: 0, hash: GENESIS },
  ) {
    this.durableSeq = head.seq;
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
