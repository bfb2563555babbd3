// What every node knows of the whole network: machines with their contracts, keys and sessions. Read as a whole at the start and once a minute, and
// followed meanwhile by a log in Redis, of which every node hears when something is added.
//
//   POST …/state-machines on node a ─► Redis ─► log ─(published)─► nodes b, c read what is new
//   a request for something that node b does not know ─► b reads the log before it says that there is no such thing
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Plan } from '../../limiter/plan.js';
import { planContract } from '../../limiter/validate.js';
import type { AuditRow, Checkpoint } from '../../record/row.js';
import { Failure } from '../../schema/failure.js';
import type { Key } from '../../store/credential-store.js';
import { DIRECTORY, prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import { ROW_BYTES } from '../../store/redis/record-functions.js';
import type { ContractImage, MachineImage, RowQuery } from '../../store/store.js';
import { instantText } from '../../time/cycle.js';
import { type CredentialChange, SharedCredentials } from './shared-credentials.js';

/** Changes that are kept in the log. */
const LOG_LENGTH = 10_000;
const PAGE = 1_000;
/** Of a machine: what says that something came or went. */
const STAMP = ['image', 'contracts', 'removed', 'end'] as const;
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

export class Directory {
  readonly credentials: SharedCredentials;
  /** Set by the node: told of each key that another node has changed. */
  onKey: (key: Key) => void = () => {};
  /** `bytes`: of the rows of its record so far. */
  onMachine: (machine: Machine, bytes: number) => void = () => {};
  /** Contracts of a machine were deleted, and the host is about to let go of them. */
  onContractsDeleted: (machine: Machine, contracts: readonly Contract[]) => void = () => {};
  /** A machine was deleted: its record is left. */
  onMachineDeleted: (machine: Machine) => void = () => {};
  /** The record of a machine was removed. */
  onRemoved: (machine: Machine) => void = () => {};
  /** Machines of which the record is left. */
  readonly deleted = new Set<Machine>();
  readonly connection: RedisConnection;
  #host: Host | undefined;
  #last = '0-0';
  #following: Promise<void> | undefined;
  /** Why the log could not be read the last time. */
  failure: Failure | undefined;
  #followingNext: Promise<void> | undefined;
  /** The stamp of a machine when it was read. */
  readonly #stamps = new Map<string, string>();
  /** How many of its contracts were deleted by then. */
  readonly #removed = new Map<string, number>();
  /** The field of its machine that has a contract, by id. */
  readonly #places = new Map<string, string>();
  /** Machines that are looked at in this turn of the loop. */
  readonly #looks = new Map<string, Promise<void>>();
  /** What is being written; what failed is what they resolve to. */
  readonly #pending = new Set<Promise<unknown>>();
  /** Those of the request at work. */
  #own: Promise<unknown>[] = [];

  readonly #onError: (error: unknown) => void;
  /** When everything is read anew, by our monotonic clock. */
  #anewMs = 0;

  /** @param onError receives what cannot be read; it is skipped */
  constructor(connection: RedisConnection, onError: (error: unknown) => void) {
    this.connection = connection;
    this.#onError = onError;
    // Each node forgets what has expired, and once more where Redis was away.
    this.credentials = new SharedCredentials(
      (change) => this.keep(this.#written(change)),
      (place, names) => void this.#forget(place, names).catch(() => {}),
    );
  }

  /** Reads everything. */
  async load(host: Host): Promise<void> {
    this.#host = host;
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

  /**
   * Looks whether another node has given a machine a contract that is not known here, and learns it. All of a turn of the loop share one look.
   * @throws Failure `store_away`
   */
  look({ slug }: Machine): Promise<void> {
    let look = this.#looks.get(slug);
    if (look === undefined) {
      look = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
        this.#looks.delete(slug);
        return this.#catchUp(slug);
      });
      this.#looks.set(slug, look);
    }
    return look;
  }

  /** A machine that Redis has. @throws Failure `machine_not_found` */
  async machine(slug: string): Promise<Machine> {
    if (this.#host?.machines.has(slug) !== true) await this.learn(slug);
    return this.#host!.machine(slug);
  }

  /** Machine and contract, which another node may have made just now. @throws Failure `contract_not_found` */
  async contract(slug: string, id: string): Promise<Contract> {
    if (this.#host?.contracts.has(id) !== true) await this.learn(slug);
    return this.#host!.contract(id);
  }

  /** The plan of a contract, also of one that was deleted and of which moves are not linked yet. @throws Failure `contract_not_found` */
  async plan(slug: string, id: string): Promise<Plan> {
    const host = this.#host!;
    if (!host.contracts.has(id)) await this.learn(slug);
    const known = host.contracts.get(id);
    if (known !== undefined) return known.plan;
    const prefix = prefixOf(slug);
    const fields = fieldsIn(await this.connection.command(prefix, 'HGETALL', `${prefix}m:${slug}`));
    for (const [name, text] of fields) {
      if (!/^[cx]:/.test(name)) continue;
      const image = JSON.parse(text) as ContractImage;
      if (image.id === id) return planContract(image.definition, host.findOperator, { isStored: true });
    }
    return host.contract(id).plan;
  }

  /** The field of its machine that has a contract. */
  placeOf({ id }: Contract): string {
    return this.#places.get(id) ?? '';
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

  /** Lets go of a machine if it was removed, as far as it is known here. @returns whether it was @throws Failure `store_away` */
  async forgetRemoved(machine: Machine): Promise<boolean> {
    const { slug } = machine;
    if (!(await wasRemoved(this.connection, slug, machine.head.seq, machine.image.createdCycle))) return false;
    if (this.#host?.machines.get(slug) !== machine) return true;
    if (machine.deletedMs === undefined) this.#end(machine, { kind: 'machine_deleted', cycle: 0, at: '' });
    this.#host.forget(machine);
    this.deleted.delete(machine);
    this.#stamps.delete(slug);
    this.#removed.delete(slug);
    this.onRemoved(machine);
    return true;
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

  async #catchUp(slug: string): Promise<void> {
    const prefix = prefixOf(slug);
    const values = await this.connection.command<(string | null)[]>(prefix, 'HMGET', `${prefix}m:${slug}`, ...STAMP);
    if (stampOf(values) !== this.#stamps.get(slug)) await this.learn(slug);
  }

  /** Takes a machine and its contracts as Redis has them. */
  async learn(slug: string): Promise<void> {
    const prefix = prefixOf(slug);
    const reply = await this.connection.command(prefix, 'HGETALL', `${prefix}m:${slug}`);
    const fields = fieldsIn(reply);
    const host = this.#host;
    if (host === undefined) return;
    const text = fields.get('image');
    const image = text === undefined ? undefined : (JSON.parse(text) as MachineImage);
    const before = host.machines.get(slug);
    // One that is not there any more, or another one of its name.
    const isOther = before !== undefined && before.image.createdCycle !== image?.createdCycle;
    if (isOther && (await this.forgetRemoved(before))) return this.learn(slug);
    if (image === undefined) return;
    const end = endIn(fields.get('end'));
    const contracts = [...fields].filter(([name]) => name.startsWith('c:')).sort(([a], [b]) => (a < b ? -1 : 1));
    const images = end === undefined ? contracts.map(([, json]) => JSON.parse(json) as ContractImage) : [];
    const head = { seq: Number(fields.get('seq')), hash: fields.get('hash')! };
    this.#stamps.set(slug, stampOf(STAMP.map((name) => fields.get(name) ?? null)));
    const known = host.machines.get(slug);
    const machine = host.learn(image, images, head, end);
    for (const [index, { id }] of images.entries()) this.#places.set(id, contracts[index]![0]);
    // What Redis has lost is not there either: only what was deleted is let go.
    const removed = Number(fields.get('removed') ?? 0);
    if (removed > (this.#removed.get(slug) ?? 0)) {
      const ids = new Set(images.map(({ id }) => id));
      this.#letGo(
        machine,
        machine.contracts.filter(({ id }) => !ids.has(id)),
      );
    }
    this.#removed.set(slug, removed);
    if (known === undefined) {
      if (end !== undefined) this.deleted.add(machine);
      this.onMachine(machine, Number(fields.get('bytes') ?? head.seq * ROW_BYTES));
    } else if (end !== undefined && machine.deletedMs === undefined) this.#end(machine, end);
  }

  #end(machine: Machine, end: NonNullable<Machine['end']>): void {
    this.#letGo(machine, [...machine.contracts]);
    machine.end = end;
    this.deleted.add(machine);
    this.onMachineDeleted(machine);
  }

  #letGo(machine: Machine, contracts: readonly Contract[]): void {
    if (contracts.length === 0) return;
    this.onContractsDeleted(machine, contracts);
    this.#host?.unlearn(machine, contracts);
    for (const { id } of contracts) this.#places.delete(id);
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
      await Promise.all(slugs.slice(from, from + 100).map((slug) => this.#ifReadable(slug, this.#catchUp(slug))));
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

function stampOf(values: readonly (string | null)[]): string {
  return values.map((value) => value ?? '').join('\n');
}

/** When a machine was deleted: unix ms, and the cycle. */
function endIn(text: string | undefined): Machine['end'] {
  const [ms, cycle] = text?.split(' ').map(Number) ?? [];
  if (ms === undefined || cycle === undefined) return undefined;
  return { kind: 'machine_deleted', cycle, at: instantText(ms) };
}

function removedPlace(slug: string): string {
  return `${DIRECTORY}x:${slug}`;
}

/**
 * Whether a record with a row `seq` was removed, after its machine was deleted.
 * @param createdCycle of the machine, where it is known @throws Failure `store_away`
 */
export async function wasRemoved(
  connection: RedisConnection,
  slug: string,
  seq: number,
  createdCycle?: number,
): Promise<boolean> {
  const removed = await connection.command<string | null>(DIRECTORY, 'GET', removedPlace(slug));
  const [last, created] = removed?.split(' ').map(Number) ?? [];
  return last !== undefined && last >= seq && (createdCycle ?? created) === created;
}

/** The fields of a hash: a map by RESP3, a list of pairs by RESP2. */
export function fieldsIn(reply: unknown): Map<string, string> {
  if (reply instanceof Map) return reply as Map<string, string>;
  if (!Array.isArray(reply)) return new Map(Object.entries(reply as Record<string, string>));
  return new Map(Array.from({ length: reply.length / 2 }, (_, pair) => [reply[2 * pair], reply[2 * pair + 1]]));
}
