// The interface of a credential store: keys, found by hash. The node makes and checks credentials. A session is a key, too: the owner of it is
// the key that it was opened with, and it holds as long as both do.
//
// Only hashes are stored, so a stolen database opens nothing. Keys and session tokens are random with at least 128 bits, so the hash is
// plain SHA-256: slow salted hashes (scrypt, argon2) are for passwords, which can be guessed, and would make the node easy to overload.
// Lookups need not take constant time: their timing reveals only hashes, which an attacker cannot choose.
import { getOrInsert } from '../../core/math/get-or-insert.js';

/** `admin` includes the other three. */
export type Scope = 'read' | 'event' | 'gate' | 'admin';

export interface Key {
  /** Public: identifies the key in answers and logs. */
  readonly id: string;
  readonly hash: string;
  readonly owner: string;
  readonly scopes: readonly Scope[];
  /** Slug of the only machine that it opens; undefined: every machine of its owner. */
  readonly machine: string | undefined;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly isRevoked: boolean;
  /** From when it was made; absent unless an overlap has shortened it. */
  readonly lifetimeMs?: number;
  /** Network of the client address for which the owner's first key was minted; undefined if unknown. */
  readonly network?: string | undefined;
}

/** test/suite/credentials.ts tests every implementation. Reads see writes at once. The caller checks expiry. */
export interface Credentials {
  /** Replaces a key with the same id, so it also revokes. */
  putKey(key: Key): void;
  keyByHash(hash: string): Key | undefined;
  keyById(id: string): Key | undefined;
  /** Includes revoked keys; ordered by id, after the id `after`. */
  keysOf(owner: string, after: string, limit: number): readonly Key[];
  countKeys(owner: string): number;
  hasValidKey(owner: string, nowMs: number): boolean;
  /** Deletes expired keys. @returns their ids */
  purgeExpired(nowMs: number): readonly string[];
}

/** Lost when the process ends. */
export class MemoryCredentials implements Credentials {
  readonly #keys = new Map<string, Key>();
  readonly #keysByHash = new Map<string, Key>();
  readonly #keysByOwner = new Map<string, Set<string>>();

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

  purgeExpired(nowMs: number): readonly string[] {
    const expired = [...this.#keys.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
    for (const { id, hash, owner } of expired) {
      this.#keys.delete(id);
      this.#keysByHash.delete(hash);
      const ids = this.#keysByOwner.get(owner);
      ids?.delete(id);
      if (ids?.size === 0) this.#keysByOwner.delete(owner);
    }
    return expired.map(({ id }) => id);
  }
}
