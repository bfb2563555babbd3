// Audit rows in the database: appended without gaps, queried and removed; the end of each chain, the newest checkpoint, the cut.
import type { Statement } from 'better-sqlite3';
import { EMPTY } from '../record/chain.js';
import type { AuditRow, Checkpoint, Cut } from '../record/row.js';
import { canonicalJson } from '../schema/canonical.js';
import { assert } from '../schema/failure.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { damaged } from './sqlite-failure.js';
import type { RowQuery, StoredMachine } from './store.js';

/** The filters of a query, besides its position in the record. */
const conditions = {
  toSeq: 'seq <= ?',
  kind: 'kind = ?',
  contractId: 'contract_id = ?',
  fromCycle: 'cycle >= ?',
  toCycle: 'cycle <= ?',
} as const satisfies { readonly [Field in keyof RowQuery]: string };

/** The last of the removed rows of the machine, 0 for none. It does not depend on the row: SQLite computes it once for a query. */
const REMOVED = 'coalesce((SELECT seq FROM cuts WHERE machine = (SELECT id FROM machines WHERE slug = ?)), 0)';

const filters = Object.keys(conditions) as (keyof typeof conditions)[];

export class SqliteRows {
  readonly #connection: SqliteConnection;
  readonly #append: Statement<[number, number, string, string | null, string, string, number]>;
  readonly #last: Statement<[string], string>;
  readonly #putCheckpoint: Statement<[number, string, number, string, string]>;
  readonly #checkpoint: Statement<[string], Checkpoint>;
  readonly #putCut: Statement<[number, string, string, number, string, string, number, number]>;
  readonly #cut: Statement<[string], Cut>;
  readonly #sweep: Statement<[string, number], number>;
  readonly #bytes: Statement<[string], number>;
  readonly #removeFirst: Statement<[string, string, number, number]>;
  readonly #end: Statement<[string], number>;
  readonly #dropBeside: readonly Statement<[string]>[];
  /** Prepared statements by their text: at most one for each combination of filters. */
  readonly #finds = new Map<string, Statement<unknown[], string>>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#append = connection.prepare(`
      INSERT INTO rows (machine, seq, cycle, kind, contract_id, text)
      SELECT id, ?, ?, ?, ?, ? FROM machines
      WHERE slug = ? AND ? = 1 + coalesce((SELECT max(seq) FROM rows WHERE machine = machines.id), 0)`);
    this.#last = connection
      .prepare<[string], string>(`
        SELECT text FROM rows WHERE machine = (SELECT id FROM machines WHERE slug = ?) ORDER BY seq DESC LIMIT 1`)
      .pluck();
    this.#bytes = connection.prepare<[string], number>('SELECT record_bytes FROM machines WHERE slug = ?').pluck();
    this.#putCheckpoint = connection.prepare(`
      INSERT INTO checkpoints (machine, seq, hash, cycle, signature)
      SELECT id, ?, ?, ?, ? FROM machines WHERE slug = ?
      ON CONFLICT (machine) DO UPDATE
      SET seq = excluded.seq, hash = excluded.hash, cycle = excluded.cycle, signature = excluded.signature
      WHERE excluded.seq >= checkpoints.seq`);
    this.#checkpoint = connection.prepare(`
      SELECT slug AS machine, seq, hash, cycle, signature
      FROM checkpoints JOIN machines ON machines.id = checkpoints.machine WHERE slug = ?`);
    this.#putCut = connection.prepare(`
      INSERT INTO cuts (machine, seq, hash, at, cycle, signature)
      SELECT id, ?, ?, ?, ?, ? FROM machines
      WHERE slug = ? AND ? < (SELECT max(seq) FROM rows WHERE machine = machines.id)
      ON CONFLICT (machine) DO UPDATE
      SET seq = excluded.seq, hash = excluded.hash, at = excluded.at, cycle = excluded.cycle, signature = excluded.signature
      WHERE ? >= cuts.seq`);
    this.#cut = connection.prepare(`
      SELECT slug AS machine, seq AS removed_to_seq, hash AS removed_hash, at, cycle, signature
      FROM cuts JOIN machines ON machines.id = cuts.machine WHERE slug = ?`);
    const id = '(SELECT id FROM machines WHERE slug = ?)';
    this.#end = connection.prepare<[string], number>(`SELECT max(seq) FROM rows WHERE machine = ${id}`).pluck();
    this.#removeFirst = connection.prepare(`
      DELETE FROM rows WHERE machine = ${id} AND rowid IN (
        SELECT rowid FROM rows WHERE machine = ${id} AND seq < ? ORDER BY seq LIMIT ?)`);
    this.#dropBeside = ['rows', 'cuts', 'checkpoints'].map((table) =>
      connection.prepare(`DELETE FROM ${table} WHERE machine = ${id}`),
    );
    this.#sweep = connection
      .prepare<[string, number], number>(`
      DELETE FROM rows WHERE rowid IN (
        SELECT rows.rowid FROM cuts JOIN rows ON rows.machine = cuts.machine AND rows.seq <= cuts.seq
        WHERE cuts.machine = (SELECT id FROM machines WHERE slug = ?) LIMIT ?)
      RETURNING length(text)`)
      .pluck();
  }

  append(row: AuditRow): void {
    const { machine, seq, cycle, kind, contract_id = null } = row;
    const text = canonicalJson(row);
    const { changes } = this.#append.run(seq, cycle, kind, contract_id, text, machine, seq);
    assert(changes === 1, `row ${seq} of ${machine} is not the next one, or there is no such machine`);
    this.#connection.noteHead(machine, seq, text.length);
  }

  find(machine: string, query: RowQuery): readonly AuditRow[] {
    const { afterSeq = 0, limit = 100 } = query;
    const given = filters.filter((field) => query[field] !== undefined);
    const values = given.map((field) => query[field]);
    // SQLite treats a limit below 0 as no limit.
    const most = Math.min(Math.max(0, limit), Number.MAX_SAFE_INTEGER);
    return this.#finding(given.map((field) => conditions[field]))
      .all(machine, afterSeq, machine, ...values, most)
      .map((text) => this.#parsed(machine, text));
  }

  /** The last row of the chain of a machine, with its cycle and time. */
  end(machine: string): Pick<StoredMachine, 'head' | 'last'> {
    const text = this.#last.get(machine);
    if (text === undefined) return { head: EMPTY, last: undefined };
    const { seq, hash, cycle, at, kind } = this.#parsed(machine, text);
    return { head: { seq, hash }, last: { cycle, at, kind } };
  }

  /** Bytes of the rows of a machine. */
  bytes(machine: string): number {
    return (this.#bytes.get(machine) ?? 0) + this.#connection.bytesOf(machine);
  }

  putCheckpoint({ machine, seq, hash, cycle, signature }: Checkpoint): void {
    const { changes } = this.#putCheckpoint.run(seq, hash, cycle, signature, machine);
    assert(changes === 1 || this.checkpoint(machine) !== undefined, `machine ${machine} is not in the store`);
  }

  checkpoint(machine: string): Checkpoint | undefined {
    return this.#checkpoint.get(machine);
  }

  cut(machine: string): Cut | undefined {
    return this.#cut.get(machine);
  }

  putCut({ machine, removed_to_seq: seq, removed_hash: hash, at, cycle, signature }: Cut): void {
    const { changes } = this.#putCut.run(seq, hash, at, cycle, signature, machine, seq, seq);
    assert(changes === 1, `rows of ${machine} up to ${seq} cannot be removed`);
  }

  sweep(machine: string, most: number): number {
    const freed = this.#sweep.all(machine, most);
    this.#connection.noteBytes(machine, -freed.reduce((sum, bytes) => sum + bytes, 0));
    return freed.length;
  }

  /**
   * Removes up to `most` rows from the first on, and never the last; then all that is left of the record.
   * @returns how many rows; fewer than `most` once nothing is left
   */
  remove(machine: string, most: number): number {
    const last = this.#end.get(machine) ?? 0;
    const { changes } = this.#removeFirst.run(machine, machine, last, most);
    // The mark beside the database forgets them first: it is never ahead of what is there.
    this.#connection.noteRemoval(machine);
    if (changes === most) return changes;
    for (const drop of this.#dropBeside) drop.run(machine);
    return changes;
  }

  #finding(given: readonly string[]): Statement<unknown[], string> {
    const wanted = ['machine = (SELECT id FROM machines WHERE slug = ?)', `seq > max(?, ${REMOVED})`, ...given].join(
      ' AND ',
    );
    const sql = `SELECT text FROM rows WHERE ${wanted} ORDER BY seq LIMIT ?`;
    let statement = this.#finds.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare<unknown[], string>(sql).pluck();
      this.#finds.set(sql, statement);
    }
    return statement;
  }

  /** The text is canonical JSON, so the parsed row has the same text again, and the same hash. */
  #parsed(machine: string, text: string): AuditRow {
    try {
      return JSON.parse(text) as AuditRow;
    } catch (error) {
      throw damaged(this.#connection.dir, `A row of machine ${machine} is not JSON.`, error);
    }
  }
}
