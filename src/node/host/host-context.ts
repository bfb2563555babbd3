// What the contracts of a machine share.
import type { ContractActors } from '../../core/limiter/contract-actor.js';
import type { Plan } from '../../core/limiter/plan.js';
import { FifoQueue } from '../../core/math/fifo-queue.js';
import type { AuditRow } from '../../core/record/row.js';
import type { Failure } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import type { Store } from '../store/store.js';
import { Ledger } from './ledger.js';
import type { Wakes } from './wakes.js';

export interface HostContext {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Undefined where contracts live for one decision each. */
  readonly actors?: ContractActors | undefined;
  readonly wakes: Wakes;
  readonly store: Pick<Store, 'putState' | 'deleteKey'>;
  readonly claimMemory?: (() => void) | undefined;
  /** Called with the failure of a contract, or of a key, that has stopped. */
  readonly onFailed?: ((failure: Failure) => void) | undefined;
  /** Contracts with unsaved counts, oldest first; one entry for each unsaved key. */
  readonly changed: FifoQueue<{ readonly plan: Plan; save(): void }>;
  /** Whether counts that were saved already wait for a commit: those of requests with an idempotency key. */
  hasUncommitted?: boolean;
  /** While a request with an idempotency key is counted: what it changes is saved with its answer, and by nothing else. */
  isSavedAtOnce?: boolean;
  /** The frozen time of the machine, in unix ms, while it counts one event in several tasks. */
  busyMs?: number | undefined;
}

/** For contracts that nothing is stored of. @param append gets their rows */
export function detachedContext(clock: Clock, wakes: Wakes, append: (row: AuditRow) => void): HostContext {
  const store = { append, putState() {}, deleteKey() {}, commit: (settled: () => void) => settled() };
  return { clock, wakes, store, ledger: new Ledger(clock, store), changed: new FifoQueue() };
}

export function nowOf({ clock, busyMs }: Pick<HostContext, 'clock' | 'busyMs'>): number {
  return busyMs ?? clock.now();
}
