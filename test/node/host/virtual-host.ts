// Owns a host in virtual time for a test.
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Host } from '../../../src/node/host/host.js';
import type { HostEvent } from '../../../src/node/host/ledger.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import type { Store } from '../../../src/node/store/store.js';

export const CYCLE_MS = 777;

/** With the machine `m`, unless the store has it already. `seen`: what the host says from then on. */
export function virtualHost<S extends Store = MemoryStore>(
  startCycle = 0,
  store = new MemoryStore() as Store as S,
  cycleMs = CYCLE_MS,
) {
  const clock = new VirtualClock(startCycle * cycleMs, cycleMs);
  const host = new Host({ clock, store });
  const seen: HostEvent[] = [];
  host.hostEvents.subscribe((hostEvent) => seen.push(hostEvent));
  const machine = host.machines.get('m') ?? host.createMachine({ slug: 'm' });
  /** Lets time pass up to a cycle, with all that is due. */
  const runTo = (cycle: number) => clock.run({ untilMs: cycle * cycleMs });
  return { clock, host, store, seen, machine, runTo };
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
