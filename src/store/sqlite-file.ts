// Owns the data folder: making it, locking it, and opening the database in it only when that is whole and safe to write to.
// Leaves its tables to sqlite-migrations.ts, what is done on the open connection to sqlite-connection.ts.
//
//   weir.db       everything. Comes into the folder whole and at once, so that an empty file is known to be damage.
//   weir.db-wal   what was committed and is not in weir.db yet. Gone after a clean end, there after any other.
//   weir.pid      who has the folder open, for people to read. The lock is another one: SQLite holds it on weir.db from opening
//                 to closing, and the operating system lets go of it however the process ends.
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Failure } from '../schema/failure.js';
import { checkIntact, checkPresent, walBytes } from './sqlite-damage.js';
import { isLocked, openingFailure, unwritable } from './sqlite-failure.js';
import { APPLICATION_ID, migrate } from './sqlite-migrations.js';

export interface SqliteFile {
  /** Absolute path of the folder. */
  readonly dir: string;
  readonly database: Database.Database;
  walBytes(): number;
  close(): void;
}

/** A log of this many pages (16 MB) is moved into the database by the commit that fills it, which takes a few 10 ms. */
const LOG_PAGES = 4_000;

/** A log that grew beyond this, in one great commit, is cut back to it. */
const LOG_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Opens the database of a folder; makes both, for this user only, where they are missing.
 * @param lockWaitMs how long to wait, blocking, for another process to let go of the folder
 * @throws Failure `unwritable_folder`, `store_locked`, `store_damaged`, `store_too_new`
 */
export function openSqliteFile(folder: string, lockWaitMs: number): SqliteFile {
  const dir = resolve(folder);
  const path = join(dir, 'weir.db');
  const pidPath = join(dir, 'weir.pid');
  try {
    makeFolder(dir);
    fs.accessSync(`${dir}/`, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    checkPresent(dir, path);
    if (!fs.existsSync(path)) create(dir, path);
    const database = new Database(path, { fileMustExist: true, timeout: lockWaitMs });
    try {
      prepare(database, dir);
      checkIntact(database, dir, path);
      migrate(database, path);
    } catch (error) {
      database.close();
      throw error;
    }
    leavePid(pidPath);
    const close = () => {
      // Before the lock is gone: afterwards the file may be that of the next process.
      try {
        fs.rmSync(pidPath, { force: true });
      } finally {
        database.close();
      }
    };
    return { dir, database, walBytes: () => walBytes(path), close };
  } catch (error) {
    throw isLocked(error) ? locked(dir, pidPath, error) : openingFailure(error, dir);
  }
}

/** One folder after the other: `recursive` of Node's own mkdir never comes back where a parent exists and takes no folder. */
function makeFolder(dir: string): void {
  if (fs.existsSync(dir)) return;
  makeFolder(dirname(dir));
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !fs.existsSync(dir)) throw error;
  }
  sync(dirname(dir));
}

/** Makes the database beside its place and moves it there: a process that dies on the way leaves no half one behind. */
function create(dir: string, path: string): void {
  const workshop = fs.mkdtempSync(join(dir, 'new-'));
  try {
    const made = join(workshop, 'weir.db');
    fs.closeSync(fs.openSync(made, 'w', 0o600));
    const database = new Database(made);
    try {
      // Synced below, as a whole: nobody knows of it before.
      database.pragma('synchronous = OFF');
      database.pragma('journal_mode = WAL');
      database.pragma(`application_id = ${APPLICATION_ID}`);
      migrate(database, made);
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

/** Another process may be doing the same: a link, unlike a rename, never replaces what it has made. */
function moveUnlessThere(made: string, path: string): void {
  try {
    fs.linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    // Some file systems know no links.
    fs.renameSync(made, path);
  }
}

/** A file outlives a power cut once it was synced and its folder, too. Windows has no such call for folders and needs none. */
function sync(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Takes the lock with the first access, and has SQLite keep the promise of a store: durable means after an fsync. */
function prepare(database: Database.Database, dir: string): void {
  // Exclusive from before the log is first touched: SQLite then keeps the index of the log in memory and needs no lock per
  // transaction, and no other program can write to the file, or hold the log, behind our back.
  demand(database, dir, 'locking_mode', 'exclusive');
  demand(database, dir, 'journal_mode', 'wal');
  // better-sqlite3 is built to fall back to NORMAL with a log: a commit would then be in the hands of the system, not on disk.
  demand(database, dir, 'synchronous', 2);
  demand(database, dir, 'foreign_keys', 1);
  demand(database, dir, 'wal_autocheckpoint', LOG_PAGES);
  demand(database, dir, 'journal_size_limit', LOG_LIMIT_BYTES);
  // On macOS an fsync leaves data in the cache of the drive unless it is asked for in full; elsewhere these do nothing.
  demand(database, dir, 'fullfsync', 1);
  demand(database, dir, 'checkpoint_fullfsync', 1);
  // Sorting spills into memory: nothing of the record is left in a temporary folder.
  demand(database, dir, 'temp_store', 2);
}

function demand(database: Database.Database, dir: string, name: string, value: string | number): void {
  database.pragma(`${name} = ${value}`);
  const found = database.pragma(name, { simple: true });
  if (found !== value) throw unwritable(dir, `SQLite cannot set ${name} to ${value} there: it stays ${String(found)}.`);
}

/** For example `4711 on alpha`. A disk too full for this may still be read, so that it cannot be written is no failure. */
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

/** Who left word in the folder; undefined when that process is gone, so that it is another one that holds the lock. */
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
