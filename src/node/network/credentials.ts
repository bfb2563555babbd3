// Keys and sessions of a network. Each node has all of them: it reads them at the start and once a minute, and follows the directory's log.
import { type Key, MemoryCredentials } from '../store/credential-store.js';
import { DIRECTORY } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

const PLACE = `${DIRECTORY}keys`;
const SCANNED = 200;
const PAGE = 1_000;

export interface KeyWritten {
  readonly kind: 'key';
  readonly key: Key;
}

export class NetworkCredentials extends MemoryCredentials {
  onKey: (key: Key) => void = () => {};
  readonly #connection: RedisConnection;
  readonly #log: (written: KeyWritten) => Promise<void>;

  constructor(connection: RedisConnection, log: (written: KeyWritten) => Promise<void>) {
    super();
    this.#connection = connection;
    this.#log = log;
  }

  /** @throws Failure `store_away` */
  async writeKey(key: Key): Promise<void> {
    await this.#connection.command('HSET', PLACE, key.id, JSON.stringify(key));
    await this.#log({ kind: 'key', key });
    this.take(key);
  }

  /** Here and in Redis. @throws Failure `store_away` */
  async purgeEverywhere(nowMs: number): Promise<void> {
    const ids = this.purgeExpired(nowMs);
    for (let from = 0; from < ids.length; from += PAGE)
      await this.#connection.command('HDEL', PLACE, ...ids.slice(from, from + PAGE));
  }

  /** @param reading reads one entry, or skips it if it is unreadable */
  async readAll(reading: (what: string, read: () => void) => Promise<void>): Promise<void> {
    let cursor = '0';
    do {
      const scan = ['HSCAN', PLACE, cursor, 'COUNT', String(SCANNED)];
      const [next, pairs] = await this.#connection.command<[string, string[]]>(...scan);
      for (let at = 0; at < pairs.length; at += 2)
        await reading(`${pairs[at]} of the keys`, () => this.take(JSON.parse(pairs[at + 1]!)));
      cursor = next;
    } while (cursor !== '0');
  }

  /** @throws Error for an unreadable key */
  take(parsed: Key): void {
    const { id, hash, owner, scopes, machine } = parsed;
    if (![id, hash, owner, ...scopes].every((field) => typeof field === 'string'))
      throw new Error('a field is missing');
    // JSON leaves out a field that is undefined.
    const key = { ...parsed, machine };
    const known = this.keyById(id);
    // It may be older than what this node has written: a revoked key stays revoked.
    if (known !== undefined && (known.isRevoked || JSON.stringify(known) === JSON.stringify(key))) return;
    this.putKey(key);
    if (known !== undefined) this.onKey(key);
  }
}
