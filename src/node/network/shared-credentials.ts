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

  /** What another node has written. */
  take(change: CredentialChange): void {
    switch (change.kind) {
      case 'key':
        super.putKey(keyIn(change.key));
        break;
      case 'session':
        if (this.keyById(change.session.keyId) !== undefined) super.putSession(change.session);
        break;
      case 'session_ended':
        super.deleteSession(change.hash);
        break;
    }
  }
}

/** JSON leaves out a field that is undefined. */
function keyIn(parsed: Key): Key {
  return { ...parsed, machine: parsed.machine };
}
