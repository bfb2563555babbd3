// Keys in the database of the node's store: durable with the next commit of the store.
import type { Credentials, Key } from './credential-store.js';
import type { SqliteConnection } from './sqlite-connection.js';

export class SqliteCredentials implements Credentials {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  putKey(key: Key): void {
    const { id, hash, owner, expiresAtMs, isRevoked } = key;
    this.#connection.run(
      `INSERT INTO keys (id, hash, owner, expires_at_ms, is_revoked, text) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, owner = excluded.owner,
         expires_at_ms = excluded.expires_at_ms, is_revoked = excluded.is_revoked, text = excluded.text`,
      ...[id, hash, owner, expiresAtMs, isRevoked ? 1 : 0, JSON.stringify(key)],
    );
  }

  keyByHash(hash: string): Key | undefined {
    return this.#keys('WHERE hash = ?', hash)[0];
  }

  keyById(id: string): Key | undefined {
    return this.#keys('WHERE id = ?', id)[0];
  }

  keysOf(owner: string, after: string, limit: number): readonly Key[] {
    return this.#keys('WHERE owner = ? AND id > ? ORDER BY id LIMIT ?', owner, after, limit);
  }

  countKeys(owner: string): number {
    const sql = 'SELECT COUNT(*) AS count FROM keys WHERE owner = ?';
    return this.#connection.get<{ count: number }>(sql, owner)!.count;
  }

  hasValidKey(owner: string, nowMs: number): boolean {
    const sql = 'SELECT 1 FROM keys WHERE owner = ? AND expires_at_ms > ? AND is_revoked = 0 LIMIT 1';
    return this.#connection.get(sql, owner, nowMs) !== undefined;
  }

  purgeExpired(nowMs: number): readonly string[] {
    const sql = 'DELETE FROM keys WHERE expires_at_ms <= ? RETURNING id';
    return this.#connection.all<{ id: string }>(sql, nowMs).map(({ id }) => id);
  }

  #keys(where: string, ...values: (string | number)[]): Key[] {
    const found = this.#connection.all<{ text: string }>(`SELECT text FROM keys ${where}`, ...values);
    return found.map(({ text }) => this.#connection.parsed(text, 'A key'));
  }
}
