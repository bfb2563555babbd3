// The data folder: creates it, locks it, and opens its database if that is complete and safe to write to.
//
//   weir.db       the database. It is moved into the folder complete, so an empty file is a sign of damage.
//   weir.db-wal   commits that are not in weir.db yet. Removed by a clean shutdown, present after any other.
//   weir.heads    the last row of each machine; see head-mark.ts
//                 With it, or the key of the node, and no weir.db, the folder is not a new one: it is refused.
//   weir.pid      the process that has the folder open, for people to read. It is not the lock: SQLite holds that on weir.db from
//                 opening to closing, and the operating system releases it however the process ends.
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type Library from 'better-sqlite3';
import { Failure } from '../schema/failure.js';
import { HeadMark, type MissingRows } from './head-mark.js';
import { makeFolder } from './make-folder.js';
import { checkHeads, checkIntact, checkPresent, walBytes } from './sqlite-damage.js';
import { databaseMissing, isLocked, openingFailure, unwritable } from './sqlite-failure.js';
import { sqlite } from './sqlite-library.js';
import { APPLICATION_ID, migrate } from './sqlite-migrations.js';

export interface SqliteFile {
  /** Absolute path of the folder. */
  readonly dir: string;
  readonly database: Library.Database;
  readonly mark: HeadMark;
  /** Rows that were acknowledged and are missing; what is there is what counts from now on. */
  readonly lost: readonly MissingRows[];
  walBytes(): number;
  /** Which of its files is not there any more, or is another one: what is written to it is lost when the process ends. */
  displaced(): string | undefined;
  /** Leaves the mark where the database was, so that the next process does not take the folder for a new one. */
  leaveMark(): void;
  /** Whether a quarter of a megabyte can be written beside the database. */
  hasRoom(): boolean;
  close(): void;
}

/** The commit that fills a log of this many pages (16 MB) moves it into the database, which takes some tens of ms. */
const LOG_PAGES = 4_000;

/** A log that grew beyond this, in one large commit, is truncated to it. */
const LOG_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Opens the database of a folder; creates both, for this user only, if they are missing.
 * @param lockWaitMs how long to wait, blocking, for another process to release the folder
 * @param acceptLoss whether to go on where rows are missing that were acknowledged
 * @throws Failure `unwritable_folder`, `store_locked`, `store_damaged`, `store_too_new`, `rows_missing`
 */
export function openSqliteFile(folder: string, lockWaitMs: number, acceptLoss = false): SqliteFile {
  const dir = resolve(folder);
  const path = join(dir, 'weir.db');
  const pidPath = join(dir, 'weir.pid');
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
      migrate(database, path);
      mark = new HeadMark(dir);
      lost = checkHeads(database, dir, mark, acceptLoss);
    } catch (error) {
      mark?.close();
      database.close();
      throw error;
    }
    leavePid(pidPath);
    const close = () => {
      // Before the lock is released: afterwards the file may belong to the next process.
      try {
        fs.rmSync(pidPath, { force: true });
        mark.close();
      } finally {
        database.close();
      }
    };
    const files = [path, `${path}-wal`, join(dir, 'weir.heads')];
    return {
      ...{ dir, database, mark, lost, close },
      walBytes: () => walBytes(path),
      displaced: displacedOf(files),
      leaveMark: () => leaveMark(dir, mark),
      hasRoom: () => hasRoom(dir),
    };
  } catch (error) {
    throw isLocked(error) ? locked(dir, pidPath, error) : openingFailure(error, dir);
  }
}

/**
 * A folder without a database is a new one, unless something is in it that only comes after the database.
 * @throws Failure `rows_missing`
 */
function checkNew(dir: string): void {
  const isThere = (name: string) => fs.existsSync(join(dir, name));
  const hasMark = isThere('weir.heads');
  // The folder of a node over Redis has a key and no database.
  if (!hasMark && (!isThere('node.json') || isThere('network.heads'))) return;
  // Another process may just have made all of it.
  if (isThere('weir.db')) return;
  const mark = hasMark ? new HeadMark(dir) : undefined;
  const missing = mark?.missing(() => 0) ?? [];
  mark?.close();
  throw databaseMissing(dir, missing);
}

