// Periodic work. Each cycle: write counts, sign heads, notify readers. Each second: check the store. Each minute: purge expired keys, sessions.
import { Subscription } from 'rxjs';
import type { AuditRow } from '../core/record/row.js';
import { Failure } from '../core/schema/failure.js';
import { type CycleTick, cycles, every } from '../core/time/cycles.js';
import type { NodeContext } from './node-context.js';

const PURGE_MS = 60_000;

/** Interval of the check whether the store is in place and, after `disk_full`, whether there is room. */
const CHECK_MS = 1_000;

export function startHeartbeat(context: NodeContext, log: (error: unknown) => void): Subscription {
  const { clock, host, streams, limits } = context;
  let logged: Failure | undefined;
  const logFailure = () => {
    if (host.failure !== undefined && host.failure !== logged) log(host.failure);
    logged = host.failure;
  };
  const onError = (error: unknown) => {
    if (isOfStore(error)) host.commit(logFailure);
    else log(error);
  };
  // An exception in an observer would end the process: it is logged, and the others go on.
  const guarded =
    <T>(work: (value: T) => void) =>
    (value: T) => {
      try {
        work(value);
      } catch (error) {
        onError(error);
      }
    };
  const all = new Subscription();
  all.add(context.registry.durableRows.subscribe(guarded((row) => take(row, context))));
  all.add(cycles(clock).subscribe(guarded((tick) => begin(tick, context, onError))));
  all.add(every(clock, limits.heartbeatMs).subscribe(guarded(() => streams.beat())));
  const checkStore = () => {
    if (host.failure !== undefined) context.recover();
    // An empty commit fails if the files are gone.
    else host.commit();
    logFailure();
  };
  all.add(every(clock, CHECK_MS).subscribe(guarded(checkStore)));
  all.add(every(clock, PURGE_MS).subscribe(guarded(() => context.registry.purgeExpired())));
  return all;
}

function isOfStore(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'store_failed' || error.code === 'disk_full');
}

function take(row: AuditRow, { counts, active, streams, registry }: NodeContext): void {
  if (row.kind === 'transition') counts.transitions += 1;
  if (row.kind === 'transition_failed') counts.refusedTransitions += 1;
  active.take(row);
  registry.take(row);
  streams.take(row);
}

function begin(tick: CycleTick, context: NodeContext, onError: (error: unknown) => void): void {
  const { registry, counting, counts, streams } = context;
  counts.missedCycles += tick.missed;
  streams.tick(tick);
  const count = async () => {
    await counting.tick(tick.cycle);
    streams.sendCounts();
  };
  const failed = (error: unknown) => {
    if (!(error instanceof Failure) || isOfStore(error)) onError(error);
  };
  Promise.resolve(registry.tick(tick.cycle)).catch(failed);
  count().catch(failed);
}
