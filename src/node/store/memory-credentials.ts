// Credentials in memory, lost when the process ends.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { assert } from '../../core/schema/failure.js';
import type { Credentials, Key, Session } from './credential-store.js';

export class MemoryCredentials implements Credentials {
  readonly #keys = new Map<string, Key>();
  readonly #keysByHash = new Map<string, Key>();
  readonly #keysByOwner = new Map<string, Set<string>>();
  readonly #sessions = new Map<string, Session>();

  putKey(key: Key): void {
    const replaced = this.#keys.get(key.id);
    if (replaced !== undefined) this.#keysByHash.delete(replaced.hash);
    this.#keys.set(key.id, key);
    this.#keysByHash.set(key.hash, key);
    getOrInsert(this.#keysByOwner, key.owner, () => new Set()).add(key.id);
  }

  keyByHash(hash: string): Key | undefined {
    return this.#keysByHash.get(hash);
  }

  keyById(id: string): Key | undefined {
    return this.#keys.get(id);
  }

  keysOf(owner: string, after: string, limit: number): readonly Key[] {
    const owned = [...(this.#keysByOwner.get(owner) ?? [])].filter((id) => id > after).map((id) => this.#keys.get(id)!);
    return owned.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  countKeys(owner: string): number {
    return this.#keysByOwner.get(owner)?.size ?? 0;
  }

  hasValidKey(owner: string, nowMs: number): boolean {
    for (const key of this.#keysByOwner.get(owner) ?? []) {
      const { isRevoked, expiresAtMs } = this.#keys.get(key)!;
      if (!isRevoked && nowMs < expiresAtMs) return true;
    }
    return false;
  }

  putSession(session: Session): void {
    assert(this.#keys.has(session.keyId), `there is no key ${session.keyId} for a session`);
    this.#sessions.set(session.hash, session);
  }

  sessionByHash(hash: string): { readonly session: Session; readonly key: Key } | undefined {
    const session = this.#sessions.get(hash);
    const key = session && this.#keys.get(session.keyId);
    return session && key && { session, key };
  }

  sessionHashes(): string[] {
    return [...this.#sessions.keys()];
  }

  deleteSession(hash: string): void {
    this.#sessions.delete(hash);
  }

  purgeExpired(nowMs: number): number {
    const { keys, sessions } = this.expired(nowMs);
    for (const id of keys) {
      const { hash, owner } = this.#keys.get(id)!;
      this.#keys.delete(id);
      this.#keysByHash.delete(hash);
      const ids = this.#keysByOwner.get(owner);
      ids?.delete(id);
      if (ids?.size === 0) this.#keysByOwner.delete(owner);
    }
    for (const hash of sessions) this.#sessions.delete(hash);
    return keys.length + sessions.length;
  }

  expired(nowMs: number): { readonly keys: readonly string[]; readonly sessions: readonly string[] } {
    const isOver = ({ expiresAtMs }: Key | Session) => expiresAtMs <= nowMs;
    const keys = [...this.#keys.values()].filter(isOver).map(({ id }) => id);
    const gone = new Set(keys);
    const sessions = [...this.#sessions.values()].filter((one) => isOver(one) || gone.has(one.keyId));
    return { keys, sessions: sessions.map(({ hash }) => hash) };
  }
}
