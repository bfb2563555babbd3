// Records in the database: rows without gaps, the newest checkpoint, and the cut that replaces the first rows.
import { EMPTY } from '../../core/record/chain.js';
import type { AuditRow, Checkpoint, Cut } from '../../core/record/row.js';
import { canonicalJson } from '../../core/schema/canonical.js';
import { assert } from '../../core/schema/failure.js';
import { SqliteConnection } from './sqlite-connection.js';
import type { RecordReader, RowQuery, StoredMachine } from './store.js';

const conditions = {
  toSeq: 'seq <= ?',
  kind: 'kind = ?',
  contractId: 'contract_id = ?',
  fromCycle: 'cycle >= ?',
  toCycle: 'cycle <= ?',
} as const satisfies { readonly [Field in keyof RowQuery]: string };

const filters = Object.keys(conditions) as (keyof typeof conditions)[];

const ID = '(SELECT id FROM machines WHERE slug = ?)';

/** The last removed row of the machine, 0 for none. Independent of the row, so SQLite computes it once per query. */
const REMOVED = `coalesce((SELECT seq FROM cuts WHERE machine = ${ID}), 0)`;

export class SqliteRecords extends SqliteConnection implements RecordReader {
  append(row: AuditRow): void {
    const { machine, seq, cycle, kind, contract_id = null } = row;
    const text = canonicalJson(row);
    const changes = this.run(
      `INSERT INTO rows (machine, seq, cycle, kind, contract_id, text)
       SELECT id, ?, ?, ?, ?, ? FROM machines
       WHERE slug = ? AND ? = 1 + coalesce((SELECT max(seq) FROM rows WHERE machine = machines.id), 0)`,
      ...[seq, cycle, kind, contract_id, text, machine, seq],
    );
    assert(changes === 1, `row ${seq} of ${machine} is not the next one, or there is no such machine`);
    this.mark.note(machine, seq);
    this.#addBytes(machine, text.length);
  }

  /** The text is canonical JSON, so the parsed row has the same text again, and the same hash. */
  rows(machine: string, query: RowQuery = {}): readonly AuditRow[] {
    const { afterSeq = 0, limit = 100 } = query;
    const given = filters.filter((field) => query[field] !== undefined);
    const wanted = [`machine = ${ID}`, `seq > max(?, ${REMOVED})`, ...given.map((field) => conditions[field])];
    // SQLite treats a negative limit as no limit.
    const most = Math.min(Math.max(0, limit), Number.MAX_SAFE_INTEGER);
    const values = [machine, afterSeq, machine, ...given.map((field) => query[field]!), most];
    return this.all<{ text: string }>(
      `SELECT text FROM rows WHERE ${wanted.join(' AND ')} ORDER BY seq LIMIT ?`,
      ...values,
    ).map(({ text }) => this.parsed<AuditRow>(text, `A row of machine ${machine}`));
  }

  recordBytes(machine: string): number {
    const found = this.get<{ bytes: number }>('SELECT record_bytes AS bytes FROM machines WHERE slug = ?', machine);
    return found?.bytes ?? 0;
  }

  checkpoint(machine: string): Checkpoint | undefined {
    return this.#signed('checkpoints', machine);
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    const { machine, seq } = checkpoint;
    const changes = this.run(
      `INSERT INTO checkpoints (machine, seq, text) SELECT id, ?, ? FROM machines WHERE slug = ?
       ON CONFLICT (machine) DO UPDATE SET seq = excluded.seq, text = excluded.text
       WHERE excluded.seq >= checkpoints.seq`,
      ...[seq, JSON.stringify(checkpoint), machine],
    );
    assert(changes === 1 || this.checkpoint(machine) !== undefined, `machine ${machine} is not in the store`);
  }

  cut(machine: string): Cut | undefined {
    return this.#signed('cuts', machine);
  }

  putCut(cut: Cut): void {
    const { machine, removed_to_seq: seq } = cut;
    const changes = this.run(
      `INSERT INTO cuts (machine, seq, text)
       SELECT id, ?, ? FROM machines
       WHERE slug = ? AND ? < (SELECT max(seq) FROM rows WHERE machine = machines.id)
       ON CONFLICT (machine) DO UPDATE SET seq = excluded.seq, text = excluded.text
       WHERE ? >= cuts.seq`,
      ...[seq, JSON.stringify(cut), machine, seq, seq],
    );
    assert(changes === 1, `rows of ${machine} up to ${seq} cannot be removed`);
  }

  #signed<T>(table: 'checkpoints' | 'cuts', machine: string): T | undefined {
    const found = this.get<{ text: string }>(`SELECT text FROM ${table} WHERE machine = ${ID}`, machine);
    return found && this.parsed(found.text, `What is signed of machine ${machine}`);
  }

  protected endOf(machine: string): Pick<StoredMachine, 'head' | 'last'> {
    const found = this.get<{ text: string }>(
      `SELECT text FROM rows WHERE machine = ${ID} ORDER BY seq DESC LIMIT 1`,
      machine,
    );
    if (found === undefined) return { head: EMPTY, last: undefined };
    const { seq, hash, cycle, at, kind } = this.parsed<AuditRow>(found.text, `A row of machine ${machine}`);
    return { head: { seq, hash }, last: { cycle, at, kind } };
  }

  protected sweepRows(machine: string, most: number): number {
    const freed = this.all<{ bytes: number }>(
      `DELETE FROM rows WHERE rowid IN (
         SELECT rows.rowid FROM cuts JOIN rows ON rows.machine = cuts.machine AND rows.seq <= cuts.seq
         WHERE cuts.machine = ${ID} LIMIT ?)
       RETURNING length(text) AS bytes`,
      ...[machine, most],
    );
    if (freed.length > 0) this.#addBytes(machine, -freed.reduce((sum, { bytes }) => sum + bytes, 0));
    return freed.length;
  }

  /** Deletes up to `most` rows, oldest first, except the last; once these are gone, the whole record. */
  protected removeRecord(machine: string, most: number): number {
    const changes = this.run(
      `DELETE FROM rows WHERE machine = ${ID} AND rowid IN (
         SELECT rowid FROM rows WHERE machine = ${ID} AND seq < (SELECT max(seq) FROM rows WHERE machine = ${ID})
         ORDER BY seq LIMIT ?)`,
      ...[machine, machine, machine, most],
    );
    // First, so that the mark is never ahead of the database.
    this.mark.remove(machine);
    if (changes === most) return changes;
    for (const table of ['rows', 'cuts', 'checkpoints'])
      this.run(`DELETE FROM ${table} WHERE machine = ${ID}`, machine);
    return changes;
  }

  #addBytes(machine: string, bytes: number): void {
    this.run('UPDATE machines SET record_bytes = record_bytes + ? WHERE slug = ?', bytes, machine);
  }
}
