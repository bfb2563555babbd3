import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/core/schema/failure.js';
import { openSqliteStore, type SqliteStore } from '../../../src/node/store/sqlite.js';
import { checkIntact } from '../../../src/node/store/sqlite-damage.js';
import { sqlite } from '../../../src/node/store/sqlite-library.js';
import { codeOf, failureOf } from '../../failures.js';
import { temporaryFolder } from '../../left-behind.js';
import { openStore as opened } from './opened.js';
import { startProcess } from './process.js';
import { appendAll, entryOf, machineImage } from './sample-rows.js';

const openStore = (dir: string) => opened({ dir });

it('the data folder is made with all that leads to it, and nobody else can look into it', () => {
  const umask = process.umask(0);
  try {
    const dir = join(temporaryFolder(), 'a', 'b');
    const store = openStore(dir);
    store.putMachine(machineImage());
    store.commit(() => {});
    const modes = ['../../', './', ...fs.readdirSync(dir).sort()].map((name) => [name, modeOf(join(dir, name))]);
    expect(modes).toEqual([
      ['../../', '700'],
      ['./', '700'],
      ['weir.db', '600'],
      ['weir.db-wal', '600'],
      ['weir.heads', '600'],
      ['weir.pid', '600'],
    ]);
  } finally {
    process.umask(umask);
  }
});

it('the data folder holds the database and its mark after a clean end', () => {
  const dir = filledFolder();
  expect(fs.readdirSync(dir)).toEqual(['weir.db', 'weir.heads']);
});

it.each([
  ['is a file', 'file', 'EEXIST|ENOTDIR'],
  ['lies in a file', 'file/below', 'ENOTDIR'],
  ['lies in a folder that takes none', '/proc/weir', 'ENOENT|EROFS|EACCES'],
  ['leads nowhere', 'link', 'EEXIST'],
  ['has a folder in place of the database', 'folder', 'SQLITE_CANTOPEN|EISDIR'],
])('the data folder is refused when it %s', (_, name, why) => {
  const parent = temporaryFolder();
  fs.writeFileSync(join(parent, 'file'), '');
  fs.symlinkSync(join(parent, 'nowhere'), join(parent, 'link'));
  fs.mkdirSync(join(parent, 'folder', 'weir.db'), { recursive: true });
  const failure = failureOf(() => openStore(resolve(parent, name)));
  expect(failure).toMatchObject({ code: 'unwritable_folder', why: expect.stringMatching(why) });
});

it('a second process is refused, and told whom to stop, until the first has ended', async () => {
  const dir = temporaryFolder();
  const first = startProcess('hold', dir);
  await first.printed(1);
  const failure = failureOf(() => openStore(dir));
  expect(failure).toMatchObject({
    code: 'store_locked',
    what: `The folder ${dir} was not opened.`,
    why: `Process ${first.pid} on ${hostname()} has it open.`,
  });
  await first.kill();
  expect(failureOf(() => openStore(dir))).toBeUndefined();
});

it('two processes that begin with an empty folder at once do not both get it: one wins', async () => {
  const dir = temporaryFolder();
  const processes = [startProcess('hold', dir), startProcess('hold', dir)];
  await Promise.all(processes.map((one) => one.printed(1)));
  expect(processes.flatMap(({ lines }) => lines).sort()).toEqual(['open', 'store_locked']);
});

it('the same process is refused a folder that it has open, too', () => {
  const dir = temporaryFolder();
  openStore(dir);
  expect(failureOf(() => openStore(dir))?.why).toContain(`Process ${process.pid} on`);
});

it.each([
  ['nobody has left word', undefined],
  ['who left word is gone', `${2 ** 31 - 1} on ${hostname()}\n`],
  ['what was left makes no sense', 'a\nb'],
])('a process is refused, and told of no other, when %s', (_, word) => {
  const dir = filledFolder();
  const other = new (sqlite())(join(dir, 'weir.db'));
  other.exec('BEGIN IMMEDIATE');
  if (word !== undefined) fs.writeFileSync(join(dir, 'weir.pid'), word);
  const failure = failureOf(() => openStore(dir));
  other.close();
  expect(failure).toMatchObject({ code: 'store_locked', why: 'Another process has it open.' });
});

