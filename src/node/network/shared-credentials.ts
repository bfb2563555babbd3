// Keys and sessions of a network, as a node knows them: what it writes goes to Redis, too; `Directory.settled` says when it is there.
import type { Key, Session } from '../../store/credential-store.js';
import { MemoryCredentials } from '../../store/memory-credentials.js';

export type CredentialChange =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'session_ended'; readonly hash: string };

type Forget = (place: 'keys' | 'sessions', names: readonly string[]) => void;

export class SharedCredentials extends MemoryCredentials {
  readonly #write: (change: CredentialChange) => void;

  readonly #forget: Forget;

  constructor(write: (change: CredentialChange) => void, forget: Forget) {
    super();
    this.#write = write;
    this.#forget = forget;
  }

  override putKey(key: Key): void {
    super.putKey(key);
    this.#write({ kind: 'key', key });
  }

  override putSession(session: Session): void {
    super.putSession(session);
    this.#write({ kind: 'session', session });
  }

  override deleteSession(hash: string): void {
    super.deleteSession(hash);
    this.#write({ kind: 'session_ended', hash });
  }

  protected override forgotten(keys: readonly Key[], sessions: readonly Session[]): void {
    this.#forget(
      'keys',
      keys.map(({ id }) => id),
    );
    this.#forget(
      'sessions',
      sessions.map(({ hash }) => hash),
    );
  }

  /** What another node has written. @returns the key, if it is another one than was known @throws Error for what cannot be read */
  take(change: CredentialChange): Key | undefined {
    switch (change.kind) {
      case 'key': {
        const key = keyIn(change.key);
        const known = this.keyById(key.id);
        // What is read may be older than what this node has just written: a key that is revoked stays so.
        if (known !== undefined && (known.isRevoked || isSame(known, key))) return undefined;
        super.putKey(key);
        return key;
      }
      case 'session': {
        const { hash, keyId, expiresAtMs } = change.session;
        checkTexts(hash, keyId);
        if (this.keyById(keyId) !== undefined) super.putSession({ hash, keyId, expiresAtMs });
        return undefined;
      }
      case 'session_ended':
        super.deleteSession(change.hash);
        return undefined;
      default:
        throw new Error('it is no change that this version knows');
    }
  }
}

/** JSON leaves out a field that is undefined. */
function keyIn(parsed: Key): Key {
  checkTexts(parsed.id, parsed.hash, parsed.owner, ...parsed.scopes);
  return { ...parsed, machine: parsed.machine };
}

function isSame(a: Key, b: Key): boolean {
  return (
    a.hash === b.hash &&
    a.owner === b.owner &&
    a.machine === b.machine &&
    a.expiresAtMs === b.expiresAtMs &&
    a.isRevoked === b.isRevoked &&
    a.scopes.join() === b.scopes.join()
  );
}

function checkTexts(...fields: unknown[]): void {
  if (!fields.every((field) => typeof field === 'string')) throw new Error('a field is missing');
}
