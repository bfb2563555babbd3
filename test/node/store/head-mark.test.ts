// A database that ends before what was acknowledged: its log is gone, cut off or damaged, or an older copy lies in its place.
import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EMPTY } from '../../../src/core/record/chain.js';
import { HeadMark } from '../../../src/node/store/head-mark.js';
import { openSqliteStore } from '../../../src/node/store/sqlite.js';
import { failureOf } from '../../failures.js';
import { temporaryFolder } from '../../left-behind.js';
import { startProcess } from './process.js';
import { appendAll, entryOf, machineImage } from './sample-rows.js';

const killed = { write: killedStore('write'), count: killedStore('count') };

/** The folder of a store that was killed while it was idle: its log ends with what was acknowledged. */
async function killedStore(task: 'write' | 'count') {
  const dir = temporaryFolder();
  const writer = startProcess(task, dir, 20);
  await writer.printed(21);
  await writer.kill();
  return { dir, settled: Math.max(...writer.lines.slice(1).map(Number)) };
}

/** A copy of it, whose log is damaged. */
async function damagedStore(task: 'write' | 'count', damage: (wal: string) => void) {
  const { dir: whole, settled } = await killed[task];
  const dir = temporaryFolder();
  fs.cpSync(whole, dir, { recursive: true });
  damage(join(dir, 'weir.db-wal'));
  return { dir, settled, refused: failureOf(() => openSqliteStore({ dir }).close()) };
}

const damages: readonly [string, (wal: string) => void][] = [
  ['is gone', (wal) => fs.rmSync(wal)],
  ['is empty', (wal) => fs.truncateSync(wal)],
  ['is cut off within its last commit', (wal) => fs.truncateSync(wal, fs.statSync(wal).size - 100)],
];

it.each([
  ...damages,
  ['is cut off in its midst', (wal: string) => fs.truncateSync(wal, fs.statSync(wal).size >> 1)],
  ['has a flipped bit in its midst', (wal: string) => flip(wal, fs.statSync(wal).size >> 1)],
] as const)('a killed store whose log %s is refused, with the rows that are missing', async (_, damage) => {
  const { dir, settled, refused } = await damagedStore('write', damage);
  const accepted = openSqliteStore({ dir, acceptLoss: true });
  const [found] = [...accepted.machines()];
  const [lost] = accepted.lost;
  accepted.close();
  expect(refused).toMatchObject({
    code: 'rows_missing',
    what: `The database in ${dir} lacks rows that were acknowledged.`,
    why: expect.stringMatching(/^Missing: (the machine m with its \d+ rows|rows \d+ to \d+ of m)\.$/),
    fix: expect.stringContaining('--allow lost-rows'),
  });
  expect(lost?.toSeq).toBe(settled);
  expect(lost?.fromSeq).toBe((found?.head.seq ?? 0) + 1);
  // Accepted once, it is as any other store.
  openSqliteStore({ dir }).close();
});

it.each(damages)(
  'a killed store whose log %s and had counts alone is refused: no row is missing',
  async (_, damage) => {
    const { dir, refused } = await damagedStore('count', damage);
    expect(refused).toMatchObject({
      code: 'rows_missing',
      what: `The database in ${dir} lacks counts that were acknowledged.`,
      why: expect.stringMatching(
        /^Missing: the last (commit|\d+ commits), with the counts of windows .* No row is missing\.$/,
      ),
      fix: expect.stringContaining('--allow lost-rows'),
    });
    openSqliteStore({ dir, acceptLoss: true }).close();
    openSqliteStore({ dir }).close();
  },
);

it('a folder with an older copy of the database is refused; which machines lack what is said', () => {
  const dir = temporaryFolder();
  write(dir, { a: 3, b: 2 });
  fs.copyFileSync(join(dir, 'weir.db'), join(dir, 'copy'));
  write(dir, { a: 5, b: 3, c: 1 });
  fs.copyFileSync(join(dir, 'copy'), join(dir, 'weir.db'));
  expect(failureOf(() => openSqliteStore({ dir }).close())?.why).toBe(
    'Missing: rows 4 to 5 of a; row 3 of b; the machine c with its row.',
  );
});

it('a folder without a mark gets one', () => {
  const dir = temporaryFolder();
  write(dir, { a: 3 });
  fs.rmSync(join(dir, 'weir.heads'));
  openSqliteStore({ dir }).close();
  const mark = new HeadMark(dir);
  expect(mark.missing(() => 0)).toEqual([{ machine: 'a', fromSeq: 1, toSeq: 3 }]);
  mark.close();
});

it('a mark has after any writes the newest row of each machine, when it is opened again', () => {
  const write = fc.record({ machine: fc.constantFrom('a', 'b', 'x'.repeat(64)), commits: fc.boolean() });
  fc.assert(
    fc.property(fc.array(write), (writes) => {
      const dir = temporaryFolder();
      const seqs = new Map<string, number>();
      let mark = new HeadMark(dir);
      for (const [index, { machine, commits }] of writes.entries()) {
        mark.note(machine, index + 1);
        if (commits) {
          mark.write();
          seqs.set(machine, index + 1);
        } else mark.dropPending();
      }
      mark.close();
      mark = new HeadMark(dir);
      const expected = [...seqs].map(([machine, toSeq]) => ({ machine, fromSeq: 1, toSeq }));
      expect(new Set(mark.missing(() => 0))).toEqual(new Set(expected));
      mark.close();
    }),
  );
});

it('a mark takes a slot in which a bit has flipped for none, and reads the others', () => {
  const dir = temporaryFolder();
  write(dir, { a: 3, b: 2 });
  flip(join(dir, 'weir.heads'), 3);
  const mark = new HeadMark(dir);
  expect(mark.missing(() => 0)).toEqual([{ machine: 'b', fromSeq: 1, toSeq: 2 }]);
  mark.close();
  openSqliteStore({ dir }).close();
  const mended = new HeadMark(dir);
  const ends = mended.missing(() => 0).map(({ machine, toSeq }) => `${machine} ${toSeq}`);
  expect(ends.sort()).toEqual(['a 3', 'b 2']);
  mended.close();
});

/** Lets each machine have so many rows. */
function write(dir: string, rows: Readonly<Record<string, number>>): void {
  const store = openSqliteStore({ dir });
  const heads = new Map([...store.machines()].map(({ machine, head }) => [machine.slug, head]));
  for (const [slug, count] of Object.entries(rows)) {
    if (!heads.has(slug)) store.putMachine(machineImage(slug));
    const head = heads.get(slug) ?? EMPTY;
    appendAll(store, Array(count - head.seq).fill(entryOf(slug, 1)), head);
  }
  store.commit(() => {});
  store.close();
}

function flip(path: string, at: number): void {
  const bytes = fs.readFileSync(path);
  bytes[at]! ^= 4;
  fs.writeFileSync(path, bytes);
}
