// Quotas of owners over all nodes. Room is claimed in Redis before a thing is made, so that nodes together never exceed it: quota-functions.ts.
import { digestOf } from '../../core/schema/canonical.js';
import type { Failure } from '../../core/schema/failure.js';
import type { Limits } from '../limits.js';
import { QUOTAS, type QuotaAmounts, type QuotaRequest, refusalBeyond } from '../usage.js';
import { DIRECTORY, prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

/** Time to make a thing after its claim, beside two deadlines of calls; and how far clocks of servers may differ. */
const MADE_WITHIN_MS = 5_000;
const MOST_APART_MS = 2_000;

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

type Numbers = readonly number[];
type Refused = readonly [used: Numbers, all: Numbers, stale: readonly string[]];

const FREED_AT_ONCE = 500;

/** The numbers of an owner are fields beside the items, so a slug with the name of a number gets a suffix. */
export function machineItem(slug: string): string {
  return (QUOTAS as readonly string[]).includes(slug) ? `${slug}/` : slug;
}

export class OwnerQuota {
  readonly #connection: RedisConnection;
  readonly #limits: Limits;

  constructor(connection: RedisConnection, limits: Limits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /**
   * @param item `machineItem`, `slug/id` of a contract, `slug/id/…` of what it takes later
   * @param make acts before an instant of the clock of Redis; 0 if it was refused
   * @throws Failure `limit_reached`, `store_away`: then it may exist, and is looked up later
   */
  async within(wanted: QuotaRequest, item: string, make: (untilMs: number) => Promise<number>): Promise<number> {
    const untilMs = await this.#claim(wanted, item);
    const made = await make(untilMs - MOST_APART_MS);
    if (made > 0) await this.#settle(wanted.owner, item);
    else await this.#resolve(wanted.owner, item, untilMs);
    return made;
  }

  /**
   * Deletes something and frees its room; if the node ends in between, the room is freed when it is needed.
   * @param remove acts before an instant of Redis; 0 if there is nothing @param hasMore whether `item/…` may exist
   * @returns undefined if there was nothing @throws Failure `store_away`
   */
  async freeing(
    owner: string,
    item: string,
    remove: (untilMs: number) => Promise<number>,
    hasMore = false,
  ): Promise<{ readonly number: number; readonly freed: QuotaAmounts } | undefined> {
    const untilMs = this.#until();
    await this.#connection.command('ZADD', `${DIRECTORY}claims`, String(untilMs), `${owner} ${item}`);
    const number = await remove(untilMs - MOST_APART_MS);
    return number > 0 ? { number, freed: await this.#freeAll(owner, item, hasMore) } : undefined;
  }

  async #freeAll(owner: string, item: string, hasMore = false): Promise<QuotaAmounts> {
    const [slug = '', id = ''] = item.split('/');
    const fields =
      id === '' || hasMore ? await this.#connection.command<string[]>('HKEYS', `${DIRECTORY}u:${owner}`) : [];
    // The machine is last: its claim stays open until all of it is free.
    const below = id === '' ? `${slug}/` : `${item}/`;
    const items = [...fields.filter((field) => field !== item && field.startsWith(below)), item];
    const freed = QUOTAS.map(() => 0);
    for (let from = 0; from < items.length; from += FREED_AT_ONCE) {
      const some = await this.#release(owner, '', items.slice(from, from + FREED_AT_ONCE));
      for (const [index, amount] of some.entries()) freed[index]! += amount;
    }
    return usedIn(freed);
  }

  /** By owner, and in total. @throws Failure `store_away` */
  async used(owner = '') {
    const read = async (place: string) =>
      usedIn((await this.#connection.command<string[]>('HMGET', place, ...QUOTAS)).map(Number));
    const from = `(${this.#connection.nowMs()}`;
    const [all, of, keys] = await Promise.all([
      read(`${DIRECTORY}u`),
      read(`${DIRECTORY}u:${owner}`),
      this.#connection.command<number>('ZCOUNT', `${DIRECTORY}k:${owner}`, from, '+inf'),
    ]);
    return { all, of, keys };
  }

  #until(): number {
    return Math.ceil(this.#connection.nowMs() + 2 * this.#connection.deadlineMs + MADE_WITHIN_MS);
  }

  async #claim(wanted: QuotaRequest, item: string): Promise<number> {
    for (let tries = 0; ; tries += 1) {
      const untilMs = this.#until();
      const args = this.#claimOf(wanted, item, String(untilMs));
      const [, refused] = await this.#connection.call<Refused | undefined>('claim', DIRECTORY, args);
      if (refused === undefined) return untilMs;
      const [used, all, stale] = refused;
      // Ignores reservations of stopped nodes.
      if (tries > 0 || stale.length === 0) throw this.#refusal(wanted, usedIn(used), usedIn(all));
      for (const member of stale) {
        const [owner = '', name = ''] = member.split(' ');
        const score = await this.#connection.command('ZSCORE', `${DIRECTORY}claims`, member);
        if (score !== null) await this.#resolve(owner, name, Number(score));
      }
    }
  }

  /** Settles the claim if the item exists, otherwise frees it. */
  async #resolve(owner: string, item: string, untilMs: number): Promise<void> {
    const [slug = '', id = ''] = item.split('/');
    const prefix = prefixOf(slug);
    let isThere: boolean;
    if (id === '') {
      const fields = ['HMGET', `${prefix}m:${slug}`, 'image', 'end'];
      const [image = null, end] = await this.#connection.command<(string | null)[]>(...fields);
      isThere = image !== null && end === null && (JSON.parse(image) as { owner: string }).owner === owner;
    } else isThere = (await this.#connection.command('EXISTS', `${prefix}g:${slug}/${id}`)) === 1;
    if (isThere) await this.#settle(owner, item);
    else {
      const freed = await this.#release(owner, String(untilMs), [item]);
      if (id === '' && freed[0] === 1) await this.#freeAll(owner, item);
    }
  }

  async #settle(owner: string, item: string): Promise<void> {
    await this.#connection.command('ZREM', `${DIRECTORY}claims`, `${owner} ${item}`);
  }

  /** Nodes that share a Redis keep no share for a network of addresses. */
  #refusal(wanted: QuotaRequest, used: QuotaAmounts, all: QuotaAmounts): Failure | undefined {
    return refusalBeyond('network', wanted, (name) => {
      const { perOwner: most, onNode } = this.#limits[name];
      return { most, used: used[name], free: onNode - all[name] };
    })?.failure;
  }

  #claimOf({ owner, asked, plan }: QuotaRequest, item: string, until: string): string[] {
    const more = new Map(asked);
    const amounts = QUOTAS.flatMap((name) => {
      const { perOwner, onNode } = this.#limits[name];
      return more.has(name) ? [more.get(name)!, perOwner, onNode] : [0, UNBOUNDED, UNBOUNDED];
    });
    return [owner, item, until, plan === undefined ? '' : digestOf(plan.definition), ...amounts.map(String)];
  }

  async #release(owner: string, claimed: string, items: readonly string[]): Promise<Numbers> {
    return (await this.#connection.call<Numbers>('release', DIRECTORY, [owner, claimed, ...items]))[1];
  }
}

function usedIn(numbers: Numbers): QuotaAmounts {
  return Object.fromEntries(QUOTAS.map((name, index) => [name, numbers[index] ?? 0])) as unknown as QuotaAmounts;
}
