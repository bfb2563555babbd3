// Owns the promise of a keeper of credentials: keys and the sessions opened with them, found by hash. Leaves keeping to
// memory-credentials.ts and sqlite-credentials.ts, making and checking credentials to the node.
//
// Only hashes are kept: whoever reads the database can use none of its keys. Keys and session tokens are drawn at random with at
// least 128 bits, so the hash is plain SHA-256: slow hashes with a salt (scrypt, argon2) are for passwords, which can be guessed
// one after the other; nobody can guess these, and a slow hash at every request would be a way to bring the node down. For the
// same reason looking a hash up need not take constant time: who cannot choose a hash learns nothing from how long it took.

/** A key as it is kept. Times are unix ms. */
export interface Key {
  /** Public: names the key in answers and logs. */
  readonly id: string;
  /** SHA-256 of the key, lower-case hex. */
  readonly hash: string;
  /** Whose machines the key opens. */
  readonly owner: string;
  readonly createdAtMs: number;
  /** From this moment on the key is not valid. */
  readonly expiresAtMs: number;
  readonly isRevoked: boolean;
}

/** A session as it is kept: a key that was exchanged for a cookie. */
export interface Session {
  /** SHA-256 of the session token, lower-case hex. */
  readonly hash: string;
  readonly keyId: string;
  /** From this moment on the session is not valid, in unix ms. */
  readonly expiresAtMs: number;
}

/** Held by test/suite/credentials.ts for every implementation. Reads see what was written at once; times are the caller's to check. */
export interface Credentials {
  /** Keeps a key; one with the same id is replaced, so this revokes, too. */
  putKey(key: Key): void;
  keyByHash(hash: string): Key | undefined;
  /** @throws Bug when there is no such key */
  putSession(session: Session): void;
  /** The session, and the key it was opened with, as it is now. */
  sessionByHash(hash: string): { readonly session: Session; readonly key: Key } | undefined;
  /** Does nothing when there is no such session. */
  deleteSession(hash: string): void;
  /** Forgets sessions and keys that expired at `nowMs` or before, and the sessions of such keys. @returns how many of both */
  purgeExpired(nowMs: number): number;
}
