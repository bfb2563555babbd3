// Checks a database for damage before the node reports ready; SQLite reports it only on reading a damaged page.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { damaged } from './sqlite-failure.js';
import { APPLICATION_ID } from './sqlite-schema.js';

/**
 * Up to this size all pages are read, at some 600 MB/s. In larger files rows are skipped, so that the check takes less than a second;
 * the hash chain detects a damaged row later.
 */
const SMALL_BYTES = 64 * 2 ** 20;

/** The first four bytes of a log without the lowest bit, which gives the byte order of its checksums. */
const LOG_MAGIC = 0x377f0682;

/** Opens no descriptor: closing it would release this process's locks on the file. @throws Failure `store_damaged` */
export function checkPresent(dir: string, path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === 0) throw damaged(dir, 'The file weir.db is empty.');
  if (size === undefined && walBytes(path) > 0)
    throw damaged(dir, 'The file weir.db is missing, its log weir.db-wal is there.');
}

/** @param database open, locked, not yet written @throws Failure `store_damaged`, or SqliteError for damage */
export function checkIntact(database: Database, dir: string, path: string, smallBytes = SMALL_BYTES): void {
  if (database.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw damaged(dir, 'The file weir.db is a database of another program.');
  }
  checkLog(dir, path);
  const isSmall = statSync(path).size + walBytes(path) <= smallBytes;
  for (const checked of isSmall ? ['1'] : tablesBesidesRows(database)) {
    const verdict = database.pragma(`quick_check(${checked})`, { simple: true });
    if (verdict !== 'ok') throw damaged(dir, `${String(verdict).replaceAll('\n', ' ')}.`);
  }
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** SQLite would silently drop a log with an unknown header. Zeros mean that no commit in it was confirmed. */
function checkLog(dir: string, path: string): void {
  if (walBytes(path) === 0) return;
  const head = Buffer.alloc(4);
  const log = openSync(`${path}-wal`, 'r');
  readSync(log, head);
  closeSync(log);
  const magic = head.readUInt32BE();
  if (magic !== 0 && (magic & ~1) !== LOG_MAGIC) throw damaged(dir, 'The log weir.db-wal does not begin as one.');
}

function tablesBesidesRows(database: Database): string[] {
  return database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('rows', 'sqlite_sequence')`,
    )
    .pluck()
    .all() as string[];
}
