// Keys and sessions in the database of the node's store: durable with the next commit of the store.
import type { Statement } from 'better-sqlite3';
import type { Credentials, Key, Scope, Session } from './credential-store.js';
import type { SqliteConnection } from './sqlite-connection.js';

export class SqliteCredentials implements Credentials {
  readonly #connection: SqliteConnection;
  readonly #putKey: Statement<[string, string, string, string, string | null, number, number, number, string | null]>;
  readonly #keyByHash: Statement<[string], KeyColumns>;
  readonly #keyById: Statement<[string], KeyColumns>;
  readonly #keysOf: Statement<[string, string, number], KeyColumns>;
  readonly #countKeys: Statement<[string], { readonly count: number }>;
  readonly #validKey: Statement<[string, number]>;
  readonly #putSession: Statement<[string, string, number]>;
  readonly #sessionByHash: Statement<[string], SessionColumns>;
  readonly #deleteSession: Statement<[string]>;
  readonly #purgeSessions: Statement<[number, number]>;
  readonly #purgeKeys: Statement<[number]>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#putKey = connection.prepare(`
      INSERT INTO keys (id, hash, owner, scopes, machine, created_at_ms, expires_at_ms, is_revoked, network)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, owner = excluded.owner, scopes = excluded.scopes,
        machine = excluded.machine, created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms,
        is_revoked = excluded.is_revoked, network = excluded.network`);
    this.#keyByHash = connection.prepare('SELECT * FROM keys WHERE hash = ?');
    this.#keyById = connection.prepare('SELECT * FROM keys WHERE id = ?');
    this.#keysOf = connection.prepare('SELECT * FROM keys WHERE owner = ? AND id > ? ORDER BY id LIMIT ?');
    this.#countKeys = connection.prepare('SELECT COUNT(*) AS count FROM keys WHERE owner = ?');
    this.#validKey = connection.prepare(
      'SELECT 1 FROM keys WHERE owner = ? AND expires_at_ms > ? AND is_revoked = 0 LIMIT 1',
    );
    this.#putSession = connection.prepare(`
      INSERT INTO sessions (hash, key_id, expires_at_ms) VALUES (?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET key_id = excluded.key_id, expires_at_ms = excluded.expires_at_ms`);
    this.#sessionByHash = connection.prepare(`
      SELECT keys.*, sessions.expires_at_ms AS session_expires_at_ms
      FROM sessions JOIN keys ON keys.id = sessions.key_id WHERE sessions.hash = ?`);
    this.#deleteSession = connection.prepare('DELETE FROM sessions WHERE hash = ?');
    this.#purgeSessions = connection.prepare(`
      DELETE FROM sessions
      WHERE expires_at_ms <= ? OR key_id IN (SELECT id FROM keys WHERE expires_at_ms <= ?)`);
    this.#purgeKeys = connection.prepare('DELETE FROM keys WHERE expires_at_ms <= ?');
  }

  putKey({ id, hash, owner, scopes, machine, createdAtMs, expiresAtMs, isRevoked, network }: Key): void {
    const only = machine ?? null;
    this.#connection.write(() =>
      this.#putKey.run(
        ...([id, hash, owner, scopes.join(' '), only, createdAtMs, expiresAtMs, isRevoked ? 1 : 0] as const),
        network ?? null,
      ),
    );
  }

  keyByHash(hash: string): Key | undefined {
    const columns = this.#connection.read(() => this.#keyByHash.get(hash));
    return columns && keyOf(columns);
  }

  keyById(id: string): Key | undefined {
    const columns = this.#connection.read(() => this.#keyById.get(id));
    return columns && keyOf(columns);
  }

  keysOf(owner: string, after: string, limit: number): readonly Key[] {
    return this.#connection.read(() => this.#keysOf.all(owner, after, limit)).map(keyOf);
  }

  countKeys(owner: string): number {
    return this.#connection.read(() => this.#countKeys.get(owner))?.count ?? 0;
  }

  hasValidKey(owner: string, nowMs: number): boolean {
    return this.#connection.read(() => this.#validKey.get(owner, nowMs)) !== undefined;
  }

  putSession({ hash, keyId, expiresAtMs }: Session): void {
    this.#connection.write(() => this.#putSession.run(hash, keyId, expiresAtMs));
  }

  sessionByHash(hash: string): { readonly session: Session; readonly key: Key } | undefined {
    const columns = this.#connection.read(() => this.#sessionByHash.get(hash));
    if (columns === undefined) return undefined;
    const key = keyOf(columns);
    return { session: { hash, keyId: key.id, expiresAtMs: columns.session_expires_at_ms }, key };
  }

  deleteSession(hash: string): void {
    this.#connection.write(() => this.#deleteSession.run(hash));
  }

  purgeExpired(nowMs: number): number {
    return this.#connection.write(
      () => this.#purgeSessions.run(nowMs, nowMs).changes + this.#purgeKeys.run(nowMs).changes,
    );
  }
}

interface KeyColumns {
  readonly id: string;
  readonly hash: string;
  readonly owner: string;
  readonly scopes: string;
  readonly machine: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly is_revoked: number;
  readonly network: string | null;
}

interface SessionColumns extends KeyColumns {
  readonly session_expires_at_ms: number;
}

function keyOf({
  id,
  hash,
  owner,
  scopes,
  machine,
  created_at_ms,
  expires_at_ms,
  is_revoked,
  network,
}: KeyColumns): Key {
  return {
    id,
    hash,
    owner,
    scopes: scopes.split(' ') as Scope[],
    machine: machine ?? undefined,
    createdAtMs: created_at_ms,
    expiresAtMs: expires_at_ms,
    isRevoked: is_revoked === 1,
    ...(network === null ? {} : { network }),
  };
}
