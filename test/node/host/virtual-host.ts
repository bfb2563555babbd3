// Owns a host in virtual time for a test.
import type { AuditRow } from '../../../src/core/record/row.js';
import type { Failure } from '../../../src/core/schema/failure.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Host } from '../../../src/node/host/host.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import type { Store } from '../../../src/node/store/store.js';

export const CYCLE_MS = 777;

/** With the machine `m`, unless the store has it already. `seen`: the rows that it publishes from then on. */
export function virtualHost<S extends Store = MemoryStore>(
  startCycle = 0,
  store = new MemoryStore() as Store as S,
  cycleMs = CYCLE_MS,
) {
  const clock = new VirtualClock(startCycle * cycleMs, cycleMs);
  const failed: Failure[] = [];
  const host = new Host({ clock, store, onFailed: (failure) => failed.push(failure) });
  const seen: AuditRow[] = [];
  host.durableRows.subscribe((row) => seen.push(row));
  const machine = host.machines.get('m') ?? host.createMachine({ slug: 'm' });
  /** Lets time pass up to a cycle, with all that is due. */
  const runTo = (cycle: number) => clock.run({ untilMs: cycle * cycleMs });
  return { clock, host, store, seen, failed, machine, runTo };
}

/** A node that begins anew from its store; one that was killed has not saved what it counted last. */
export function restarted(
  host: Host,
  parts: { readonly clock: VirtualClock; readonly store: Store },
  isKilled = false,
): Host {
  if (!isKilled) host.saveWindows();
  for (const { context } of host.machines.values()) context.wakes.clear();
  return new Host(parts);
}
