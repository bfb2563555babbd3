// What every node knows of the whole network: machines with their contracts, keys and sessions. Read as a whole at the start and once a minute, and
// followed meanwhile by a log in Redis, of which every node hears when something is added.
//
//   POST …/state-machines on node a ─► Redis ─► log ─(published)─► nodes b, c read what is new
//   a request for something that node b does not know ─► b reads the log before it says that there is no such thing
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { AuditRow, Checkpoint } from '../../record/row.js';
import { Failure } from '../../schema/failure.js';
import type { Key } from '../../store/credential-store.js';
import { DIRECTORY, prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import type { RowQuery } from '../../store/store.js';
import { KnownMachines, removedPlace } from './known-machines.js';
import { type CredentialChange, SharedCredentials } from './shared-credentials.js';

/** Changes that are kept in the log. */
const LOG_LENGTH = 10_000;
const PAGE = 1_000;
/** For how long Redis knows that the record of a machine was removed, and that it was not lost; in ms. */
const REMOVED_KNOWN_MS = String(366 * 86_400_000);
/** Keys that are read in one turn of the loop. */
const SCANNED = 200;

/**
 * How often keys, sessions and the list of machines are read anew, in ms: what was not heard, because an entry of the log could not be read or was
 * cut off before this node had read it, is known after this time at the latest.
 */
const ANEW_MS = 60_000;

type Change = { readonly kind: 'machine'; readonly slug: string } | CredentialChange;

export class Directory extends KnownMachines {
  readonly credentials: SharedCredentials;
  /** Set by the node: told of each key that another node has changed. */
  onKey: (key: Key) => void = () => {};
  #last = '0-0';
  #following: Promise<void> | undefined;
  /** Why the log could not be read the last time. */
  failure: Failure | undefined;
  #followingNext: Promise<void> | undefined;
  /** What is being written; what failed is what they resolve to. */
  readonly #pending = new Set<Promise<unknown>>();
  /** Those of the request at work. */
  #own: Promise<unknown>[] = [];

  readonly #onError: (error: unknown) => void;
  /** When everything is read anew, by our monotonic clock. */
  #anewMs = 0;

  /** @param onError receives what cannot be read; it is skipped */
  constructor(connection: RedisConnection, onError: (error: unknown) => void) {
    super(connection);
    this.#onError = onError;
    // Each node forgets what has expired, and once more where Redis was away.
    this.credentials = new SharedCredentials(
      (change) => this.keep(this.#written(change)),
      (place, names) => void this.#forget(place, names).catch(() => {}),
    );
  }

  /** Reads everything. */
  async load(host: Host): Promise<void> {
    this.host = host;
    const [newest] = await this.connection.command<[string][]>(
      DIRECTORY,
      'XREVRANGE',
      `${DIRECTORY}log`,
      '+',
      '-',
      'COUNT',
      '1',
    );
    await this.#readCredentials();
    await this.#readMachines();
    if (newest !== undefined) this.#last = newest[0];
  }

  /**
   * What was done here is in Redis once this resolves. To be called in the turn that kept it: a request is told what became of its own.
   * @throws Failure `store_away`
   */
  async settled(): Promise<void> {
    const own = this.#own;
    this.#own = [];
    await Promise.all(this.#pending);
    for (const failure of await Promise.all(own)) if (failure !== undefined) throw failure;
  }

  /** A new key, unless its owner has `most` of them on the whole network. @returns whether it holds now @throws Failure `store_away` */
  async makeKey(key: Key, most: number): Promise<boolean> {
    const isMade = await this.#putKey(key, most);
    if (isMade) this.credentials.take({ kind: 'key', key });
    return isMade;
  }

  /** Counts the keys of owners, once for a network: of one that a version before this one began. */
  async countKeys(): Promise<void> {
    const keys = (await this.connection.command(DIRECTORY, 'HVALS', `${DIRECTORY}keys`)) as string[];
    for (const text of keys) {
      const { owner, id, expiresAtMs } = JSON.parse(text) as Key;
      await this.connection.command(DIRECTORY, 'ZADD', `${DIRECTORY}k:${owner}`, 'NX', String(expiresAtMs), id);
    }
  }

  /** To be waited for by `settled`. */
  keep(work: Promise<unknown>): void {
    const kept: Promise<unknown> = work
      .then(
        () => undefined,
        (error) => error,
      )
      .finally(() => this.#pending.delete(kept));
    this.#pending.add(kept);
    this.#own.push(kept);
  }

  /** Reads what other nodes have added until now. All who ask while it is being read share the next reading: this one may have passed it. */
  follow(): Promise<void> {
    if (this.#following === undefined) {
      this.#following = this.#read()
        .then(
          () => {
            this.failure = undefined;
          },
          (error) => {
            if (error instanceof Failure) this.failure = error;
            throw error;
          },
        )
        .finally(() => {
          this.#following = undefined;
        });
      return this.#following;
    }
    this.#followingNext ??= this.#following
      .catch(() => {})
      .then(() => {
        this.#followingNext = undefined;
        return this.follow();
      });
    return this.#followingNext;
  }

  /** Reads everything anew, if it is time. @throws Failure `store_away` */
  async readAnew(nowMs = this.connection.monotonicMs()): Promise<void> {
    if (nowMs < this.#anewMs) return;
    await this.#readCredentials();
    await this.#readMachines();
  }

  /** Says to all nodes that something of a machine is gone, and learns it. */
  async announceGone(slug: string): Promise<void> {
    await this.#log({ kind: 'machine', slug });
    await this.learn(slug);
  }

  /**
   * The record of a machine is removed by `work`: that it was is known first, so that nobody takes it for lost.
   * @param seq of its last row
   */
  async remove({ slug, image }: Machine, seq: number, work: () => Promise<boolean>): Promise<void> {
    const what = `${seq} ${image.createdCycle}`;
    await this.connection.command(DIRECTORY, 'SET', removedPlace(slug), what, 'PX', REMOVED_KNOWN_MS);
    if (!(await work())) return;
    await this.connection.command(DIRECTORY, 'SREM', `${DIRECTORY}machines`, slug);
    await this.announceGone(slug);
  }

  /** Tells all nodes of a machine that is new, or has a new contract. */
  async announce(slug: string): Promise<void> {
    await this.connection.command(DIRECTORY, 'SADD', `${DIRECTORY}machines`, slug);
    await this.#log({ kind: 'machine', slug });
  }

  /** Rows of a record in order of seq, as `Store.rows`. */
  async rows(slug: string, query: RowQuery = {}): Promise<readonly AuditRow[]> {
    const { afterSeq = 0, toSeq, limit = 100, kind, contractId, fromCycle = 0, toCycle = Infinity } = query;
    const prefix = prefixOf(slug);
    const found: AuditRow[] = [];
    for (let after = afterSeq; found.length < limit; ) {
      const end = toSeq === undefined ? '+' : `${toSeq}-0`;
      if (toSeq !== undefined && after >= toSeq) break;
      const most = String(Math.max(limit - found.length, 50));
      const page = (await this.connection.command(
        prefix,
        ...['XRANGE', `${prefix}r:${slug}`, `${after + 1}-0`, end, 'COUNT', most],
      )) as [string, [string, string]][];
      if (page.length === 0) break;
      for (const [, [, text]] of page) {
        const row = JSON.parse(text) as AuditRow;
        after = row.seq;
        const fits = (kind ?? row.kind) === row.kind && (contractId ?? row.contract_id) === row.contract_id;
        if (fits && row.cycle >= fromCycle && row.cycle <= toCycle && found.length < limit) found.push(row);
      }
    }
    return found;
  }

  /** A network keeps all rows. */
  cut(_slug: string): undefined {
    return undefined;
  }

  async checkpoint(slug: string): Promise<Checkpoint | undefined> {
    const prefix = prefixOf(slug);
    const text = await this.connection.command<string | null>(prefix, 'HGET', `${prefix}m:${slug}`, 'checkpoint');
    return text === null ? undefined : JSON.parse(text);
  }

  async #written(change: CredentialChange): Promise<void> {
    switch (change.kind) {
      case 'key':
        await this.#putKey(change.key);
        return;
      case 'session':
        await this.connection.command(
          DIRECTORY,
          ...['HSET', `${DIRECTORY}sessions`, change.session.hash, JSON.stringify(change.session)],
        );
        break;
      case 'session_ended':
        await this.connection.command(DIRECTORY, 'HDEL', `${DIRECTORY}sessions`, change.hash);
        break;
    }
    await this.#log(change);
  }

  /** @returns whether there was room for it */
  async #putKey(key: Key, most = -1): Promise<boolean> {
    const { id, owner, expiresAtMs } = key;
    const change: Change = { kind: 'key', key };
    const [, isDone] = (await this.connection.call('putkey', DIRECTORY, [
      ...[String(this.connection.deadline()), '1', owner, id, String(expiresAtMs), String(most)],
      ...[JSON.stringify(key), JSON.stringify(change), String(LOG_LENGTH)],
    ])) as number[];
    return isDone === 1;
  }

  async #forget(place: 'keys' | 'sessions', names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += PAGE)
      await this.connection.command(DIRECTORY, 'HDEL', `${DIRECTORY}${place}`, ...names.slice(from, from + PAGE));
  }

  async #log(change: Change): Promise<void> {
    const text = JSON.stringify(change);
    await this.connection.command(
      DIRECTORY,
      ...['XADD', `${DIRECTORY}log`, 'MAXLEN', '~', String(LOG_LENGTH), '*', 'change', text],
    );
    await this.connection.command(DIRECTORY, 'PUBLISH', 'weir:log', '');
  }

  /** Keys and sessions as Redis has them. Sessions that it does not have any more have ended. */
  async #readCredentials(): Promise<void> {
    this.#anewMs = this.connection.monotonicMs() + ANEW_MS;
    const known = this.credentials.sessionHashes();
    await this.#eachIn('keys', (text) => this.#take({ kind: 'key', key: JSON.parse(text) }));
    const found = new Set<string>();
    await this.#eachIn('sessions', (text, hash) => {
      found.add(hash);
      this.#take({ kind: 'session', session: JSON.parse(text) });
    });
    for (const hash of known) if (!found.has(hash)) this.#take({ kind: 'session_ended', hash });
  }

  async #readMachines(): Promise<void> {
    const slugs = (await this.connection.command(DIRECTORY, 'SMEMBERS', `${DIRECTORY}machines`)) as string[];
    for (let from = 0; from < slugs.length; from += 100)
      await Promise.all(slugs.slice(from, from + 100).map((slug) => this.#ifReadable(slug, this.catchUp(slug))));
  }

  async #eachIn(place: 'keys' | 'sessions', take: (text: string, name: string) => void): Promise<void> {
    let cursor = '0';
    do {
      const scan = ['HSCAN', `${DIRECTORY}${place}`, cursor, 'COUNT', String(SCANNED)];
      const [next, pairs] = await this.connection.command<[string, string[]]>(DIRECTORY, ...scan);
      for (let at = 0; at < pairs.length; at += 2) {
        const name = pairs[at]!;
        this.#reading(`${name} of the ${place}`, () => take(pairs[at + 1]!, name));
      }
      cursor = next;
    } while (cursor !== '0');
  }

  #take(change: CredentialChange): void {
    const key = this.credentials.take(change);
    if (key !== undefined) this.onKey(key);
  }

  /** What cannot be read is logged and skipped: what comes after it is read all the same. */
  #reading(what: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#skipped(what, error);
    }
  }

  async #ifReadable(slug: string, learning: Promise<void>): Promise<void> {
    try {
      await learning;
    } catch (error) {
      if (this.connection.failure !== undefined) throw error;
      this.#skipped(`the machine ${JSON.stringify(slug)}`, error);
    }
  }

  #skipped(what: string, cause: unknown): void {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#onError(new Error(`Redis has something that cannot be read, and it was skipped: ${what}: ${why}`, { cause }));
  }

  async #read(): Promise<void> {
    for (;;) {
      const page = (await this.connection.command(
        DIRECTORY,
        ...['XRANGE', `${DIRECTORY}log`, `(${this.#last}`, '+', 'COUNT', String(PAGE)],
      )) as [string, [string, string]][];
      const slugs = new Set<string>();
      for (const [id, fields] of page) {
        this.#reading(`entry ${id} of the log`, () => {
          const change = JSON.parse(fields[1]) as Change;
          if (change.kind === 'machine') slugs.add(change.slug);
          else this.#take(change);
        });
      }
      for (const slug of slugs) await this.#ifReadable(slug, this.learn(slug));
      this.#last = page.at(-1)?.[0] ?? this.#last;
      if (page.length < PAGE) return;
    }
  }
}
