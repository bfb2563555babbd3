// The connection to an open database: collects writes in one transaction; one commit makes them all durable (group commit).
//
//   write ─ write ─ commit(a) ─ write ─ commit(b) ─────────── flush
//     └ BEGIN        └ defer(flush)                             └ COMMIT ─► a() b()
//
// All waiting commits share one fsync. Reads use the same connection, so they see the open transaction.
import type { BackupMetadata, Database as OpenDatabase, Statement } from 'better-sqlite3';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { assert, Failure } from '../../core/schema/failure.js';
import { COMMITS, type HeadMark, type MissingRows } from './head-mark.js';
import { damaged, displaced, readingFailure, storeStopped, writingFailure } from './sqlite-failure.js';
import type { SqliteFile } from './sqlite-file.js';
import { sqlite } from './sqlite-library.js';

/** For example `setImmediate`: one commit for all writes of a turn of the event loop. */
type Defer = (flush: () => void) => void;

export interface SqliteOptions {
  /** Default: immediately. Then every commit is separate, and settled before `commit` returns. */
  readonly defer?: Defer | undefined;
  readonly failCommits?: (() => boolean) | undefined;
}

type Settled = (failure?: Failure) => void;

type Value = string | number | Uint8Array | null;

/** Backup pages (of 4 KiB) per turn: a fraction of a millisecond. */
const PAGES_A_TURN = 64;

export class SqliteConnection {
  readonly #file: SqliteFile;
  readonly #database: OpenDatabase;
  readonly #defer: Defer;
  readonly #failCommits: () => boolean;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #prepared = new Map<string, Statement<Value[]>>();
  #commits: number;
  #waiting: Settled[] = [];
  #isFlushAsked = false;
  #isFlushDue = false;
  #isFlushing = false;
  #failure: Failure | undefined;
  #damage: Failure | undefined;

  constructor(file: SqliteFile, { defer, failCommits }: SqliteOptions) {
    this.#file = file;
    this.#database = file.database;
    this.#defer = defer ?? ((flush) => flush());
    this.#failCommits = failCommits ?? (() => false);
    this.#begin = file.database.prepare('BEGIN IMMEDIATE');
    this.#commit = file.database.prepare('COMMIT');
    this.#rollback = file.database.prepare('ROLLBACK');
    this.#commits = file.database.prepare<[], number>('SELECT number FROM commits').pluck().get() ?? 0;
  }

  get dir(): string {
    return this.#file.dir;
  }

  protected get mark(): HeadMark {
    return this.#file.mark;
  }

  get damage(): Failure | undefined {
    return this.#damage;
  }

  protected noted<Thrown>(thrown: Thrown): Thrown {
    if (thrown instanceof Failure && thrown.code === 'store_damaged') this.#damage ??= thrown;
    return thrown;
  }

  /** @param what is kept as JSON @throws Failure `store_damaged` */
  parsed<T>(text: string, what: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw this.noted(damaged(this.dir, `${what} is not JSON.`, error));
    }
  }

  get commits(): number {
    return this.#commits;
  }

  get lost(): readonly MissingRows[] {
    return this.#file.lost;
  }

  /** After a failed commit this reads the rolled back, durable state. @throws Failure `store_damaged`, `store_failed` */
  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.#read(() => this.#statement(sql).get(...values) as Row | undefined);
  }

  /** The rows of a query, as `get`, or those that a write returns, as `run`. */
  all<Row>(sql: string, ...values: Value[]): Row[] {
    this.#checkOpen();
    const statement = this.#statement(sql);
    const work = () => statement.all(...values) as Row[];
    return statement.readonly ? this.#read(work) : this.#write(work);
  }

  /** @throws Failure `store_failed`, `disk_full`; Bug for a broken constraint: then only this statement is undone */
  run(sql: string, ...values: Value[]): number {
    return this.#write(() => this.#statement(sql).run(...values).changes);
  }

  /** Calls `settled` once all earlier writes are durable, or with the failure that prevents it. */
  commit(settled: Settled): void {
    this.#checkOpen();
    this.#waiting.push(settled);
    if (this.#isFlushAsked) return;
    this.#isFlushAsked = true;
    this.#defer(() => this.#flush());
  }

  /** Accepts writes again once a full disk has room. The failed transaction was rolled back. @returns whether it does */
  recover(): boolean {
    this.#checkOpen();
    if (this.#failure?.code !== 'disk_full' || this.#waiting.length > 0 || !this.#file.hasRoom()) return false;
    this.#failure = undefined;
    return true;
  }

  /** Copies during writes, some pages per turn of the event loop, none while a transaction is open. @throws SqliteError */
  async backup(path: string, onPages: (left: number, all: number) => void): Promise<void> {
    this.#checkOpen();
    const progress = ({ totalPages, remainingPages }: BackupMetadata) => {
      this.#commitSoon();
      onPages(remainingPages, totalPages);
      return PAGES_A_TURN;
    };
    // If a transaction is open at the first step, the call ends without having copied any page.
    do this.#commitSoon();
    while ((await this.#database.backup(path, { progress })).totalPages === 0);
  }

  // Otherwise a write might wait long for its commit.
  #commitSoon(): void {
    if (this.#database.inTransaction && !this.#isFlushAsked) this.commit(() => {});
  }

  close(): void {
    if (!this.#database.open) return;
    const thrown: unknown[] = [];
    do this.#settle(thrown);
    while (this.#waiting.length > 0 || this.#database.inTransaction);
    this.#file.close();
    if (thrown.length > 0) throw thrown[0];
  }

  /** A flush requested by a callback runs after all callbacks, which keep the order of their commits. */
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

  /** Calls every waiting callback, even if one throws. */
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
    if (this.#database.inTransaction) this.#commitAll();
    if (this.#failure !== undefined) return;
    // Durable means visible to another process: an fsync to a deleted file keeps nothing.
    const path = this.#file.displaced();
    if (path === undefined) return;
    this.#stop(displaced(path));
    this.#file.leaveMark();
  }

  #commitAll(): void {
    try {
      if (this.#failCommits()) throw new (sqlite().SqliteError)('the store is set to fail', 'SQLITE_IOERR_WRITE');
      this.#statement('UPDATE commits SET number = ?').run(this.#commits + 1);
      this.#commit.run();
    } catch (error) {
      this.#stop(storeStopped(error));
      return;
    }
    this.#commits += 1;
    this.#file.mark.note(COMMITS, this.#commits);
    this.#file.mark.write();
  }

  /** After a failed fsync the content of the disk is unknown: a retry would hide the failure. */
  #stop(failure: Failure): void {
    this.#failure = failure;
    this.#file.mark.dropPending();
    // After some errors SQLite has already rolled back.
    if (this.#database.inTransaction) this.#rollback.run();
  }

  #read<Result>(work: () => Result): Result {
    this.#checkOpen();
    try {
      return work();
    } catch (error) {
      throw this.noted(readingFailure(error, this.dir));
    }
  }

  #write<Result>(work: () => Result): Result {
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

  #statement(sql: string): Statement<Value[]> {
    return getOrInsert(this.#prepared, sql, () => this.#database.prepare<Value[]>(sql));
  }

  #checkOpen(): void {
    assert(this.#database.open, 'the store is closed');
  }
}
