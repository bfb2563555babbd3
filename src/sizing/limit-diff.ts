// Runs the requests of logs through the limits of two versions of a gateway's files, in one pass.
//
//   request ── host, path, … ──► matching limits, old and new ── key ──► decided by each ──► newly refused, newly admitted
//
// A row of the order buffer is a sender (a client, or what limits count by) and one of a bounded number of paths, so memory does not
// grow with the log.

import type { LibraryName } from '../actor/client/libraries.js';
import type { FoundLimiter, GatewayLimits } from '../gateway/found.js';
import type { LoggedRequest, RequestField } from '../gateway/request-condition.js';
import { Failure } from '../schema/failure.js';
import type { Feed } from '../simulate/feed.js';
import { LogOrder, readInOrder } from '../simulate/log-order.js';
import type { SourceHooks } from '../traffic/log/log-bytes.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { wholeOf } from './limit-changes.js';
import { announcedBy, type LeftOut, type LimitPlace, LimitSide, limitRefusing, type Requester } from './limit-sides.js';
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
  /** Those left out in one version and not, for the same reason, in the other. A limit that is removed refuses nothing. */
  readonly unjudged: readonly LeftOut[];
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
      keepsOrder: true,
      groupOf: (row) => run.groupOf(row),
      run: (feed) => run.take(feed),
    });
    const sink = {
      opened: (unit: string | undefined) => order.opened(unit),
      also: (texts: readonly (string | undefined)[]) => run.meet(texts),
      request: (ms: number, n: number, key: string, spreadMs: number) => order.request(ms, n, key, spreadMs),
    };
    const readings = await readLogs(paths, { ...options, alsoColumns: run.columns }, sink, hooks);
    run.take(order.end());
    const left_out = { old: sides[0].leftOut, new: sides[1].leftOut };
    const read = summaryOf(readings, undefined, options.nowMs).warnings;
    const warnings = [...read, ...run.warnings(), ...order.warnings('Bursts within a second are flattened.')];
    return { ...run.found(), left_out, unjudged: unjudgedOf(left_out, fresh), readings, warnings };
  });
}

