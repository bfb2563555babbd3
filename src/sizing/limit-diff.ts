// Runs the requests of logs through the limits of two versions of a gateway's files, in one pass.
//
//   request ── host, path ──► matching limits, old and new ── key ──► decided by each ──► newly refused, newly admitted
//
// A row of the order buffer is a client (or other key) and one of a bounded number of paths, so memory does not grow with the log.

import type { LibraryName } from '../actor/client/libraries.js';
import type { FoundLimiter, GatewayLimits } from '../gateway/found.js';
import { Failure } from '../schema/failure.js';
import type { Feed } from '../simulate/feed.js';
import { LogOrder, readInOrder } from '../simulate/log-order.js';
import type { SourceHooks } from '../traffic/log/log-bytes.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import {
  announcedBy,
  type CountedPart,
  type LeftOut,
  type LimitPlace,
  LimitSide,
  limitRefusing,
  type Requester,
} from './limit-sides.js';
import { LogRetries, type RetryCost } from './log-retries.js';

type RefusalCounts = Readonly<Omit<Counts, 'add'>>;

export interface NamedCounts extends RefusalCounts {
  readonly name: string;
}

export interface LimitDiff extends RefusalCounts {
  readonly clients: number;
  readonly clients_newly_refused: number;
  readonly clients_newly_admitted: number;
  readonly by_client: readonly NamedCounts[];
  readonly by_path: readonly NamedCounts[];
  /** By time, UTC; `by_limiter`: newly refused requests. */
  readonly by_minute: readonly NamedCounts[];
  readonly by_limiter: ReadonlyMap<FoundLimiter, number>;
  /** Undefined unless `clients` was given. */
  readonly retries: RetryCost | undefined;
  readonly left_out: { readonly old: readonly LeftOut[]; readonly new: readonly LeftOut[] };
  readonly readings: readonly LogReading[];
  readonly warnings: readonly Warning[];
}

/** Low bits of a row: the path, with its limits. High bits: the sender. */
const PLACE_BITS = 12;
const MOST_PLACES = 2 ** PLACE_BITS;
const MOST_WHO = 2 ** (32 - PLACE_BITS);
/** Kept for overflow: further paths with the same limits share a place. */
const RESERVED = 512;
const OTHERS = '(other paths)';
const MINUTE_MS = 60_000;

/** @param options `keyColumn`: for keys a log lacks @throws Failure `invalid_input`, `no_requests`, of the readers */
export function diffLimits(
  paths: readonly string[],
  { old, new: fresh }: { readonly old: GatewayLimits; readonly new: GatewayLimits },
  { clients, ...options }: LogOptions & { readonly clients?: LibraryName | undefined },
  hooks: SourceHooks,
): Promise<LimitDiff> {
  return readInOrder(paths, async (mostRows) => {
    const hasKey = options.keyColumn !== undefined;
    const sides = [new LimitSide(old, hasKey), new LimitSide(fresh, hasKey)] as const;
    // Retries count against the new limits too, so that side keeps its own states.
    const retried = clients && new LimitSide(fresh, hasKey);
    const run = new Traffic(sides, retried, clients);
    const order = new LogOrder({
      cycleMs: 1,
      mostRows,
      isOne: false,
      decidesByMs: true,
      rowOf: (key) => run.rowOf(key),
      groupOf: (row) => row >>> PLACE_BITS,
      run: (feed) => run.take(feed),
    });
    const sink = {
      opened: (unit: string | undefined) => order.opened(unit),
      also: (texts: readonly string[]) => run.meet(texts),
      request: (ms: number, n: number, key: string, spreadMs: number) => order.request(ms, n, key, spreadMs),
    };
    const readings = await readLogs(paths, { ...options, alsoColumns: run.columns }, sink, hooks);
    run.take(order.end());
    const left_out = { old: sides[0].leftOut, new: sides[1].leftOut };
    const read = summaryOf(readings, undefined, options.nowMs).warnings;
    const warnings = [...read, ...run.warnings(), ...order.warnings('Bursts within a second are flattened.')];
    return { ...run.found(), left_out, readings, warnings };
  });
}

class Counts {
  requests = 0;
  refused_old = 0;
  refused_new = 0;
  newly_refused = 0;
  newly_admitted = 0;

  add(isRefusedOld: boolean, isRefused: boolean): void {
    this.requests += 1;
    if (isRefusedOld) this.refused_old += 1;
    if (isRefused) this.refused_new += 1;
    if (isRefused && !isRefusedOld) this.newly_refused += 1;
    if (isRefusedOld && !isRefused) this.newly_admitted += 1;
  }
}

interface Target extends Pick<Requester, 'host' | 'path' | 'method'> {
  readonly old: LimitPlace;
  readonly fresh: LimitPlace;
  readonly retried: LimitPlace | undefined;
  readonly counts: Counts;
}