/** Compares the files with those that were there first. Windows lets nobody delete an open file. */
function displacedOf(paths: readonly string[]): () => string | undefined {
  const seen = new Map<string, string>();
  return () =>
    process.platform === 'win32'
      ? undefined
      : paths.find((path) => {
          const stat = fs.statSync(path, { throwIfNoEntry: false });
          const found = stat && `${stat.dev} ${stat.ino}`;
          const first = seen.get(path);
          if (first === undefined && found !== undefined) seen.set(path, found);
          return first !== undefined && found !== first;
        });
}

function leaveMark(dir: string, mark: HeadMark): void {
  try {
    for (const made of makeFolder(dir, 0o700)) sync(dirname(made));
    // Another database, as of a backup that was put in its place, has a mark of its own.
    if (fs.existsSync(join(dir, 'weir.db'))) return;
    fs.writeFileSync(join(dir, 'weir.heads'), mark.bytes(), { mode: 0o600, flag: 'wx', flush: true });
  } catch {
    // It is there still, or nothing can be written there: the failure of the node says what happened all the same.
  }
}

/** Creates the database under another name and moves it: a process that dies on the way leaves no partial file. */
function create(dir: string, path: string): void {
  const workshop = fs.mkdtempSync(join(dir, 'new-'));
  try {
    const made = join(workshop, 'weir.db');
    fs.closeSync(fs.openSync(made, 'w', 0o600));
    const database = new (sqlite())(made);
    try {
      // Synced below, as a whole: no other process uses it before.
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

const ROOM_BYTES = 256 * 2 ** 10;

/** Tried by writing: what a file system says is free may not be free for this user. */
function hasRoom(dir: string): boolean {
  const path = join(dir, 'weir.room');
  try {
    fs.writeFileSync(path, Buffer.alloc(ROOM_BYTES), { mode: 0o600, flush: true });
    return true;
  } catch {
    return false;
  } finally {
    fs.rmSync(path, { force: true });
  }
}

/** Another process may do the same: a link, unlike a rename, never replaces the database that it created. */
function moveUnlessThere(made: string, path: string): void {
  try {
    fs.linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    // Some file systems do not support links.
    fs.renameSync(made, path);
  }
}

/** A file survives a power failure once the file and its folder are synced. Windows cannot sync folders and need not. */
function sync(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Takes the lock with the first access, and configures SQLite for the guarantee of a store: durable means after an fsync. */
function prepare(database: Library.Database, dir: string): void {
  // Exclusive before the log is first used: SQLite then keeps the index of the log in memory and needs no lock for each
  // transaction, and no other program can write to the file or hold the log.
  demand(database, dir, 'locking_mode', 'exclusive');
  demand(database, dir, 'journal_mode', 'wal');
  // better-sqlite3 defaults to NORMAL with a log: a commit would then be in the cache of the system, not on disk.
  demand(database, dir, 'synchronous', 2);
  demand(database, dir, 'foreign_keys', 1);
  demand(database, dir, 'wal_autocheckpoint', LOG_PAGES);
  demand(database, dir, 'journal_size_limit', LOG_LIMIT_BYTES);
  // On macOS an fsync leaves data in the cache of the drive unless these are set; elsewhere they do nothing.
  demand(database, dir, 'fullfsync', 1);
  demand(database, dir, 'checkpoint_fullfsync', 1);
  // Sorting uses memory: no part of the record is left in a temporary file.
  demand(database, dir, 'temp_store', 2);
}

function demand(database: Library.Database, dir: string, name: string, value: string | number): void {
  database.pragma(`${name} = ${value}`);
  const found = database.pragma(name, { simple: true });
  if (found !== value) throw unwritable(dir, `SQLite cannot set ${name} to ${value} there: it stays ${String(found)}.`);
}

/** For example `4711 on alpha`. A failure to write it is ignored: a full disk can still be read. */
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

/** The process named in the pid file; undefined if it is gone: then another process holds the lock. */
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
