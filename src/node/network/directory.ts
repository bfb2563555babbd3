// What every node knows of the network: machines, contracts, keys and sessions. Read at the start and once a minute; a log in Redis adds news.
//
//   POST …/state-machines on node a ─► Redis ─► log ─(published)─► nodes b, c read what is new
//   deleted there: dropped here. What is only missing there is kept: see heads.ts
//   a request for something that node b does not know ─► b reads the log before it answers that there is no such thing
import type { Plan } from '../../core/limiter/plan.js';
import { planContract } from '../../core/limiter/validate.js';
import type { AuditRow, Checkpoint } from '../../core/record/row.js';
import { Failure } from '../../core/schema/failure.js';
import { instantText } from '../../core/time/cycle.js';
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import type { ContractImage, MachineImage, RowQuery } from '../store/store.js';
import { type KeyWritten, NetworkCredentials } from './credentials.js';
import { DIRECTORY, prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

/** Fields of a machine that change when something comes or goes. */
const STAMP: readonly string[] = ['image', 'contracts', 'changed', 'removed', 'end'];

const PAGE = 1_000;
const LOG_LENGTH = 10_000;
/** How long Redis knows, in ms, that a record was removed and not lost. */
const REMOVED_KNOWN_MS = String(366 * 86_400_000);

/** Full refresh interval in ms, to recover trimmed or unreadable entries. */
const RELOAD_MS = 60_000;

type Fields = ReadonlyMap<string, string>;

type Change = { readonly kind: 'machine'; readonly slug: string } | KeyWritten;

export class Directory {
  readonly connection: RedisConnection;
  readonly credentials: NetworkCredentials;
  /** Set by the node. `bytes`: size of the record so far. */
  onMachine: (machine: Machine, bytes: number) => void = () => {};
  readonly deleted = new Set<Machine>();
  #host: Host | undefined;
  readonly #stamps = new Map<string, Fields>();
  readonly #refreshing = new Map<string, Promise<void>>();
  #last = '0-0';
  #following: Promise<void> | undefined;
  failure: Failure | undefined;
  #followingNext: Promise<void> | undefined;
  readonly #onError: (error: unknown) => void;
  #nextReloadMs = 0;

  /** @param onError receives what cannot be read, and is skipped */
  constructor(connection: RedisConnection, onError: (error: unknown) => void) {
    this.connection = connection;
    this.#onError = onError;
    this.credentials = new NetworkCredentials(connection, (change) => this.#log(change));
  }

  async load(host: Host): Promise<void> {
    this.#host = host;
    const [newest] = await this.connection.command<[string][]>('XREVRANGE', `${DIRECTORY}log`, '+', '-', 'COUNT', '1');
    await this.#readCredentials();
    await this.#readMachines();
    if (newest !== undefined) this.#last = newest[0];
  }

  /** Reads the log. Calls during a reading share the next one: the current one may have passed their entry. */
  follow(): Promise<void> {
    if (this.#following !== undefined) {
      const next = () => {
        this.#followingNext = undefined;
        return this.follow();
      };
      this.#followingNext ??= this.#following.then(next, next);
      return this.#followingNext;
    }
    this.#following = this.#readLog().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  /** Does nothing before the next one is due. @throws Failure `store_away` */
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

  /** Learns contracts made by other nodes; calls in one turn of the loop share it. @throws Failure `store_away` */
  refresh({ slug }: Machine): Promise<void> {
    let refreshed = this.#refreshing.get(slug);
    if (refreshed === undefined) {
      refreshed = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
        this.#refreshing.delete(slug);
        return this.#catchUp(slug);
      });
      this.#refreshing.set(slug, refreshed);
    }
    return refreshed;
  }

  /** Another node may just have made it. @throws Failure `contract_not_found` */
  async contract(slug: string, id: string): Promise<Contract> {
    if (this.#host?.contracts.has(id) !== true) await this.learn(slug);
    return this.#host!.contract(id);
  }

  /** Also for a deleted contract, while moves of it are not linked yet. @throws Failure `contract_not_found` */
  async plan(slug: string, id: string): Promise<Plan> {
    const host = this.#host!;
    if (!host.contracts.has(id)) await this.learn(slug);
    const known = host.contracts.get(id);
    if (known !== undefined) return known.plan;
    const prefix = prefixOf(slug);
    const fields = fieldsIn(await this.connection.command('HGETALL', `${prefix}m:${slug}`));
    for (const [name, text] of fields) {
      if (!/^[cx]:/.test(name)) continue;
      const image = JSON.parse(text) as ContractImage;
      if (image.id === id) return planContract(image.definition);
    }
    return host.contract(id).plan;
  }

  /** Drops a machine that was removed in Redis. @returns whether it was @throws Failure `store_away` */
  async dropRemoved(machine: Machine): Promise<boolean> {
    const { slug } = machine;
    if (!(await wasRemoved(this.connection, slug, machine.head.seq, machine.image.createdCycle))) return false;
    if (this.#host?.machines.get(slug) !== machine) return true;
    if (machine.deletedMs === undefined) this.#end(machine, { kind: 'machine_deleted', cycle: 0, at: '' });
    this.#host.removeMachine(machine);
    this.deleted.delete(machine);
    this.#stamps.delete(slug);
    return true;
  }

  async #catchUp(slug: string): Promise<void> {
    if (!isSame(this.#stamps.get(slug), await this.#values(slug, STAMP))) await this.learn(slug);
  }

  async #values(slug: string, names: readonly string[]): Promise<Fields> {
    const asked = ['HMGET', `${prefixOf(slug)}m:${slug}`, ...names];
    const values = await this.connection.command<(string | null)[]>(...asked);
    return new Map(names.flatMap((name, index) => (values[index] == null ? [] : [[name, values[index]]])));
  }

  /** All fields of a machine; if only further contracts have come, without those of earlier ones: there may be thousands. */
  async #fieldsOf(slug: string): Promise<Fields> {
    const all = async () => fieldsIn(await this.connection.command('HGETALL', `${prefixOf(slug)}m:${slug}`));
    const known = this.#stamps.get(slug);
    if (known === undefined) return all();
    const now = await this.#values(slug, [...STAMP, 'seq', 'hash']);
    const from = numberIn(known, 'contracts');
    const to = numberIn(now, 'contracts');
    const isGrown = isSame(new Map(known).set('contracts', String(to)), now);
    if (!isGrown || to <= from || to > from + PAGE) return all();
    const further = Array.from({ length: to - from }, (_, n) => `c:${String(from + 1 + n).padStart(8, '0')}`);
    return new Map([...now, ...(await this.#values(slug, further))]);
  }

  async learn(slug: string): Promise<void> {
    const fields = await this.#fieldsOf(slug);
    const host = this.#host;
    if (host === undefined) return;
    const text = fields.get('image');
    const image = text === undefined ? undefined : (JSON.parse(text) as MachineImage);
    const before = host.machines.get(slug);
    // It is gone, or another machine has its name.
    const isOther = before !== undefined && before.image.createdCycle !== image?.createdCycle;
    if (isOther && (await this.dropRemoved(before))) return this.learn(slug);
    if (image === undefined) return;
    const end = endIn(fields.get('end'));
    const contracts = [...fields].filter(([name]) => name.startsWith('c:')).sort(([a], [b]) => (a < b ? -1 : 1));
    const images = end === undefined ? contracts.map(([, json]) => JSON.parse(json) as ContractImage) : [];
    const head = { seq: Number(fields.get('seq')), hash: fields.get('hash')! };
    const removedBefore = numberIn(this.#stamps.get(slug), 'removed');
    this.#stamps.set(slug, new Map([...fields].filter(([name]) => STAMP.includes(name))));
    const known = host.machines.get(slug);
    const machine = host.learn(image, images, head, end);
    // Contracts that Redis has lost are missing, too: only deleted ones are dropped.
    if (numberIn(fields, 'removed') > removedBefore) {
      const ids = new Set(images.map(({ id }) => id));
      host.unlearn(
        machine,
        machine.contracts.filter(({ id }) => !ids.has(id)),
      );
    }
    if (known === undefined) {
      if (end !== undefined) this.deleted.add(machine);
      this.onMachine(machine, Number(fields.get('bytes') ?? 0));
    } else if (end !== undefined && machine.deletedMs === undefined) this.#end(machine, end);
  }

  #end(machine: Machine, end: NonNullable<Machine['end']>): void {
    this.#host?.endLearned(machine, end);
    this.deleted.add(machine);
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
    await this.credentials.readAll((what, read) => this.#ifReadable(what, read));
  }

  async #readMachines(): Promise<void> {
    const slugs = (await this.connection.command('SMEMBERS', `${DIRECTORY}machines`)) as string[];
    for (let from = 0; from < slugs.length; from += 100)
      await Promise.all(
        slugs.slice(from, from + 100).map((slug) => this.#ifReadable(nameOf(slug), () => this.#catchUp(slug))),
      );
  }

  async #ifReadable(what: string, read: () => void | Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (this.connection.failure !== undefined) throw error;
      const why = error instanceof Error ? error.message : String(error);
      this.#onError(
        new Error(`Redis has something that cannot be read, and it was skipped: ${what}: ${why}`, { cause: error }),
      );
    }
  }

  async #readLog(): Promise<void> {
    try {
      await this.#read();
      this.failure = undefined;
    } catch (error) {
      if (error instanceof Failure) this.failure = error;
      throw error;
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      const page = (await this.connection.command(
        ...['XRANGE', `${DIRECTORY}log`, `(${this.#last}`, '+', 'COUNT', String(PAGE)],
      )) as [string, [string, string]][];
      const slugs = new Set<string>();
      for (const [id, fields] of page) {
        await this.#ifReadable(`entry ${id} of the log`, () => {
          const change = JSON.parse(fields[1]) as Change;
          if (change.kind === 'machine') slugs.add(change.slug);
          else if (change.kind === 'key') this.credentials.take(change.key);
          else throw new Error('it is no change that this version knows');
        });
      }
      for (const slug of slugs) await this.#ifReadable(nameOf(slug), () => this.learn(slug));
      this.#last = page.at(-1)?.[0] ?? this.#last;
      if (page.length < PAGE) return;
    }
  }
}

