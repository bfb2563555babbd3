// The data folder: creates it, locks it, and opens its database if that is complete and safe to write to.
//
//   weir.db       the database. It is moved into the folder complete, so an empty file is a sign of damage.
//   weir.db-wal   commits not yet in weir.db. A clean shutdown removes it.
//   weir.heads    the last row of each machine: see head-mark.ts. A folder with it, or with the key of the node, but without
//                 weir.db is not new: it is refused.
//   weir.pid      the process that has the folder open, for information. SQLite holds the lock, on weir.db, while it is open; the
//                 operating system releases it however the process ends.
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type Library from 'better-sqlite3';
import { makeFolder } from '../../core/files/make-folder.js';
import { Failure } from '../../core/schema/failure.js';
import { COMMITS, HeadMark, type MissingRows } from './head-mark.js';
import { checkIntact, checkPresent } from './sqlite-damage.js';
import { countsMissing, databaseMissing, isLocked, openingFailure, rowsMissing, unwritable } from './sqlite-failure.js';
import { sqlite } from './sqlite-library.js';
import { checkVersion, createTables } from './sqlite-schema.js';

/** A commit that fills a log of this many pages (16 MB) moves it into the database, which takes tens of ms. */
const LOG_PAGES = 4_000;

/** A log that one large commit made longer is truncated to this. */
const LOG_LIMIT_BYTES = 64 * 2 ** 20;

const ROOM_BYTES = 256 * 2 ** 10;

const PID = 'weir.pid';

export class SqliteFile {
  readonly #seen = new Map<string, string>();

  /** @param lost acknowledged rows that are missing, if the loss was accepted */
  constructor(
    readonly dir: string,
    readonly database: Library.Database,
    readonly mark: HeadMark,
    readonly lost: readonly MissingRows[],
  ) {}

  /** The file that was deleted or replaced, if any: writes to it are lost when the process ends. Windows does not delete open files. */
  displaced(): string | undefined {
    if (process.platform === 'win32') return undefined;
    return ['weir.db', 'weir.db-wal', 'weir.heads']
      .map((name) => join(this.dir, name))
      .find((path) => {
        const stat = fs.statSync(path, { throwIfNoEntry: false });
        const found = stat && `${stat.dev} ${stat.ino}`;
        const first = this.#seen.get(path);
        if (first === undefined && found !== undefined) this.#seen.set(path, found);
        return first !== undefined && found !== first;
      });
  }

  /** Keeps the mark where the database was, so that the next process does not treat the folder as new. */
  leaveMark(): void {
    const { dir, mark } = this;
    try {
      for (const made of makeFolder(dir, 0o700)) sync(dirname(made));
      // A replacement database, such as a backup, has its own mark.
      if (fs.existsSync(join(dir, 'weir.db'))) return;
      fs.writeFileSync(join(dir, 'weir.heads'), mark.bytes(), { mode: 0o600, flag: 'wx', flush: true });
    } catch {
      // It still exists, or the folder is not writable: the failure of the node is reported anyway.
    }
  }

  /** By writing: free space may not be free for this user. */
  hasRoom(): boolean {
    const path = join(this.dir, 'weir.room');
    try {
      fs.writeFileSync(path, Buffer.alloc(ROOM_BYTES), { mode: 0o600, flush: true });
      return true;
    } catch {
      return false;
    } finally {
      fs.rmSync(path, { force: true });
    }
  }

  close(): void {
    // Before the lock is released: afterwards the file may belong to the next process.
    try {
      fs.rmSync(join(this.dir, PID), { force: true });
      this.mark.close();
    } finally {
      this.database.close();
    }
  }
}

