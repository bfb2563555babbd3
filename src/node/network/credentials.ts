// Keys and sessions of a network. Each node has all of them: it reads them at the start and once a minute, and follows the directory's log.
import type { Key, Session } from '../store/credential-store.js';
import { MemoryCredentials } from '../store/memory-credentials.js';
import { DIRECTORY } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

const SCANNED = 200;
const PAGE = 1_000;

export type CredentialChange =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'session_ended'; readonly hash: string };

export class NetworkCredentials extends MemoryCredentials {
  onKey: (key: Key) => void = () => {};
  readonly #connection: RedisConnection;
  readonly #log: (change: CredentialChange) => Promise<void>;

  constructor(connection: RedisConnection, log: (change: CredentialChange) => Promise<void>) {
    super();
    this.#connection = connection;
    this.#log = log;
  }

  /** @throws Failure `store_away` */
  async writeKey(key: Key): Promise<void> {
    await this.#connection.command('HSET', `${DIRECTORY}keys`, key.id, JSON.stringify(key));
    await this.#announce({ kind: 'key', key });
  }

  /** @throws Failure `store_away` */
  async writeSession(session: Session): Promise<void> {
    const place = `${DIRECTORY}sessions`;
    await this.#connection.command('HSET', place, session.hash, JSON.stringify(session));
    await this.#announce({ kind: 'session', session });
  }

  /** @throws Failure `store_away` */
  async endSession(hash: string): Promise<void> {
    await this.#connection.command('HDEL', `${DIRECTORY}sessions`, hash);
    await this.#announce({ kind: 'session_ended', hash });
  }

  async #announce(change: CredentialChange): Promise<void> {
    await this.#log(change);
    this.take(change);
  }

  /** Here and in Redis. @throws Failure `store_away` */
  async purgeEverywhere(nowMs: number): Promise<void> {
    const expired = this.expired(nowMs);
    this.purgeExpired(nowMs);
    for (const [place, names] of Object.entries(expired))
      for (let from = 0; from < names.length; from += PAGE)
        await this.#connection.command('HDEL', `${DIRECTORY}${place}`, ...names.slice(from, from + PAGE));
  }

  /** Sessions that Redis no longer has have ended. @param reading reads one entry, or skips it if it is unreadable */
  async readAll(reading: (what: string, read: () => void) => Promise<void>): Promise<void> {
    const known = this.sessionHashes();
    const eachIn = async (place: 'keys' | 'sessions', changeOf: (text: string, name: string) => CredentialChange) => {
      for await (const [name, text] of this.#pairsOf(place))
        await reading(`${name} of the ${place}`, () => this.take(changeOf(text, name)));
    };
    await eachIn('keys', (text) => ({ kind: 'key', key: JSON.parse(text) }));
    const found = new Set<string>();
    await eachIn('sessions', (text, hash) => {
      found.add(hash);
      return { kind: 'session', session: JSON.parse(text) };
    });
    for (const hash of known) if (!found.has(hash)) this.take({ kind: 'session_ended', hash });
  }

  async *#pairsOf(place: 'keys' | 'sessions'): AsyncGenerator<readonly [name: string, text: string]> {
    let cursor = '0';
    do {
      const scan = ['HSCAN', `${DIRECTORY}${place}`, cursor, 'COUNT', String(SCANNED)];
      const [next, pairs] = await this.#connection.command<[string, string[]]>(...scan);
      for (let at = 0; at < pairs.length; at += 2) yield [pairs[at]!, pairs[at + 1]!];
      cursor = next;
    } while (cursor !== '0');
  }

  /** @throws Error for an unreadable change */
  take(change: CredentialChange): void {
    switch (change.kind) {
      case 'key': {
        const key = keyIn(change.key);
        const known = this.keyById(key.id);
        // It may be older than what this node has written: a revoked key stays revoked.
        if (known !== undefined && (known.isRevoked || JSON.stringify(known) === JSON.stringify(key))) return;
        this.putKey(key);
        if (known !== undefined) this.onKey(key);
        return;
      }
      case 'session': {
        const { hash, keyId, expiresAtMs } = change.session;
        checkTexts(hash, keyId);
        if (this.keyById(keyId) !== undefined) this.putSession({ hash, keyId, expiresAtMs });
        return;
      }
      case 'session_ended':
        this.deleteSession(change.hash);
        return;
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

function checkTexts(...fields: unknown[]): void {
  if (!fields.every((field) => typeof field === 'string')) throw new Error('a field is missing');
}
