// Credentials in memory, lost when the process ends.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { Credentials, Key } from './credential-store.js';

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
