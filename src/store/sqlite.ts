// The store of a node in one SQLite file, together with its credentials.

import type { AuditRow, Checkpoint, Cut } from '../record/row.js';
import type { Failure } from '../schema/failure.js';
import type { MissingRows } from './head-mark.js';
import { SqliteAnswers } from './sqlite-answers.js';
import { type ConnectionOptions, SqliteConnection, type StoreFigures } from './sqlite-connection.js';
import { SqliteCredentials } from './sqlite-credentials.js';
import { openSqliteFile } from './sqlite-file.js';
import { SqliteMachines } from './sqlite-machines.js';
import { SqliteRows } from './sqlite-rows.js';
import type { ContractImage, ContractState, MachineImage, RowQuery, Store, StoredMachine } from './store.js';

export interface SqliteStoreOptions extends ConnectionOptions {
  /** The data folder. It and its database are created if missing; no other process can open it meanwhile. */
  readonly dir: string;
  /** How long to wait, blocking, for another process to release the folder, in ms. Default 500. */
  readonly lockWaitMs?: number | undefined;
  /** Whether to go on where acknowledged rows are missing. Default false: refused. */
  readonly acceptLoss?: boolean | undefined;
}

/**
 * Opens the store of a data folder.
 * @throws Failure `unwritable_folder`, `store_locked`, `store_damaged`, `store_too_new`, `rows_missing`
 */
export function openSqliteStore({
  dir,
  lockWaitMs = 500,
  acceptLoss = false,
  ...options
}: SqliteStoreOptions): SqliteStore {
  return new SqliteStore(new SqliteConnection(openSqliteFile(dir, lockWaitMs, acceptLoss), options));
}

export class SqliteStore implements Store {
  /** Written in the same transactions: durable with the next commit of the store. */
  readonly credentials: SqliteCredentials;
  readonly answers: SqliteAnswers;
  readonly #connection: SqliteConnection;
  readonly #machines: SqliteMachines;
  readonly #rows: SqliteRows;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#machines = new SqliteMachines(connection);
    this.#rows = new SqliteRows(connection);
    this.credentials = new SqliteCredentials(connection);
    this.answers = new SqliteAnswers(connection);
  }

  /** Absolute path of the data folder. */
  get dir(): string {
    return this.#connection.dir;
  }

  /** Acknowledged rows that were missing when the store was opened. */
  get lost(): readonly MissingRows[] {
    return this.#connection.lost;
  }

  /** Transactions made durable since the folder was made. */
  get commits(): number {
    return this.#connection.commits;
  }

  /** Holds one machine at a time in memory. Contracts made from the same definition share it, as one object. */
  *machines(): Generator<StoredMachine> {
    const all = this.#machines.all();
    for (;;) {
      const next = this.#connection.read(() => all.next());
      if (next.done) return;
      const end = this.#connection.read(() => this.#rows.end(next.value.machine.slug));
      yield { ...next.value, ...end };
    }
  }

  keys(contractId: string): Iterable<ContractState> {
    return this.#machines.keysOf(contractId);
  }

  putMachine(image: MachineImage): void {
    this.#connection.write(() => this.#machines.putMachine(image));
  }

  putContract(image: ContractImage, state: ContractState): void {
    this.#connection.write(() => this.#machines.putContract(image, state));
  }

  changeContract(image: ContractImage, state: ContractState, keepsKeys: boolean): void {
    this.#connection.write(() => this.#machines.changeContract(image, state, keepsKeys));
  }

  putState(state: ContractState): void {
    this.#connection.write(() => this.#machines.putState(state));
  }

  removeContract(id: string): void {
    this.#connection.write(() => this.#machines.removeContract(id));
  }

  removeContracts(machine: string): void {
    this.#connection.write(() => this.#machines.removeContracts(machine));
  }

  unswept(): readonly string[] {
    return this.#connection.read(() => this.#machines.withRemoved());
  }

  removeMachine(slug: string, most: number): number {
    return this.#connection.write(() => {
      const forgotten = this.answers.remove(slug, most);
      if (forgotten >= most) return forgotten;
      const freed = this.#machines.sweep(slug, most);
      if (freed >= most) return freed;
      const removed = this.#rows.remove(slug, most);
      if (removed < most) this.#machines.removeMachine(slug);
      return removed;
    });
  }

  forgetKey(contractId: string, key: string): void {
    this.#connection.write(() => this.#machines.forgetKey(contractId, key));
  }

  append(row: AuditRow): void {
    this.#connection.write(() => this.#rows.append(row));
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    this.#connection.write(() => this.#rows.putCheckpoint(checkpoint));
  }

  commit(settled: (failure?: Failure) => void): void {
    this.#connection.commit(settled);
  }

  rows(machine: string, query: RowQuery = {}): readonly AuditRow[] {
    return this.#connection.read(() => this.#rows.find(machine, query));
  }

  recordBytes(machine: string): number {
    return this.#connection.read(() => this.#rows.bytes(machine));
  }

  checkpoint(machine: string): Checkpoint | undefined {
    return this.#connection.read(() => this.#rows.checkpoint(machine));
  }

  cut(machine: string): Cut | undefined {
    return this.#connection.read(() => this.#rows.cut(machine));
  }

  putCut(cut: Cut): void {
    this.#connection.write(() => this.#rows.putCut(cut));
  }

  sweep(machine: string, most: number): number {
    return this.#connection.write(() => {
      const freed = this.#rows.sweep(machine, most);
      return freed + this.#machines.sweep(machine, most - freed);
    });
  }

  recover(): boolean {
    if (!this.#connection.recover()) return false;
    this.#machines.forget();
    return true;
  }

  /** Moves the write-ahead log into the database. Blocks; see `SqliteConnection.moveLog`. */
  moveLog(): boolean {
    return this.#connection.moveLog();
  }

  /** Copies the database into a new file while it is in use; see `SqliteConnection.backup`. */
  backup(path: string, onPages: (left: number, all: number) => void): Promise<void> {
    return this.#connection.backup(path, onPages);
  }

  figures(): StoreFigures {
    return this.#connection.figures();
  }

  close(): void {
    this.#connection.close();
  }
}
