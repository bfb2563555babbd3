// What every node knows of the network: machines, contracts, keys and sessions. Read at the start and once a minute; a log in Redis adds news.
//
//   POST …/state-machines on node a ─► Redis ─► log ─(published)─► nodes b, c read what is new
//   a request for something that node b does not know ─► b reads the log before it answers that there is no such thing
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { AuditRow, Checkpoint } from '../../record/row.js';
import { Failure } from '../../schema/failure.js';
import { DIRECTORY, prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import type { RowQuery } from '../../store/store.js';
import { type CredentialChange, LOG_LENGTH, NetworkCredentials } from './credentials.js';
import { KnownMachines, removedPlace } from './known-machines.js';

const PAGE = 1_000;
/** How long Redis knows, in ms, that a record was removed and not lost. */
const REMOVED_KNOWN_MS = String(366 * 86_400_000);

/** How often all is read again, in ms: for log entries that were unreadable, or cut off before this node read them. */
const RELOAD_MS = 60_000;

type Change = { readonly kind: 'machine'; readonly slug: string } | CredentialChange;

export class Directory extends KnownMachines {
  readonly credentials: NetworkCredentials;
  #last = '0-0';
  #following: Promise<void> | undefined;
  failure: Failure | undefined;
  #followingNext: Promise<void> | undefined;
  readonly #onError: (error: unknown) => void;
  #nextReloadMs = 0;

  /** @param onError receives what cannot be read, and is skipped */
  constructor(connection: RedisConnection, onError: (error: unknown) => void) {
    super(connection);
    this.#onError = onError;
    this.credentials = new NetworkCredentials(connection, (change) => this.#log(change));
  }

  async load(host: Host): Promise<void> {
    this.host = host;
    const [newest] = await this.connection.command<[string][]>('XREVRANGE', `${DIRECTORY}log`, '+', '-', 'COUNT', '1');
    await this.#readCredentials();
    await this.#readMachines();
    if (newest !== undefined) this.#last = newest[0];
  }

  /** Reads the log. Calls during a reading share the next one: the current one may have passed their entry. */
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

  /** If it is time. @throws Failure `store_away` */
  async reloadIfDue(nowMs = this.connection.monotonicMs()): Promise<void> {
    if (nowMs < this.#nextReloadMs) return;
    await this.#readCredentials();
    await this.#readMachines();
  }

  async announceGone(slug: string): Promise<void> {
    await this.#log({ kind: 'machine', slug });
    await this.learn(slug);
  }

  /** Notes the removal before `work` does it, so that no node takes the record for lost. @param seq of its last row */
  async remove({ slug, image }: Machine, seq: number, work: () => Promise<boolean>): Promise<void> {
    const what = `${seq} ${image.createdCycle}`;
    await this.connection.command('SET', removedPlace(slug), what, 'PX', REMOVED_KNOWN_MS);
    if (!(await work())) return;
    await this.connection.command('SREM', `${DIRECTORY}machines`, slug);
    await this.announceGone(slug);
  }

  async announce(slug: string): Promise<void> {
    await this.connection.command('SADD', `${DIRECTORY}machines`, slug);
    await this.#log({ kind: 'machine', slug });
  }

  async rows(slug: string, query: RowQuery = {}): Promise<readonly AuditRow[]> {
    const { afterSeq = 0, toSeq, limit = 100, kind, contractId, fromCycle = 0, toCycle = Infinity } = query;
    const prefix = prefixOf(slug);
    const found: AuditRow[] = [];
    for (let after = afterSeq; found.length < limit; ) {
      const end = toSeq === undefined ? '+' : `${toSeq}-0`;
      if (toSeq !== undefined && after >= toSeq) break;
      const most = String(Math.max(limit - found.length, 50));
      const page = (await this.connection.command(
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
    const text = await this.connection.command<string | null>('HGET', `${prefix}m:${slug}`, 'checkpoint');
    return text === null ? undefined : JSON.parse(text);
  }

  async #log(change: Change): Promise<void> {
    const text = JSON.stringify(change);
    await this.connection.command(
      ...['XADD', `${DIRECTORY}log`, 'MAXLEN', '~', String(LOG_LENGTH), '*', 'change', text],
    );
    await this.connection.command('PUBLISH', 'weir:log', '');
  }

  async #readCredentials(): Promise<void> {
    this.#nextReloadMs = this.connection.monotonicMs() + RELOAD_MS;
    await this.credentials.readAll((what, read) => this.#reading(what, read));
  }

  async #readMachines(): Promise<void> {
    const slugs = (await this.connection.command('SMEMBERS', `${DIRECTORY}machines`)) as string[];
    for (let from = 0; from < slugs.length; from += 100)
      await Promise.all(slugs.slice(from, from + 100).map((slug) => this.#ifReadable(slug, this.catchUp(slug))));
  }

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
        ...['XRANGE', `${DIRECTORY}log`, `(${this.#last}`, '+', 'COUNT', String(PAGE)],
      )) as [string, [string, string]][];
      const slugs = new Set<string>();
      for (const [id, fields] of page) {
        this.#reading(`entry ${id} of the log`, () => {
          const change = JSON.parse(fields[1]) as Change;
          if (change.kind === 'machine') slugs.add(change.slug);
          else this.credentials.take(change);
        });
      }
      for (const slug of slugs) await this.#ifReadable(slug, this.learn(slug));
      this.#last = page.at(-1)?.[0] ?? this.#last;
      if (page.length < PAGE) return;
    }
  }
}
