// The interface of a credential store: keys and the sessions opened with them, found by hash. The node makes and checks
// credentials.
//
// Only hashes are stored, so nobody can use the keys of a stolen database. Keys and session tokens are random and have at least
// 128 bits, so the hash is plain SHA-256. Slow hashes with a salt (scrypt, argon2) protect passwords, which can be guessed; these
// keys cannot be, and a slow hash for each request would make the node easy to overload. The lookup need not take constant time:
// the timing reveals only hashes, and an attacker cannot choose those.

/** What a key may do. `admin` includes the other three. */
export type Scope = 'read' | 'event' | 'gate' | 'admin';

/** A stored key. Times are unix ms. */
export interface Key {
  /** Public: identifies the key in answers and logs. */
  readonly id: string;
  /** SHA-256 of the key, lower-case hex. */
  readonly hash: string;
  /** The owner whose machines the key opens. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
  /** Slug of the only machine that it opens; undefined: every machine of its owner. */
  readonly machine: string | undefined;
  readonly createdAtMs: number;
  /** The key is not valid from this time on. */
  readonly expiresAtMs: number;
  readonly isRevoked: boolean;
  /** The network of the address that the first key of the owner was minted for; undefined where that is not known. */
  readonly network?: string | undefined;
}

/** A stored session: a key that was exchanged for a cookie. */
export interface Session {
  /** SHA-256 of the session token, lower-case hex. */
  readonly hash: string;
  readonly keyId: string;
  /** The session is not valid from this time on, in unix ms. */
  readonly expiresAtMs: number;
}

/** test/suite/credentials.ts tests every implementation. Reads see writes at once. The caller checks expiry. */
export interface Credentials {
  /** Stores a key and replaces one with the same id, so it also revokes. */
  putKey(key: Key): void;
  keyByHash(hash: string): Key | undefined;
  keyById(id: string): Key | undefined;
  /** Up to `limit` keys of an owner, revoked ones too, by id, after an id. */
  keysOf(owner: string, after: string, limit: number): readonly Key[];
  countKeys(owner: string): number;
  /** Whether an owner has a key that is neither revoked nor expired. */
  hasValidKey(owner: string, nowMs: number): boolean;
  /** @throws Bug if there is no such key */
  putSession(session: Session): void;
  /** The session, and the present state of the key it was opened with. */
  sessionByHash(hash: string): { readonly session: Session; readonly key: Key } | undefined;
  /** Does nothing if there is no such session. */
  deleteSession(hash: string): void;
  /** Deletes sessions and keys that expired at `nowMs` or before, and the sessions of such keys. @returns the number of both */
  purgeExpired(nowMs: number): number;
}