type Sender = Pick<Requester, 'client' | 'user' | 'key'>;

class Traffic {
  readonly columns: readonly string[];
  readonly #sides: readonly [LimitSide, LimitSide];
  readonly #uses: ReadonlySet<CountedPart>;
  readonly #targets: Target[] = [];
  readonly #targetIds = new Map<string, number>();
  /** Target indexes by request text; a cache, cleared at 50,000. */
  readonly #recent = new Map<string, number>();
  readonly #senders: Sender[] = [];
  readonly #senderIds = new Map<string, number>();
  readonly #all = new Counts();
  readonly #clients: Counts[] = [];
  readonly #clientNames: string[] = [];
  readonly #clientIds = new Map<string, number>();
  readonly #byPath = new Map<string, Counts>();
  readonly #byMinute = new Map<number, Counts>();
  readonly #byLimiter = new Map<FoundLimiter, number>();
  readonly #retries: LogRetries | undefined;
  #minute = new Counts();
  #minuteEndMs = Number.NaN;
  #client = '';
  #user = '';
  #target = 0;
  #hasHost = false;
  #hasPath = false;
  #isFolded = false;

  constructor(
    sides: readonly [LimitSide, LimitSide],
    readonly retriedSide: LimitSide | undefined,
    clients: LibraryName | undefined,
  ) {
    this.#sides = sides;
    this.#retries = clients && new LogRetries(clients, (row, ms) => this.#refusedWithRetries(row, ms));
    this.#uses = new Set(sides.flatMap(({ parts }) => [...parts]));
    const optional = (['method', 'user'] as const).filter((part) => this.#uses.has(part));
    this.columns = ['client', 'host', 'path', ...optional];
  }

  meet([client = '', host = '', url = '', ...others]: readonly string[]): void {
    const method = this.#uses.has('method') ? others[0]! : '';
    this.#client = client;
    this.#user = this.#uses.has('user') ? others.at(-1)! : '';
    const name = host === '' && method === '' ? url : `${url}\n${host}\n${method}`;
    const known = this.#recent.get(name);
    if (known !== undefined) {
      this.#target = known;
      return;
    }
    if (host !== '') this.#hasHost = true;
    if (url !== '') this.#hasPath = true;
    if (this.#recent.size >= 50_000) this.#recent.clear();
    this.#target = this.#targetOf(host, pathOfUrl(url), method);
    this.#recent.set(name, this.#target);
  }

  #targetOf(host: string, path: string, method: string): number {
    const [old, fresh] = this.#sides.map((side) => side.placeOf(host, path)) as [LimitPlace, LimitPlace];
    const retried = this.retriedSide?.placeOf(host, path);
    const own = this.#uses.has('host') ? host : '';
    const known = this.#targetAt({ host: own, path, method, old, fresh, retried }, MOST_PLACES - RESERVED);
    if (known !== undefined) return known;
    this.#isFolded = true;
    const other = this.#uses.has('path') || this.#uses.has('host') ? undefined : OTHERS;
    const folded = other && this.#targetAt({ host: '', path: other, method: '', old, fresh, retried }, MOST_PLACES);
    if (folded !== undefined) return folded;
    throw new Failure('invalid_input', {
      what: `The log has more than ${MOST_PLACES - RESERVED} paths, and limits that count by path, by host, or in many places.`,
      fix: 'Take a part of the log: --where path=/api/*.',
    });
  }

  #targetAt(target: Omit<Target, 'counts'>, most: number): number | undefined {
    const { host, path, method, old, fresh } = target;
    const name = [path, host, method, old.id, fresh.id].join('\n');
    const known = this.#targetIds.get(name);
    if (known !== undefined || this.#targets.length >= most) return known;
    this.#targetIds.set(name, this.#targets.length);
    return this.#targets.push({ ...target, counts: countsAt(this.#byPath, path) }) - 1;
  }

  /** The row of the request last passed to `meet`. */
  rowOf(key: string): number {
    const client = this.#client === '' ? key : this.#client;
    const isClient = this.#user === '' && (key === '' || key === client);
    const name = isClient ? client : [client, this.#user, key].join('\n');
    let id = this.#senderIds.get(name);
    if (id === undefined) {
      if (this.#senders.length === MOST_WHO)
        throw new Failure('invalid_input', {
          what: `The log has more than ${MOST_WHO} clients.`,
          fix: 'Take a part of it with --from and --to.',
        });
      id = this.#senders.push({ client: this.#clientOf(client), user: this.#user, key }) - 1;
      this.#senderIds.set(name, id);
    }
    return id * MOST_PLACES + this.#target;
  }

  #clientOf(name: string): number {
    const known = this.#clientIds.get(name);
    if (known !== undefined) return known;
    this.#clientIds.set(name, this.#clients.length);
    this.#clientNames.push(name);
    return this.#clients.push(new Counts()) - 1;
  }

  take(feed: Feed): void {
    for (let ms = feed.next(); ms !== undefined; ms = feed.next())
      feed.arrive(ms, (row, n, at) => {
        for (let k = 0; k < n; k += 1) this.#decide(row, at);
      });
  }

  #requester(row: number): readonly [who: Requester, target: Target] {
    const { client, user, key } = this.#senders[row >>> PLACE_BITS]!;
    const target = this.#targets[row & (MOST_PLACES - 1)]!;
    const { host, path, method } = target;
    return [{ client, user, key, host, path, method }, target];
  }

  #refusedWithRetries(row: number, ms: number) {
    const [who, { retried }] = this.#requester(row);
    const by = limitRefusing(retried!, who, ms);
    return by && { status: by.status, retryAfterMs: announcedBy(retried!, by, who, ms) };
  }

