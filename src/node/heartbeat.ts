// What a node does by itself: at every cycle it writes counts, signs heads and sends the cycle to readers; every second it looks after its store;
// every minute it deletes expired keys and sessions.
import { interval, Subscription } from 'rxjs';
import type { Happening } from '../host/ledger.js';
import { bytesOfRow } from '../record/row.js';
import { Failure } from '../schema/failure.js';
import { type CycleTick, cycles } from '../time/cycles.js';
import { Rank } from '../time/rank.js';
import { AgendaScheduler } from '../time/rx-scheduler.js';
import { NODE } from './fair-queue.js';
import type { Parts } from './parts.js';

/** How often expired keys and sessions are forgotten, in ms. */
const PURGE_MS = 60_000;

/** How often a node looks whether its store is still in its place, and, where its disk is full, whether there is room, in ms. */
const LOOK_MS = 1_000;

/** Begins; ends when unsubscribed. */
export function startHeartbeat(parts: Parts, onError: (error: unknown) => void): Subscription {
  const { clock, host, streams, credentials, limits } = parts;
  const scheduler = new AgendaScheduler(clock, Rank.report);
  // What an observer throws would end the process. Here it is logged, and the others go on.
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
  all.add((parts.network ?? host).happenings.subscribe(guarded((happening) => take(happening, parts))));
  all.add(cycles(clock).subscribe(guarded((tick) => begin(tick, parts, onError))));
  all.add(interval(limits.heartbeatMs, scheduler).subscribe(guarded(() => streams.beat())));
  let said: Failure | undefined;
  const look = () => {
    if (host.failure !== undefined) parts.recover();
    // A commit of nothing: it fails where the files are gone.
    else host.commit();
    if (host.failure !== undefined && host.failure !== said) onError(host.failure);
    said = host.failure;
  };
  all.add(interval(LOOK_MS, scheduler).subscribe(guarded(look)));
  all.add(interval(PURGE_MS, scheduler).subscribe(guarded(() => credentials.purgeExpired(clock.now()))));
  return all;
}

function take(
  happening: Happening,
  { counts, active, streams, checkpoints, retention, host, usage, network }: Parts,
): void {
  switch (happening.kind) {
    case 'row': {
      const { row } = happening;
      if (row.kind === 'transition') counts.transitions += 1;
      if (row.kind === 'transition_failed') counts.refusedTransitions += 1;
      usage.add(host.machines.get(row.machine)?.image.owner ?? NODE, 1, bytesOfRow(row));
      active.take(row);
      // On a network the one who links signs.
      if (network === undefined) {
        checkpoints.take(row);
        retention.take(row);
      }
      streams.take(row);
      break;
    }
    case 'emitted':
      // Streams make these from the row.
      break;
    case 'contract_failed':
      counts.failedContracts += 1;
      break;
  }
}

function begin(tick: CycleTick, parts: Parts, onError: (error: unknown) => void): void {
  const { host, durability, counts, streams } = parts;
  counts.missedCycles += tick.missed;
  streams.tick(tick);
  if (parts.network !== undefined) {
    parts.network.tick();
    parts.upkeep?.tick().catch((error) => !(error instanceof Failure) && onError(error));
    streams.sendLooked(tick.cycle - 1).catch((error) => !(error instanceof Failure) && onError(error));
    return;
  }
  if (host.failure !== undefined) return;
  forgetKeys(parts, tick.cycle, onError);
  parts.checkpoints.sign(tick.cycle);
  parts.retention.cut(tick.cycle);
  parts.idempotency.purge(tick.cycle);
  durability.saveCounts();
}

/** Every so many cycles it is looked whether a contract has keys to forget: at others each cycle. */
const LOOK_CYCLES = 64;

/** Keys that are looked at in one step: each that is forgotten is removed from the database. */
const KEYS_AT_ONCE = 16;

/** Forgets keys that have been idle for long enough. A contract that new keys come to does so itself, too. */
function forgetKeys({ host, work }: Parts, cycle: number, onError: (error: unknown) => void): void {
  let index = cycle;
  for (const contract of host.keyed) {
    index += 1;
    if (index % LOOK_CYCLES !== 0 || contract.keys.table.size === 0 || contract.failure !== undefined) continue;
    const done = work.of(host.machine(contract.image.machine), function* (now) {
      while (contract.forgetIdle(now, KEYS_AT_ONCE) === KEYS_AT_ONCE) yield KEYS_AT_ONCE;
    });
    if (done instanceof Promise) done.catch(onError);
  }
}