/** @throws Failure `unwritable_folder`, `store_locked`, `store_damaged`, `store_other_version`, `rows_missing` */
export function openSqliteFile(folder: string, lockWaitMs: number, acceptLoss = false): SqliteFile {
  const dir = resolve(folder);
  const path = join(dir, 'weir.db');
  const pidPath = join(dir, PID);
  try {
    for (const made of makeFolder(dir, 0o700)) sync(dirname(made));
    fs.accessSync(`${dir}/`, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    checkPresent(dir, path);
    if (!fs.existsSync(path)) {
      if (!acceptLoss) checkNew(dir);
      create(dir, path);
    }
    const database = new (sqlite())(path, { fileMustExist: true, timeout: lockWaitMs });
    let mark: HeadMark | undefined;
    let lost: readonly MissingRows[];
    try {
      prepare(database, dir);
      checkIntact(database, dir, path);
      checkVersion(database, path);
      mark = new HeadMark(dir);
      lost = checkHeads(database, dir, mark, acceptLoss);
    } catch (error) {
      mark?.close();
      database.close();
      throw error;
    }
    leavePid(pidPath);
    return new SqliteFile(dir, database, mark, lost);
  } catch (error) {
    throw isLocked(error) ? locked(dir, pidPath, error) : openingFailure(error, dir);
  }
}

/** A folder is not new if it has files that are created after the database. @throws Failure `rows_missing` */
function checkNew(dir: string): void {
  const isThere = (name: string) => fs.existsSync(join(dir, name));
  const hasMark = isThere('weir.heads');
  // The folder of a node over Redis has a key and no database.
  if (!hasMark && (!isThere('node.json') || isThere('network.heads'))) return;
  // Another process may have just created them.
  if (isThere('weir.db')) return;
  const mark = hasMark ? new HeadMark(dir) : undefined;
  const missing = mark?.missing(() => 0) ?? [];
  mark?.close();
  throw databaseMissing(dir, missing);
}

/** Creates the database under another name and moves it: a crash leaves no partial file. */
function create(dir: string, path: string): void {
  const workshop = fs.mkdtempSync(join(dir, 'new-'));
  try {
    const made = join(workshop, 'weir.db');
    fs.closeSync(fs.openSync(made, 'w', 0o600));
    const database = new (sqlite())(made);
    try {
      // The whole file is synced below, before another process uses it.
      database.pragma('synchronous = OFF');
      database.pragma('journal_mode = WAL');
      createTables(database);
    } finally {
      database.close();
    }
    sync(made);
    moveUnlessThere(made, path);
  } finally {
    fs.rmSync(workshop, { recursive: true, force: true });
  }
  sync(dir);
}

/** A link, unlike a rename, never replaces a database that another process has just created. */
function moveUnlessThere(made: string, path: string): void {
  try {
    fs.linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    // Some file systems do not support links.
    fs.renameSync(made, path);
  }
}

/** A file survives a power failure once it and its folder are synced. Windows cannot sync folders and need not. */
function sync(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Then the mark is as the database. @param acceptLoss whether rows may be missing @throws Failure `rows_missing` */
function checkHeads(database: Library.Database, dir: string, mark: HeadMark, acceptLoss: boolean): MissingRows[] {
  const heads = new Map(
    database
      .prepare<[string], [string, number]>(
        `SELECT slug, coalesce((SELECT max(seq) FROM rows WHERE machine = machines.id), 0) FROM machines
         UNION ALL SELECT ?, number FROM commits`,
      )
      .raw()
      .all(COMMITS),
  );
  const missing = mark.missing((machine) => heads.get(machine) ?? 0);
  if (missing.length > 0 && !acceptLoss) throw rowsMissing(dir, missing, heads);
  const lostCommits = mark.of(COMMITS) - (heads.get(COMMITS) ?? 0);
  if (lostCommits > 0 && !acceptLoss) throw countsMissing(dir, lostCommits);
  mark.follow(heads);
  return missing;
}

/** Takes the lock with the first access. Durable means after an fsync. */
function prepare(database: Library.Database, dir: string): void {
  // Exclusive before the log is first used: SQLite then keeps the log index in memory and needs no lock per transaction, and no other
  // program can write to the file or hold the log.
  demand(database, dir, 'locking_mode', 'exclusive');
  demand(database, dir, 'journal_mode', 'wal');
  // better-sqlite3 defaults to NORMAL with a log: a commit would be in the system's cache, not on disk.
  demand(database, dir, 'synchronous', 2);
  demand(database, dir, 'foreign_keys', 1);
  demand(database, dir, 'wal_autocheckpoint', LOG_PAGES);
  demand(database, dir, 'journal_size_limit', LOG_LIMIT_BYTES);
  // On macOS an fsync leaves data in the cache of the drive unless these are set; elsewhere they do nothing.
  demand(database, dir, 'fullfsync', 1);
  demand(database, dir, 'checkpoint_fullfsync', 1);
  // Sort in memory, so that no part of the record is left in a temporary file.
  demand(database, dir, 'temp_store', 2);
}

function demand(database: Library.Database, dir: string, name: string, value: string | number): void {
  database.pragma(`${name} = ${value}`);
  const found = database.pragma(name, { simple: true });
  if (found !== value) throw unwritable(dir, `SQLite cannot set ${name} to ${value} there: it stays ${String(found)}.`);
}

/** For example `4711 on alpha`. Errors are ignored: a full disk can still be read. */
function leavePid(pidPath: string): void {
  try {
    fs.rmSync(pidPath, { force: true });
    fs.writeFileSync(pidPath, `${process.pid} on ${hostname()}\n`, { mode: 0o600 });
  } catch {
    fs.rmSync(pidPath, { force: true });
  }
}

function locked(dir: string, pidPath: string, cause: unknown): Failure {
  const holder = holderOf(pidPath);
  return new Failure('store_locked', {
    what: `The folder ${dir} was not opened.`,
    why: `${holder === undefined ? 'Another process' : `Process ${holder}`} has it open.`,
    fix: 'Stop that process first, or choose another folder.',
    cause,
  });
}

/** The process of the pid file; undefined if it is gone: then another process holds the lock. */
function holderOf(pidPath: string): string | undefined {
  if (!fs.existsSync(pidPath)) return undefined;
  const [, holder, pid, host] = /^((\d{1,10}) on (\S{1,255}))\n$/.exec(fs.readFileSync(pidPath, 'utf8')) ?? [];
  if (host !== hostname()) return holder;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  return holder;
}