function unjudgedOf({ old, new: fresh }: LimitDiff['left_out'], { limiters }: GatewayLimits): LeftOut[] {
  const [before, after] = [old, fresh].map((some) => some.filter(({ isJudged }) => !isJudged)) as [
    LeftOut[],
    LeftOut[],
  ];
  const nameOf = ({ limiter, why }: LeftOut) => `${why} ${wholeOf(limiter)}`;
  const isIn = (some: readonly LeftOut[], one: LeftOut) => some.some((other) => nameOf(other) === nameOf(one));
  const isOne = (a: FoundLimiter, b: FoundLimiter) => a.name === b.name && a.where === b.where;
  const changed = after.filter((one) => !isIn(before, one));
  const isLeft = ({ limiter }: LeftOut) =>
    limiters.some((one) => isOne(one, limiter)) && !changed.some((one) => isOne(one.limiter, limiter));
  return [...changed, ...before.filter((one) => !isIn(after, one) && isLeft(one))];
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

interface Target {
  readonly path: string;
  readonly old: LimitPlace;
  readonly fresh: LimitPlace;
  readonly retried: LimitPlace | undefined;
  readonly counts: Counts;
}

interface Sender extends Requester {
  /** Of one client, user and key: their requests of a second are spread over it together. */
  readonly group: number;
}

/** Logs write `-` for an empty text. These are never empty: then the log lacks them. */
const NEVER_EMPTY = new Set<RequestField>(['client', 'host', 'method', 'path', 'status']);

function loggedText(field: RequestField, text: string | undefined): string | undefined {
  const written = text === '-' ? '' : text;
  if (written === '' && NEVER_EMPTY.has(field)) return undefined;
  return field === 'host' ? written?.toLowerCase().replace(/:\d+$/, '') : written;
}

class Traffic {
  readonly columns: readonly RequestField[];
  readonly #sides: readonly [LimitSide, LimitSide];
  readonly #keyFields: readonly RequestField[];
  readonly #placeFields: readonly RequestField[];
  readonly #targets: Target[] = [];
  readonly #targetIds = new Map<string, number>();
  /** Target indexes by what decides them; a cache, cleared at 50,000. */
  readonly #recent = new Map<string, number>();
  readonly #senders: Sender[] = [];
  readonly #senderIds = new Map<string, number>();
  readonly #groupIds = new Map<string, number>();
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
  #request: LoggedRequest = {};
  #target = 0;
  #hasHost = false;
  #isFolded = false;

  constructor(
    sides: readonly [LimitSide, LimitSide],
    readonly retriedSide: LimitSide | undefined,
    clients: LibraryName | undefined,
  ) {
    this.#sides = sides;
    this.#retries = clients && new LogRetries(clients, (row, ms) => this.#refusedWithRetries(row, ms));
    this.#keyFields = [...new Set(sides.flatMap(({ keyFields }) => [...keyFields]))].filter((one) => one !== 'client');
    this.#placeFields = [
      ...new Set<RequestField>(['host', 'path', ...sides.flatMap(({ placeFields }) => [...placeFields])]),
    ];
    const used = [...this.#placeFields, ...this.#keyFields].flatMap((one): RequestField[] =>
      one === 'url' ? ['query'] : [one],
    );
    this.columns = [...new Set<RequestField>(['client', 'host', 'path', ...used])];
  }

  meet(texts: readonly (string | undefined)[]): void {
    const request: { -readonly [field in RequestField]?: string | undefined } = {};
    this.columns.forEach((field, i) => {
      request[field] = loggedText(field, texts[i]);
    });
    if (request.path !== undefined) request.path = pathOfUrl(request.path);
    if (request.path !== undefined && request.query !== undefined)
      request.url = request.query === '' ? request.path : `${request.path}?${request.query}`;
    this.#request = request;
    const name = this.#placeFields.map((field) => request[field] ?? '\r').join('\n');
    const known = this.#recent.get(name);
    if (known !== undefined) {
      this.#target = known;
      return;
    }
    if (request.host !== undefined) this.#hasHost = true;
    if (this.#recent.size >= 50_000) this.#recent.clear();
    this.#target = this.#targetOf(request);
    this.#recent.set(name, this.#target);
  }

  #targetOf(request: LoggedRequest): number {
    const [old, fresh] = this.#sides.map((side) => side.placeOf(request)) as [LimitPlace, LimitPlace];
    const retried = this.retriedSide?.placeOf(request);
    const { path = '' } = request;
    const known = this.#targetAt({ path, old, fresh, retried }, MOST_PLACES - RESERVED);
    if (known !== undefined) return known;
    this.#isFolded = true;
    const folded = this.#targetAt({ path: OTHERS, old, fresh, retried }, MOST_PLACES);
    if (folded !== undefined) return folded;
    throw new Failure('invalid_input', {
      what: `The log has more than ${MOST_PLACES - RESERVED} paths, and limits in many places.`,
      fix: 'Take a part of the log: --where path=/api/*.',
    });
  }

  #targetAt(target: Omit<Target, 'counts'>, most: number): number | undefined {
    const { path, old, fresh } = target;
    const name = [path, old.id, fresh.id].join('\n');
    const known = this.#targetIds.get(name);
    if (known !== undefined || this.#targets.length >= most) return known;
    this.#targetIds.set(name, this.#targets.length);
    return this.#targets.push({ ...target, counts: countsAt(this.#byPath, path) }) - 1;
  }

  /** The row of the request last passed to `meet`. */
  rowOf(key: string): number {
    const request = this.#request;
    const client = request.client ?? key;
    const others = this.#keyFields.map((field) => request[field] ?? '');
    const isClient = key === '' || key === client;
    const name = isClient && others.length === 0 ? client : [client, key, ...others].join('\n');
    let id = this.#senderIds.get(name);
    if (id === undefined) {
      if (this.#senders.length === MOST_WHO)
        throw new Failure('invalid_input', {
          what: `The log has more than ${MOST_WHO} clients, or values that limits count by.`,
          fix: 'Take a part of it with --from and --to.',
        });
      const group = this.#groupOf(isClient ? client : `${client}\n${key}`, request.user);
      const who = { client: this.#clientOf(client), key, request: { ...request, client }, keys: new Map(), group };
      id = this.#senders.push(who) - 1;
      this.#senderIds.set(name, id);
    }
    return id * MOST_PLACES + this.#target;
  }

  #groupOf(name: string, user = ''): number {
    const whole = `${name}\n${user}`;
    const known = this.#groupIds.get(whole) ?? this.#groupIds.size;
    this.#groupIds.set(whole, known);
    return known;
  }

  groupOf(row: number): number {
    return this.#senders[row >>> PLACE_BITS]!.group;
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
    return [this.#senders[row >>> PLACE_BITS]!, this.#targets[row & (MOST_PLACES - 1)]!];
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
      this.#isFolded
        ? ['many_paths', `The log has more than ${MOST_PLACES - RESERVED} paths: the others are shown together.`]
        : undefined,
    ];
    return what.flatMap((one) => (one === undefined ? [] : [{ code: one[0]!, what: one[1]! }]));
  }

  found(): Omit<LimitDiff, 'left_out' | 'unjudged' | 'readings' | 'warnings'> {
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
