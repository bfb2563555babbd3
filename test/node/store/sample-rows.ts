// Machines and rows to store, of no more meaning than that.
import { EMPTY, type Head, link } from '../../../src/core/record/chain.js';
import type { AuditEntry, AuditRow } from '../../../src/core/record/row.js';
import type { MachineImage, Store } from '../../../src/node/store/store.js';

export const machineImage = (slug = 'm'): MachineImage => ({
  ...{ slug, owner: 'owner-1', isPublic: false, displayName: `Machine ${slug}`, createdCycle: 2_345_678_000 },
});

export const entryOf = (machine: string, cycle: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ machine, cycle, at: '2026-11-20T23:24:00.000Z', kind: 'transition', cause: 'trigger', emitted: [] },
  ...more,
});

/** Links rows behind a head, and appends them. */
export function appendAll(
  store: Pick<Store, 'append'>,
  entries: readonly AuditEntry[],
  head: Head = EMPTY,
): AuditRow[] {
  let last = head;
  return entries.map((entry) => {
    const row = link(last, entry);
    store.append(row);
    last = row;
    return row;
  });
}