  #decide(row: number, ms: number): void {
    const [who, target] = this.#requester(row);
    const isRefusedOld = limitRefusing(target.old, who, ms) !== undefined;
    const by = limitRefusing(target.fresh, who, ms);
    const isRefused = by !== undefined;
    if (this.#retries !== undefined) {
      this.#retries.passTo(ms);
      const refused = this.#refusedWithRetries(row, ms);
      if (refused !== undefined && !isRefusedOld) this.#retries.refused(row, ms, refused);
    }
    this.#all.add(isRefusedOld, isRefused);
    this.#clients[who.client]!.add(isRefusedOld, isRefused);
    target.counts.add(isRefusedOld, isRefused);
    if (!(ms < this.#minuteEndMs && ms >= this.#minuteEndMs - MINUTE_MS)) {
      const minute = Math.floor(ms / MINUTE_MS);
      this.#minuteEndMs = (minute + 1) * MINUTE_MS;
      this.#minute = countsAt(this.#byMinute, minute);
    }
    this.#minute.add(isRefusedOld, isRefused);
    if (isRefused && !isRefusedOld) this.#byLimiter.set(by, (this.#byLimiter.get(by) ?? 0) + 1);
  }

  warnings(): Warning[] {
    const what = [
      this.#hasHost || !this.#sides.some(({ hasHosts }) => hasHosts)
        ? undefined
        : ['no_host', 'The log has no host: a limit of one host is met by requests for any.'],
      this.#hasPath || !this.#sides.some(({ hasPaths }) => hasPaths)
        ? undefined
        : ['no_path', 'The log has no path: limits of some paths are met by no request.'],
      this.#isFolded
        ? ['many_paths', `The log has more than ${MOST_PLACES - RESERVED} paths: the others are shown together.`]
        : undefined,
    ];
    return what.flatMap((one) => (one === undefined ? [] : [{ code: one[0]!, what: one[1]! }]));
  }

  found(): Omit<LimitDiff, 'left_out' | 'readings' | 'warnings'> {
    const clients = this.#clients.map((counts, i) => ({ ...counts, name: this.#clientNames[i]! }));
    if (clients.length === 1 && clients[0]!.name === '')
      throw new Failure('invalid_input', {
        what: 'The log has no client address.',
        fix: 'Name the column that says whose a request is: --key who.',
      });
    const minutes = [...this.#byMinute].sort(([a], [b]) => a - b);
    const byMinute = minutes.map(([minute, counts]) => ({ ...counts, name: minuteText(minute) }));
    return {
      ...this.#all,
      clients: clients.length,
      clients_newly_refused: clients.filter((one) => one.newly_refused > 0).length,
      clients_newly_admitted: clients.filter((one) => one.newly_admitted > 0).length,
      by_client: worstFirst(clients),
      by_path: worstFirst([...this.#byPath].map(([name, counts]) => ({ ...counts, name }))),
      by_minute: byMinute.filter(differs),
      by_limiter: this.#byLimiter,
      retries: this.#retries?.end(this.#all.requests),
    };
  }
}

function pathOfUrl(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

const minuteText = (minute: number) => `${new Date(minute * MINUTE_MS).toISOString().slice(0, 16)}Z`;

function countsAt<Key>(all: Map<Key, Counts>, key: Key): Counts {
  let counts = all.get(key);
  if (counts === undefined) {
    counts = new Counts();
    all.set(key, counts);
  }
  return counts;
}

const differs = ({ newly_refused, newly_admitted }: NamedCounts) => newly_refused > 0 || newly_admitted > 0;

function worstFirst(all: readonly NamedCounts[]): NamedCounts[] {
  return all
    .filter(differs)
    .sort(
      (a, b) => b.newly_refused - a.newly_refused || b.newly_admitted - a.newly_admitted || (a.name < b.name ? -1 : 1),
    );
}
