// Owns the one connection to an open database: what is written is collected in a transaction, and one commit makes all of it
// durable. Leaves opening to sqlite-file.ts, what is read and written to sqlite.ts, sqlite-credentials.ts.
//
//   write ─ write ─ commit(a) ─ write ─ commit(b) ─────────── flush
//     └ BEGIN        └ defer(flush)                             └ COMMIT ─► a() b()
//
// However many commits wait, they cost one fsync. Reads go over the same connection and so see what is in the transaction.
import Database, { type Statement } from 'better-sqlite3';
import { assert, Failure } from '../schema/failure.js';
import { readingFailure, stopped, writingFailure } from './sqlite-failure.js';
import type { SqliteFile } from './sqlite-file.js';

/** Asks that a function be called soon: `setImmediate`, so that what one turn of the event loop writes is committed as one. */
export type Defer = (flush: () => void) => void;

export interface ConnectionOptions {
  /** Default: at once, so that every commit is one by itself and is settled before it returns. */
  readonly defer?: Defer | undefined;
  /** A clock to measure durations by, in ms. Without one all durations are 0. */
  readonly monotonicMs?: (() => number) | undefined;
  /** Asked at every commit: true makes it fail, as a full disk would. */
  readonly failCommits?: (() => boolean) | undefined;
}

export interface StoreFigures {
  /** Commits that are waiting to be settled. */
  readonly pending: number;
  /** Transactions made durable since the store was opened. */
  readonly transactions: number;
  /** How long all of them took together: the fsync, and moving the log where one of them filled it. */
  readonly transactionsMs: number;
  readonly lastTransactionMs: number;
  /** How long the last `moveLog` took. */
  readonly lastMoveMs: number;
  /** Size of the write-ahead log. */
  readonly walBytes: number;
}

type Settled = (failure?: Failure) => void;

export class SqliteConnection {
  readonly #file: SqliteFile;
  readonly #database: Database.Database;
  readonly #defer: Defer;
  readonly #monotonicMs: () => number;
  readonly #failCommits: () => boolean;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  #waiting: Settled[] = [];
  #isFlushAsked = false;
  #isFlushDue = false;
  #isFlushing = false;
  #failure: Failure | undefined;
  #transactions = 0;
  #transactionsMs = 0;
  #lastTransactionMs = 0;
  #lastMoveMs = 0;

  constructor(file: SqliteFile, { defer, monotonicMs, failCommits }: ConnectionOptions) {
    this.#file = file;
    this.#database = file.database;
    this.#defer = defer ?? ((flush) => flush());
    this.#monotonicMs = monotonicMs ?? (() => 0);
    this.#failCommits = failCommits ?? (() => false);
    this.#begin = file.database.prepare('BEGIN IMMEDIATE');
    this.#commit = file.database.prepare('COMMIT');
    this.#rollback = file.database.prepare('ROLLBACK');
  }

  get dir(): string {
    return this.#file.dir;
  }

  prepare<Parameters extends unknown[], Row = unknown>(sql: string): Statement<Parameters, Row> {
    return this.#database.prepare<Parameters, Row>(sql);
  }

  /**
   * Goes on after a failed commit, too: the transaction was rolled back, so what is read then is what is durable.
   * @throws Failure `store_damaged`, `store_failed`
   */
  read<Result>(work: () => Result): Result {
    this.#checkOpen();
    try {
      return work();
    } catch (error) {
      throw readingFailure(error, this.dir);
    }
  }

  /** @throws Failure `store_failed`, now and ever after; Bug for what breaks a constraint, and only that is not written */
  write<Result>(work: () => Result): Result {
    this.#checkOpen();
    if (this.#failure !== undefined) throw this.#failure;
    try {
      if (!this.#database.inTransaction) this.#begin.run();
      return work();
    } catch (error) {
      const explained = writingFailure(error);
      if (explained instanceof Failure) this.#stop(explained);
      throw explained;
    }
  }

  /** Calls `settled` once all that was written before is durable, or with the failure that keeps it from ever being. */
  commit(settled: Settled): void {
    this.#checkOpen();
    this.#waiting.push(settled);
    if (this.#isFlushAsked) return;
    this.#isFlushAsked = true;
    this.#defer(() => this.#flush());
  }

  /**
   * Moves what the log holds into the database (SQLite calls it a checkpoint), so that the log is written from its start again.
   * Blocks: call it when idle, before a commit has to do it. Where it fails nothing is lost: the log keeps what it has, and grows.
   * @returns whether it was done; it is not while something waits for its commit
   */
  moveLog(): boolean {
    this.#checkOpen();
    if (this.#failure !== undefined || this.#database.inTransaction) return false;
    const startMs = this.#monotonicMs();
    try {
      this.#database.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      if (error instanceof Database.SqliteError) return false;
      throw error;
    }
    this.#lastMoveMs = this.#monotonicMs() - startMs;
    return true;
  }

  figures(): StoreFigures {
    return {
      pending: this.#waiting.length,
      transactions: this.#transactions,
      transactionsMs: this.#transactionsMs,
      lastTransactionMs: this.#lastTransactionMs,
      lastMoveMs: this.#lastMoveMs,
      walBytes: this.#file.walBytes(),
    };
  }

  /** Settles what waits, then lets go of the file. A second time it does nothing. */
  close(): void {
    if (!this.#database.open) return;
    const thrown: unknown[] = [];
    do this.#settle(thrown);
    while (this.#waiting.length > 0 || this.#database.inTransaction);
    this.#file.close();
    if (thrown.length > 0) throw thrown[0];
  }

  /** A flush that is asked for while callbacks run comes after them: they are called in the order of their commits. */
  #flush(): void {
    this.#isFlushAsked = false;
    this.#isFlushDue = true;
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const thrown: unknown[] = [];
    while (this.#isFlushDue) {
      this.#isFlushDue = false;
      this.#settle(thrown);
    }
    this.#isFlushing = false;
    if (thrown.length > 0) throw thrown[0];
  }

  /** Makes durable what was written, and calls everyone who waits for it, whatever one of them throws. */
  #settle(thrown: unknown[]): void {
    this.#makeDurable();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const settled of waiting) {
      try {
        settled(this.#failure);
      } catch (error) {
        thrown.push(error);
      }
    }
  }

  #makeDurable(): void {
    if (!this.#database.inTransaction) return;
    const startMs = this.#monotonicMs();
    try {
      if (this.#failCommits()) throw new Database.SqliteError('the store was told to fail', 'SQLITE_FULL');
      this.#commit.run();
    } catch (error) {
      this.#stop(stopped(error));
      return;
    }
    this.#lastTransactionMs = this.#monotonicMs() - startMs;
    this.#transactionsMs += this.#lastTransactionMs;
    this.#transactions += 1;
  }

  /**
   * Nothing can be written any more: after a failed fsync nobody knows what the disk holds, and trying again would only hide it.
   * Who waits is told at the next flush, which was asked for when they came.
   */
  #stop(failure: Failure): void {
    this.#failure = failure;
    // After some errors SQLite has rolled back by itself.
    if (this.#database.inTransaction) this.#rollback.run();
  }

  #checkOpen(): void {
    assert(this.#database.open, 'the store is closed');
  }
}
