// The seal of a copied database: signed digests of its schema and of each table, in a table that is dropped when a node opens the copy.
//
//   copy ─► digests ─► signed ─► CREATE TABLE seal            restored ─► signature, digests ─► indexes made anew ─► DROP TABLE seal
import { createHash, type Hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { canonicalJson } from '../../core/schema/canonical.js';
import { openingFailure } from './sqlite-failure.js';
import { sqlite } from './sqlite-library.js';

interface Contents {
  readonly weir_backup: 1;
  readonly schema: string;
  /** SHA-256 of the rows, by table. */
  readonly tables: Readonly<Record<string, string>>;
}

/** Signs a copy; nothing may write to it afterwards. @throws Failure `store_damaged`, `unwritable_folder` */
export function seal(path: string, dir: string, sign: (text: string) => string): void {
  opened(path, dir, false, (database) => {
    const contents: Contents = { weir_backup: 1, schema: schemaOf(database), tables: tablesOf(database) };
    const text = canonicalJson(contents);
    database.exec('CREATE TABLE seal (contents TEXT NOT NULL, signature TEXT NOT NULL) STRICT');
    database.prepare('INSERT INTO seal VALUES (?, ?)').run(text, sign(text));
  });
}

/** Removes the seal. @returns why it does not match, if so @throws as `seal` */
export function unseal(
  path: string,
  dir: string,
  holds: (text: string, signature: string) => boolean,
): string | undefined {
  return opened(path, dir, true, (database) => {
    const isSealed = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'seal'").get();
    if (isSealed === undefined) return 'It has no signature.';
    const { contents, signature } = (database.prepare('SELECT * FROM seal').get() ?? {}) as Record<string, unknown>;
    if (typeof contents !== 'string' || typeof signature !== 'string' || !holds(contents, signature))
      return 'It was signed by another key, or what was signed has changed.';
    const signed = JSON.parse(contents) as Contents;
    if (schemaOf(database) !== signed.schema) return 'Its tables are not those that were signed.';
    const found = tablesOf(database);
    const changed = Object.keys(found).find((name) => found[name] !== signed.tables[name]);
    if (changed !== undefined) return `The table ${changed} has changed since it was signed.`;
    // Indexes are not signed: a manipulated one would find other rows than the table holds.
    database.exec('REINDEX');
    database.exec('DROP TABLE seal');
    return undefined;
  });
}

function opened<T>(path: string, dir: string, isUntrusted: boolean, work: (database: Database) => T): T {
  try {
    const database = new (sqlite())(path);
    try {
      if (isUntrusted) database.pragma('trusted_schema = OFF');
      database.pragma('journal_mode = DELETE');
      return work(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw openingFailure(error, dir);
  }
}

const OURS = "name <> 'seal' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

function schemaOf(database: Database): string {
  const parts = database.prepare(`SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE ${OURS} ORDER BY name`);
  const versions = ['user_version', 'application_id'].map((name) => database.pragma(name, { simple: true }));
  return createHash('sha256')
    .update(JSON.stringify([versions, parts.raw().all()]))
    .digest('hex');
}

function tablesOf(database: Database): Record<string, string> {
  const names = database
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND ${OURS} ORDER BY name`)
    .pluck()
    .all();
  return Object.fromEntries(names.map((name) => [name, tableDigest(database, name)]));
}

/** In table order, which does not depend on the query planner of the SQLite version. */
function tableDigest(database: Database, name: string): string {
  const hash = createHash('sha256');
  const rows = database.prepare<[], unknown[]>(`SELECT * FROM "${name.replaceAll('"', '""')}" NOT INDEXED`);
  for (const row of rows.raw().safeIntegers().iterate()) {
    hash.update(`${row.length}\n`);
    for (const value of row) addValue(hash, value);
  }
  return hash.digest('hex');
}

/** Type and length precede each value, so that different rows give different bytes. */
function addValue(hash: Hash, value: unknown): void {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value), 'utf8');
  hash.update(`${value === null ? 'null' : Buffer.isBuffer(value) ? 'blob' : typeof value} ${bytes.length}\n`);
  hash.update(bytes);
}
