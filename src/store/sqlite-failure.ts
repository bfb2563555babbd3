// Owns what an error of SQLite or of the file system means to a person: which failure it is, why, and what to do about it.
// Leaves what the store does after it to sqlite-connection.ts.
import Database from 'better-sqlite3';
import { Bug, Failure } from '../schema/failure.js';

/** Whatever was thrown while the database was opened: a Failure that names the folder, or the bug that it is. */
export function openingFailure(error: unknown, dir: string): unknown {
  return explained(error, (code, why) => (isDamage(code) ? damaged(dir, why, error) : unwritable(dir, why, error)));
}

/** What was thrown while something was read: a Failure where the disk is to blame, or the bug that it is. */
export function readingFailure(error: unknown, dir: string): unknown {
  return explained(error, (code, why) =>
    isDamage(code)
      ? damaged(dir, why, error)
      : new Failure('store_failed', {
          what: `The database in ${dir} cannot be read.`,
          why,
          fix: 'Look after the disk, then start the node again.',
          cause: error,
        }),
  );
}

/**
 * What was thrown while something was written. A broken constraint is a Bug, and has taken back its own statement only;
 * for all else the Failure `store_failed`, after which nothing can be written any more.
 */
export function writingFailure(error: unknown): unknown {
  return explained(error, (code, why) =>
    code.startsWith('SQLITE_CONSTRAINT')
      ? new Bug(`the database refuses what was written: ${why}`, { cause: error })
      : stopped(error),
  );
}

export function isLocked(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

export function damaged(dir: string, why: string, cause?: unknown): Failure {
  return new Failure('store_damaged', {
    what: `The database in ${dir} is damaged.`,
    why,
    fix: 'Put a backup in its place, or give another folder to begin anew. `sqlite3 weir.db .recover` shows what can still be read.',
    cause,
  });
}

export function unwritable(dir: string, why: string, cause?: unknown): Failure {
  return new Failure('unwritable_folder', {
    what: `The database in ${dir} cannot be written.`,
    why,
    fix: 'Give the user of this process the right to write there, make room on the disk, or choose another folder.',
    cause,
  });
}

/** What the disk refused, whatever it was, when it should have become durable. */
export function stopped(error: unknown): Failure {
  return new Failure('store_failed', {
    what: 'The store has stopped: what it was given last is not on disk.',
    why: sentenceOf(error),
    fix: 'Make room on the disk or mend it, then start the node again: it goes on from what was stored before.',
    cause: error,
  });
}

function explained(error: unknown, explain: (code: string, why: string) => unknown): unknown {
  const code = codeOf(error);
  return code === undefined ? error : explain(code, sentenceOf(error));
}

/** For example SQLITE_IOERR_FSYNC of SQLite, ENOSPC of the file system; undefined for what comes from neither. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof Database.SqliteError) return error.code;
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Database.SqliteError ? `${message} (${error.code}).` : `${message}.`;
}

function isDamage(code: string): boolean {
  return code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB');
}
