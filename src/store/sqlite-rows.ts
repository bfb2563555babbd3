// Audit rows in the database: appended without gaps and queried; the end of each chain, the newest checkpoint.
import type { Statement } from 'better-sqlite3';
import { EMPTY } from '../record/chain.js';
import type { AuditRow, Checkpoint } from '../record/row.js';
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

const filters = Object.keys(conditions) as (keyof typeof conditions)[];

export class SqliteRows {
  readonly #connection: SqliteConnection;
  readonly #append: Statement<[number, number, string, string | null, string, string, number]>;
  readonly #last: Statement<[string], string>;
  readonly #putCheckpoint: Statement<[number, string, number, string, string]>;
  readonly #checkpoint: Statement<[string], Checkpoint>;
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
    this.#putCheckpoint = connection.prepare(`
      INSERT INTO checkpoints (machine, seq, hash, cycle, signature)
      SELECT id, ?, ?, ?, ? FROM machines WHERE slug = ?
      ON CONFLICT (machine) DO UPDATE
      SET seq = excluded.seq, hash = excluded.hash, cycle = excluded.cycle, signature = excluded.signature
      WHERE excluded.seq >= checkpoints.seq`);
    this.#checkpoint = connection.prepare(`
      SELECT slug AS machine, seq, hash, cycle, signature
      FROM checkpoints JOIN machines ON machines.id = checkpoints.machine WHERE slug = ?`);
  }

  append(row: AuditRow): void {
    const { machine, seq, cycle, kind, contract_id = null } = row;
    const { changes } = this.#append.run(seq, cycle, kind, contract_id, canonicalJson(row), machine, seq);
    assert(changes === 1, `row ${seq} of ${machine} is not the next one, or there is no such machine`);
    this.#connection.noteHead(machine, seq);
  }

  find(machine: string, query: RowQuery): readonly AuditRow[] {
    const { afterSeq = 0, limit = 100 } = query;
    const given = filters.filter((field) => query[field] !== undefined);
    const values = given.map((field) => query[field]);
    // SQLite treats a limit below 0 as no limit.
    const most = Math.min(Math.max(0, limit), Number.MAX_SAFE_INTEGER);
    return this.#finding(given.map((field) => conditions[field]))
      .all(machine, afterSeq, ...values, most)
      .map((text) => this.#parsed(machine, text));
  }

  /** The last row of the chain of a machine, with its cycle and time. */
  end(machine: string): Pick<StoredMachine, 'head' | 'last'> {
    const text = this.#last.get(machine);
    if (text === undefined) return { head: EMPTY, last: undefined };
    const { seq, hash, cycle, at } = this.#parsed(machine, text);
    return { head: { seq, hash }, last: { cycle, at } };
  }

  putCheckpoint({ machine, seq, hash, cycle, signature }: Checkpoint): void {
    const { changes } = this.#putCheckpoint.run(seq, hash, cycle, signature, machine);
    assert(changes === 1 || this.checkpoint(machine) !== undefined, `machine ${machine} is not in the store`);
  }

  checkpoint(machine: string): Checkpoint | undefined {
    return this.#checkpoint.get(machine);
  }

  #finding(given: readonly string[]): Statement<unknown[], string> {
    const wanted = ['machine = (SELECT id FROM machines WHERE slug = ?)', 'seq > ?', ...given].join(' AND ');
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