function nameOf(slug: string): string {
  return `the machine ${JSON.stringify(slug)}`;
}

function numberIn(fields: Fields | undefined, name: 'contracts' | 'removed'): number {
  return Number(fields?.get(name) ?? 0);
}

function isSame(before: Fields | undefined, now: Fields): boolean {
  return before !== undefined && STAMP.every((name) => before.get(name) === now.get(name));
}

/** Reads unix ms and the cycle. */
function endIn(text: string | undefined): Machine['end'] {
  const [ms, cycle] = text?.split(' ').map(Number) ?? [];
  if (ms === undefined || cycle === undefined) return undefined;
  return { kind: 'machine_deleted', cycle, at: instantText(ms) };
}

function removedPlace(slug: string): string {
  return `${DIRECTORY}x:${slug}`;
}

/** Whether a record with a row `seq` was removed after its machine was deleted. @throws Failure `store_away` */
export async function wasRemoved(
  connection: RedisConnection,
  slug: string,
  seq: number,
  createdCycle?: number,
): Promise<boolean> {
  const removed = await connection.command<string | null>('GET', removedPlace(slug));
  const [last, created] = removed?.split(' ').map(Number) ?? [];
  return last !== undefined && last >= seq && (createdCycle ?? created) === created;
}

/** The fields of a hash: a map by RESP3, a list of pairs by RESP2. */
export function fieldsIn(reply: unknown): Map<string, string> {
  if (reply instanceof Map) return reply as Map<string, string>;
  if (!Array.isArray(reply)) return new Map(Object.entries(reply as Record<string, string>));
  return new Map(Array.from({ length: reply.length / 2 }, (_, pair) => [reply[2 * pair], reply[2 * pair + 1]]));
}
