import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { EMPTY, link } from '../../../src/core/record/chain.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import type { Failure } from '../../../src/core/schema/failure.js';
import type { SqliteStore } from '../../../src/node/store/sqlite.js';
import { codeOf } from '../../failures.js';
import { canMount, fillUp, mount } from '../../small-disk.js';
import { openStore } from './opened.js';
import { entryOf, machineImage } from './sample-rows.js';

describe.skipIf(!canMount)(`a disk of one megabyte${canMount ? '' : ' (SKIPPED: only root may mount one)'}`, () => {
  let disk: string;

  beforeEach(() => {
    disk = mount(1);
  });

  const open = () => openStore({ dir: join(disk, 'data') });

  it('a full disk stops the store; with room again it goes on from what was settled', () => {
    fs.writeFileSync(join(disk, 'ballast'), Buffer.alloc(200_000));
    const full = open();
    const { settled, failure } = writeUntilFull(full);
    const calls = [
      () => full.append(rowAfter(settled)),
      () => full.putMachine(machineImage()),
      () => [...full.machines()],
    ];
    expect([failure?.code, ...calls.map(codeOf)]).toEqual(['disk_full', 'disk_full', 'disk_full', 'done']);
    expect(full.rows('m', { limit: 1e6 })).toEqual(settled);
    expect(failure?.why).toContain('SQLITE_FULL');
    full.close();

    fs.rmSync(join(disk, 'ballast'));
    const again = open();
    expect(again.rows('m', { limit: 1e6 })).toEqual(settled);
    const told: (Failure | undefined)[] = [];
    again.append(rowAfter(settled));
    again.commit((refused) => told.push(refused));
    expect(told).toEqual([undefined]);
  });

  it('a disk that has room again is written to by the same store, from what was settled, and not before', () => {
    fs.writeFileSync(join(disk, 'ballast'), Buffer.alloc(600_000));
    const full = open();
    const { settled } = writeUntilFull(full);
    const before = full.recover();
    fs.rmSync(join(disk, 'ballast'));
    expect([before, full.recover(), full.rows('m', { limit: 1e6 })]).toEqual([false, true, settled]);
    const told: (Failure | undefined)[] = [];
    full.append(rowAfter(settled));
    full.commit((refused) => told.push(refused));
    expect([told, full.rows('m', { limit: 1e6 }).length]).toEqual([[undefined], settled.length + 1]);
  });

  it('a full disk can still be read by a store that is opened on it', () => {
    const full = open();
    const { settled } = writeUntilFull(full);
    full.close();
    fillUp(join(disk, 'ballast'));
    expect(open().rows('m', { limit: 1e6 })).toEqual(settled);
  });

  it('a disk that is full from the start is refused', () => {
    fillUp(join(disk, 'ballast'));
    expect(codeOf(open)).toBe('disk_full');
    expect(fs.readdirSync(join(disk, 'data'))).toEqual([]);
  });

  it('a disk that can only be read is refused', () => {
    open().close();
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    expect(codeOf(open)).toBe('unwritable_folder');
  });
});

function rowAfter(rows: readonly AuditRow[]): AuditRow {
  return link(rows.at(-1) ?? EMPTY, entryOf('m', 1, { master_equation_block: 'x'.repeat(2000) }));
}

/** Commits row after row until one fails; more than any disk of this size holds would be a disk that never fills. */
function writeUntilFull(store: SqliteStore): { settled: AuditRow[]; failure: Failure | undefined } {
  const settled: AuditRow[] = [];
  let failure: Failure | undefined;
  store.putMachine(machineImage());
  for (let n = 0; n < 2000 && failure === undefined; n += 1) {
    const row = rowAfter(settled);
    store.append(row);
    store.commit((refused) => {
      if (refused === undefined) settled.push(row);
      else failure = refused;
    });
  }
  return { settled, failure };
}
