// Keys and sessions in the database of the node's store: durable with the next commit of the store.
import type { Credentials, Key, Session } from './credential-store.js';
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

  putSession({ hash, keyId, expiresAtMs }: Session): void {
    this.#connection.run(
      `INSERT INTO sessions (hash, key_id, expires_at_ms) VALUES (?, ?, ?)
       ON CONFLICT (hash) DO UPDATE SET key_id = excluded.key_id, expires_at_ms = excluded.expires_at_ms`,
      ...[hash, keyId, expiresAtMs],
    );
  }

  sessionByHash(hash: string): { readonly session: Session; readonly key: Key } | undefined {
    const session = this.#connection.get<Session>(
      'SELECT hash, key_id AS keyId, expires_at_ms AS expiresAtMs FROM sessions WHERE hash = ?',
      hash,
    );
    return session && { session, key: this.keyById(session.keyId)! };
  }

  deleteSession(hash: string): void {
    this.#connection.run('DELETE FROM sessions WHERE hash = ?', hash);
  }

  purgeExpired(nowMs: number): number {
    const sessions = this.#connection.run(
      `DELETE FROM sessions WHERE expires_at_ms <= ? OR key_id IN (SELECT id FROM keys WHERE expires_at_ms <= ?)`,
      ...[nowMs, nowMs],
    );
    return sessions + this.#connection.run('DELETE FROM keys WHERE expires_at_ms <= ?', nowMs);
  }

  #keys(where: string, ...values: (string | number)[]): Key[] {
    const found = this.#connection.all<{ text: string }>(`SELECT text FROM keys ${where}`, ...values);
    return found.map(({ text }) => this.#connection.parsed(text, 'A key'));
  }
}