describe.skipIf(process.platform === 'win32')('files that are taken away while a process has them open', () => {
  const written = (store: SqliteStore) => {
    let settled: Failure | undefined | 'not yet' = 'not yet';
    store.putMachine(machineImage(`m${store.commits}`));
    store.commit((failure) => (settled = failure));
    return settled;
  };

  it.each<[string, (dir: string) => void]>([
    ['the folder is deleted', (dir) => fs.rmSync(dir, { recursive: true })],
    ['the folder is moved', (dir) => fs.renameSync(dir, `${dir}-moved`)],
    ['weir.db is deleted', (dir) => fs.rmSync(join(dir, 'weir.db'))],
    ['weir.db is moved', (dir) => fs.renameSync(join(dir, 'weir.db'), join(dir, 'old.db'))],
    ['the log is deleted', (dir) => fs.rmSync(join(dir, 'weir.db-wal'))],
    ['the mark is deleted', (dir) => fs.rmSync(join(dir, 'weir.heads'))],
    ['all files are deleted', emptied],
    ['another database takes its place', (dir) => fs.renameSync(copied(dir), join(dir, 'weir.db'))],
  ])('nothing is acknowledged any more once %s', (_, take) => {
    const dir = join(temporaryFolder(), 'data');
    const store = openStore(dir);
    expect(written(store)).toBeUndefined();
    take(dir);
    const failure = { code: 'store_failed', what: 'The data folder was changed while the node runs.' };
    expect(written(store)).toMatchObject(failure);
    expect(failureOf(() => store.putMachine(machineImage('x')))).toMatchObject(failure);
  });

  it.each<[string, (dir: string) => void]>([
    ['the folder', (dir) => fs.rmSync(dir, { recursive: true })],
    ['all files', emptied],
    ['the database and its log', (dir) => emptied(dir, ['weir.db', 'weir.db-wal'])],
  ])('the next process does not begin empty without %s, unless that is accepted', (_, take) => {
    const dir = join(temporaryFolder(), 'data');
    const store = openStore(dir);
    store.putMachine(machineImage());
    appendAll(store, [entryOf('m', 1)]);
    store.commit(() => {});
    take(dir);
    // A commit of nothing, as an idle node makes it, notices it as well.
    let said: Failure | undefined;
    store.commit((failure) => (said = failure));
    expect(said?.code).toBe('store_failed');
    store.close();
    const refused = {
      code: 'rows_missing',
      what: `The database weir.db in ${dir} is missing.`,
      why: 'Missing: the machine m with its row.',
      fix: expect.stringContaining('--allow lost-rows'),
    };
    for (const _ of [1, 2]) expect(failureOf(() => openStore(dir))).toMatchObject(refused);
    const accepted = openSqliteStore({ dir, acceptLoss: true });
    expect(accepted.lost).toEqual([{ machine: 'm', fromSeq: 1, toSeq: 1 }]);
    accepted.close();
    openStore(dir);
  });

  it('a folder with the key of a node and no database is not a new one', () => {
    const dir = temporaryFolder();
    fs.writeFileSync(join(dir, 'node.json'), '{}');
    expect(failureOf(() => openStore(dir))?.code).toBe('rows_missing');
    // That of a node over Redis never had a database.
    fs.writeFileSync(join(dir, 'network.heads'), '');
    openStore(dir);
  });
});

const wal = 'weir.db-wal';
// biome-ignore format: one case a line
it.each<[string, (path: string) => void]>([
  ['is empty', (path) => fs.truncateSync(path)],
  ['is text', (path) => fs.writeFileSync(path, 'Where did my database go?\n'.repeat(1000))],
  ['is noise', (path) => fs.writeFileSync(path, noise(40_960))],
  ['is zeros', (path) => fs.writeFileSync(path, Buffer.alloc(40_960))],
  ['is one byte', (path) => fs.writeFileSync(path, 'S')],
  ['is cut off within its first page', (path) => fs.truncateSync(path, 1000)],
  ['is cut off after its first page', (path) => fs.truncateSync(path, 4096)],
  ['has lost its last page', (path) => fs.truncateSync(path, fs.statSync(path).size - 4096)],
  ['has noise in its head', (path) => overwrite(path, 0, noise(100))],
  ['has noise on its second page', (path) => overwrite(path, 4096, noise(4096))],
  ['has noise on a page in its midst', (path) => overwrite(path, 4096 * 12, noise(4096))],
  ['has zeros on its last page', (path) => overwrite(path, fs.statSync(path).size - 4096, Buffer.alloc(4096))],
  ['is gone, but its log is there', (path) => fs.renameSync(path, join(path, '..', wal))],
  ['has a log that is none', (path) => fs.writeFileSync(join(path, '..', wal), noise(100_000))],
  ['is that of another program', (path) => fs.renameSync(foreign(join(path, '..')), path)],
  ['has a state with a flipped bit', (path) => edit(path, "UPDATE states SET bytes = CAST(x'02' || substr(bytes, 2) AS BLOB)")],
  ['has a contract in another state', (path) => edit(path, "UPDATE states SET bytes = CAST(substr(bytes, 1, 2) || 'l' || substr(bytes, 4) AS BLOB)")],
  ['has a contract that is not JSON', (path) => edit(path, "UPDATE contracts SET image = '{'")],
  ['has a definition that is none', (path) => edit(path, "UPDATE definitions SET text = '{'")],
  ['has a last row that is none', (path) => edit(path, 'UPDATE rows SET text = substr(text, 2)')],
])('a database that %s is refused, with what to do', (_, damage) => {
  const dir = filledFolder();
  damage(join(dir, 'weir.db'));
  const failure = failureOf(() =>
    [...openStore(dir).machines()].map(({ contracts }) => contracts.map(({ state }) => state)),
  );
  expect(failure).toMatchObject({
    code: 'store_damaged',
    what: `The database weir.db in ${dir} is damaged.`,
    why: expect.stringMatching(/\.$/),
    fix: expect.stringContaining('backup'),
  });
});

