// The way of rows from a host to its observers: written, made durable, then published, in order.
//
//   row ─► store ─ commit ─► durable ─► published
//
// Nothing is published before it is durable. After a failed commit nothing more is written.
import { type Observable, Subject } from 'rxjs';
import { link } from '../../core/record/chain.js';
import { type AuditEntry, type AuditRow, GENESIS } from '../../core/record/row.js';
import { assert, type Failure } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { instantIn } from '../../core/time/cycle.js';
import type { Store } from '../store/store.js';

export type AdminNote = Pick<
  AuditEntry,
  'by' | 'action' | 'key_id' | 'next_key_id' | 'scopes' | 'only_machine' | 'expires_at'
>;

export class Chain {
  readonly slug: string;
  head: { readonly seq: number; readonly hash: string };
  /** Later rows are not shown yet. */
  durableSeq: number;
  last: AuditRow | undefined;
  end: Pick<AuditRow, 'cycle' | 'at' | 'kind'> | undefined;

  constructor(slug: string, head: Chain['head'] = { seq: 0, hash: GENESIS }, end?: Chain['end']) {
    this.slug = slug;
    this.head = head;
    this.end = end;
    this.durableSeq = head.seq;
  }
}

export class Ledger {
  readonly durableRows: Observable<AuditRow>;
  failure: Failure | undefined;
  readonly #published = new Subject<AuditRow>();
  readonly #clock: Clock;
  readonly #store: Pick<Store, 'append' | 'commit'>;
  #outbox: { readonly row: AuditRow; readonly chain: Chain }[] = [];

  constructor(clock: Clock, store: Pick<Store, 'append' | 'commit'>) {
    this.#clock = clock;
    this.#store = store;
    this.durableRows = this.#published.asObservable();
  }

  /**
   * Appends a row to a chain. Cycle and time of its rows never decrease.
   * @throws Bug for a cycle before that of the last row: the caller has skipped due wake-ups
   * @throws Failure `store_failed`, and the errors of the store; the chain is then unchanged
   */
  write(chain: Chain, entry: Omit<AuditEntry, 'machine' | 'at'>): AuditRow {
    if (this.failure !== undefined) throw this.failure;
    const { end, slug } = chain;
    assert(
      end === undefined || entry.cycle >= end.cycle,
      `a row of cycle ${entry.cycle} after one of cycle ${end?.cycle} on ${slug}`,
    );
    // The time of writing; for a row written late, the start of its cycle.
    const time = instantIn(entry.cycle, this.#clock.now(), this.#clock.cycleMs);
    const at = end !== undefined && end.at > time ? end.at : time;
    const row = link(chain.head, { machine: slug, ...entry, at });
    this.#store.append(row);
    chain.head = { seq: row.seq, hash: row.hash };
    chain.last = row;
    chain.end = row;
    this.#outbox.push({ row, chain });
    return row;
  }

  /** `settled` is called after publication. */
  commit(settled?: (failure?: Failure) => void): void {
    const batch = this.#outbox;
    this.#outbox = [];
    this.#store.commit((failure) => {
      if (failure !== undefined) this.failure ??= failure;
      else {
        for (const { row, chain } of batch) {
          chain.durableSeq = row.seq;
          this.#published.next(row);
        }
      }
      settled?.(failure);
    });
  }

  recover(): void {
    this.failure = undefined;
    this.#outbox = [];
  }
}
