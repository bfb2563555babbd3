// Turns errors of SQLite and of the file system into failures.
import { Bug, Failure } from '../../core/schema/failure.js';
import { FULL } from '../../core/schema/unwritable.js';
import { type MissingRows, missingText } from './head-mark.js';
import { isOfSqlite } from './sqlite-library.js';

// In these three functions an error that is a bug is returned as it is.
export function openingFailure(error: unknown, dir: string): unknown {
  return explained(error, (code, why) => (isDamage(code) ? damaged(dir, why, error) : unwritable(dir, why, error)));
}

export function readingFailure(error: unknown, dir: string): unknown {
  return explained(error, (code, why) =>
    isDamage(code)
      ? damaged(dir, why, error)
      : new Failure('store_failed', {
          what: `The database in ${dir} cannot be read.`,
          why,
          fix: 'Check the disk, then start the node again.',
          cause: error,
        }),
  );
}

/** A broken constraint is a Bug: only its statement is undone. After any other failure nothing can be written. */
export function writingFailure(error: unknown): unknown {
  return explained(error, (code, why) =>
    code.startsWith('SQLITE_CONSTRAINT')
      ? new Bug(`the database refuses what was written: ${why}`, { cause: error })
      : storeStopped(error),
  );
}

export function isLocked(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

export function damaged(dir: string, why: string, cause?: unknown): Failure {
  return new Failure('store_damaged', {
    what: `The database weir.db in ${dir} is damaged.`,
    why,
    fix: 'Put a backup in its place, or choose another folder to start from empty. `sqlite3 weir.db .recover` shows what can still be read.',
    cause,
  });
}

export function rowsMissing(dir: string, missing: readonly MissingRows[], heads: ReadonlyMap<string, number>): Failure {
  return new Failure('rows_missing', {
    what: `The database in ${dir} lacks rows that were acknowledged.`,
    why: missingText(missing, (machine) => heads.has(machine)),
    fix: 'Put back the log weir.db-wal as the node left it, or a newer backup. To go on without these rows, start with --allow lost-rows.',
  });
}

export function databaseMissing(dir: string, missing: readonly MissingRows[]): Failure {
  return new Failure('rows_missing', {
    what: `The database weir.db in ${dir} is missing.`,
    why:
      missing.length === 0
        ? 'The key of the node, or its mark, is there, and comes after the database.'
        : missingText(missing, () => false),
    fix: 'Put weir.db and weir.db-wal back, or a backup of the folder. To start empty with the key that is there, start with --allow lost-rows; for a new node, choose another folder.',
  });
}

export function displaced(path: string): Failure {
  return new Failure('store_failed', {
    what: 'The data folder was changed while the node runs.',
    why: `${path} was deleted, moved or replaced: the node still writes to the file that it has open, which is lost when it ends.`,
    fix: 'Stop the node, put the files of the folder back as they were, or a backup, then start it again.',
  });
}

export function countsMissing(dir: string, commits: number): Failure {
  return new Failure('rows_missing', {
    what: `The database in ${dir} lacks counts that were acknowledged.`,
    why: `Missing: the last ${commits === 1 ? 'commit' : `${commits} commits`}, with the counts of windows and what else was stored. No row is missing.`,
    fix: 'Put back the log weir.db-wal as the node left it, or a newer backup. To go on without these counts, start with --allow lost-rows.',
  });
}

export function unwritable(dir: string, why: string, cause?: unknown): Failure {
  return new Failure(FULL.has(codeOf(cause) ?? '') ? 'disk_full' : 'unwritable_folder', {
    what: `The database in ${dir} cannot be written.`,
    why,
    fix: 'Give the user of this process the right to write there, make room on the disk, or choose another folder.',
    cause,
  });
}

/** A full disk may have room again; after any other error its content is unknown. */
export function storeStopped(error: unknown): Failure {
  if (FULL.has(codeOf(error) ?? '')) {
    return new Failure('disk_full', {
      what: 'The disk is full: the last writes are not on it.',
      why: sentenceOf(error),
      fix: 'Make room. The node looks for it every second, and goes on from what was stored before.',
      cause: error,
    });
  }
  return new Failure('store_failed', {
    what: 'The store has stopped: the last writes are not on disk.',
    why: sentenceOf(error),
    fix: 'Make room on the disk or repair it, then start the node again: it continues from what was stored before.',
    cause: error,
  });
}

function explained(error: unknown, explain: (code: string, why: string) => unknown): unknown {
  const code = codeOf(error);
  return code === undefined ? error : explain(code, sentenceOf(error));
}

/** For example SQLITE_IOERR_FSYNC, or ENOSPC of the file system. */
function codeOf(error: unknown): string | undefined {
  if (isOfSqlite(error)) return error.code;
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isOfSqlite(error) ? `${message} (${error.code}).` : `${message}.`;
}

function isDamage(code: string): boolean {
  return code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB');
}