it.each([
  ['is found where the counts lie', 'states', 'store_damaged'],
  ['is left to the verification of its record where the rows lie', 'rows', 'done'],
])('damage to a large database %s', (_, table, code) => {
  const dir = filledFolder();
  const path = join(dir, 'weir.db');
  const before = new (sqlite())(path);
  const page = before.prepare('SELECT max(pageno) FROM dbstat WHERE name = ?').pluck().get(table) as number;
  before.close();
  overwrite(path, 4096 * (page - 1), noise(4096));
  const database = new (sqlite())(path);
  expect(codeOf(() => checkIntact(database, dir, path))).toBe('store_damaged');
  expect(codeOf(() => checkIntact(database, dir, path, 0))).toBe(code);
  database.close();
});

it('a damaged database is left as it was found', () => {
  const dir = filledFolder();
  const path = join(dir, 'weir.db');
  overwrite(path, 4096 * 12, noise(4096));
  const before = fs.readFileSync(path);
  failureOf(() => openStore(dir));
  expect([fs.readdirSync(dir), fs.readFileSync(path).equals(before)]).toEqual([['weir.db', 'weir.heads'], true]);
});

it.each([0, 2, 8])('tables of version %i are refused, in words', (version) => {
  const dir = filledFolder();
  edit(join(dir, 'weir.db'), `PRAGMA user_version = ${version}`);
  expect(failureOf(() => openStore(dir))).toMatchObject({
    code: 'store_other_version',
    why: `It has version ${version}, and this program reads version 1.`,
  });
});

/** Some twenty pages: a machine, a contract, and rows. */
function filledFolder(): string {
  const dir = temporaryFolder();
  const store = openStore(dir);
  store.putMachine(machineImage());
  store.putContract(
    { id: 'c', machine: 'm', definition: {} as never, templateId: undefined, createdCycle: 1, firstFireCycle: 2 },
    { id: 'c', state: 'allowing', heldUntilCycle: 0, windows: [{ cycle: 3, counts: [0, 1] }] },
  );
  const master_equation_block = 'x'.repeat(900);
  appendAll(
    store,
    Array.from({ length: 60 }, (_, index) => entryOf('m', index + 1, { master_equation_block })),
  );
  store.close();
  return dir;
}

/** A copy of the database beside it. */
function copied(dir: string): string {
  fs.copyFileSync(join(dir, 'weir.db'), join(dir, 'copy'));
  return join(dir, 'copy');
}

function emptied(dir: string, names = fs.readdirSync(dir)): void {
  for (const name of names) fs.rmSync(join(dir, name));
}

function modeOf(path: string): string {
  return (fs.statSync(path).mode & 0o777).toString(8);
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = fs.openSync(path, 'r+');
  fs.writeSync(file, bytes, 0, bytes.length, at);
  fs.closeSync(file);
}

/** The same bytes each time, none of them zero. */
function noise(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => 1 + ((index * 7919 + (index >> 3) * 104_729) % 255)));
}

/** Changes what SQLite itself finds nothing wrong with. */
function edit(path: string, sql: string): void {
  const database = new (sqlite())(path);
  database.exec(sql);
  database.pragma('journal_mode = DELETE');
  database.close();
}

function foreign(dir: string): string {
  const path = join(dir, 'foreign.db');
  const database = new (sqlite())(path);
  database.exec('CREATE TABLE notes (text)');
  database.close();
  return path;
}
