// Owns the way of what happened from the host to the world: written, made durable, then published, in the order in which it happened.
//
//   row, emitted event ─► store ─ commit ─► durable ─► happenings
//
// Nothing is published before it is durable. Once a commit has failed nothing more is written.
import { type Observable, Subject } from 'rxjs';
import type { AuditEntry, AuditRow } from '../record/row.js';
import type { Failure } from '../schema/failure.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { cycleOf, startOf } from '../time/cycle.js';
import type { Chain } from './chain.js';
import type { Happening } from './host-event.js';

/** A row before it has a machine and a time. */
export type LedgerEntry = Omit<AuditEntry, 'machine' | 'at'>;

export class Ledger {
  readonly happenings: Observable<Happening>;
  /** Why nothing can be stored any more; undefined while all is well. What was counted since may be forgotten. */
  failure: Failure | undefined;
  private readonly published = new Subject<Happening>();
  /** What happened and is not durable yet, with the chain whose row it is. */
  private outbox: { readonly happening: Happening; readonly chain: Chain | undefined }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly store: Store,
  ) {
    this.happenings = this.published.asObservable();
  }

  /** Writes a row at the end of a chain. */
  write(chain: Chain, entry: LedgerEntry): AuditRow {
    if (this.failure !== undefined) throw this.failure;
    const row = chain.extend({ ...entry, at: this.timeOf(entry.cycle) }, (made) => this.store.append(made));
    this.outbox.push({ happening: { kind: 'row', row }, chain });
    return row;
  }

  /** Tells of something that leaves no row of its own. */
  tell(happening: Exclude<Happening, { kind: 'row' }>): void {
    this.outbox.push({ happening, chain: undefined });
  }

  /** Makes durable what was written, then publishes what happened. `settled` is called after that. */
  commit(settled?: (failure?: Failure) => void): void {
    const batch = this.outbox;
    this.outbox = [];
    this.store.commit((failure) => {
      if (failure !== undefined) this.failure ??= failure;
      else {
        for (const { happening, chain } of batch) {
          if (chain !== undefined && happening.kind === 'row') chain.durableSeq = happening.row.seq;
          this.published.next(happening);
        }
      }
      settled?.(failure);
    });
  }

  /** The time of day of a row is that of writing, or, when it is written late, the beginning of the cycle it speaks of. */
  private timeOf(cycle: number): string {
    const now = this.clock.now();
    const ms = cycleOf(now, this.clock.cycleMs) === cycle ? now : startOf(cycle, this.clock.cycleMs);
    return new Date(Math.floor(ms)).toISOString();
  }
}
