// Reads the requests of logs in order of time, each with its sender and the limits that it meets.
//
//   request ── host, path, … ──► matching limits of each side ── key ──► take(row, ms)
//
// A row of the order buffer is a sender (a client, or what limits count by) and one of a bounded number of paths, so memory does not
// grow with the log.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { Failure } from '../../core/schema/failure.js';
import type { SourceHooks } from '../../harness/traffic/log/log-bytes.js';
import type { LogOptions, Warning } from '../../harness/traffic/log/log-options.js';
import { readLogs } from '../../harness/traffic/log/read.js';
import type { LogReading } from '../../harness/traffic/log/read-bytes.js';
import { LogOrder } from '../../harness/traffic/log-order.js';
import type { CycleCounts } from '../../harness/traffic/requests.js';
import { SECOND_MS } from '../../harness/traffic/spread.js';
import type { LimitPlace, LimitSide, Requester } from './limit-sides.js';
import type { LoggedRequest, RequestField } from './request-condition.js';

/** Low bits of a row: the path, with its limits. High bits: the sender. */
const PLACE_BITS = 12;
const MOST_PLACES = 2 ** PLACE_BITS;
const MOST_WHO = 2 ** (32 - PLACE_BITS);
/** Kept for overflow: further paths with the same limits share a place. */
const RESERVED = 512;
const OTHERS = '(other paths)';

interface Target {
  readonly id: number;
  readonly path: string;
  /** By side. */
  readonly places: readonly LimitPlace[];
}

interface Takers {
  take(row: number, ms: number): void;
  /** Only if the times of the log are whole seconds: each request at the beginning of its second. */
  takeAtOnce(row: number, ms: number): void;
  /** What came of `takeAtOnce`: `59 are newly refused`. */
  atOnceWords(): string;
}

/** Logs write `-` for an empty text. These are never empty: then the log lacks them. */
const NEVER_EMPTY = new Set<RequestField>(['client', 'host', 'method', 'path', 'status']);

function loggedText(field: RequestField, text: string | undefined): string | undefined {
  const written = text === '-' ? '' : text;
  if (written === '' && NEVER_EMPTY.has(field)) return undefined;
  return field === 'host' ? written?.toLowerCase().replace(/:\d+$/, '') : written;
}

/** @param texts of the fields, as logged */
export function loggedRequest(fields: readonly RequestField[], texts: readonly (string | undefined)[]): LoggedRequest {
  const request: { -readonly [field in RequestField]?: string | undefined } = {};
  fields.forEach((field, i) => {
    request[field] = loggedText(field, texts[i]);
  });
  if (request.path !== undefined) request.path = request.path.replace(/\?.*$/s, '');
  if (request.path !== undefined && request.query !== undefined)
    request.url = request.query === '' ? request.path : `${request.path}?${request.query}`;
  return request;
}

/** The fields of a log that places and keys of limits need. */
export function fieldsNeeded(sides: readonly LimitSide[]): RequestField[] {
  const used = sides.flatMap(({ placeFields, keyFields }) => [...placeFields, ...keyFields]);
  return [
    ...new Set(['client', 'host', 'path', ...used].map((one) => (one === 'url' ? 'query' : one))),
  ] as RequestField[];
}

export class LimitTraffic {
  /** Names of clients, by `Requester.client`. */
  readonly clients: string[] = [];
  readonly #columns: readonly RequestField[];
  readonly #keyFields: readonly RequestField[];
  readonly #placeFields: readonly RequestField[];
  readonly #targets: Target[] = [];
  readonly #targetIds = new Map<string, number>();
  /** Target indexes by what decides them; a cache, cleared at 50,000. */
  readonly #recent = new Map<string, number>();
  /** A group is of one client, user and key: their requests of a second are spread over it together. */
  readonly #senders: (Requester & { readonly group: number })[] = [];
  readonly #senderIds = new Map<string, number>();
  readonly #groupIds = new Map<string, number>();
  readonly #clientIds = new Map<string, number>();
  #request: LoggedRequest = {};
  #target = 0;
  #hasHost = false;
  #isFolded = false;

  /** @param isByPath whether paths with the same limits are kept apart */
  constructor(
    readonly sides: readonly LimitSide[],
    readonly isByPath: boolean,
  ) {
    this.#keyFields = [...new Set(sides.flatMap(({ keyFields }) => [...keyFields]))].filter((one) => one !== 'client');
    this.#placeFields = [
      ...new Set<RequestField>(['host', 'path', ...sides.flatMap(({ placeFields }) => [...placeFields])]),
    ];
    this.#columns = fieldsNeeded(sides);
  }

  /**
   * @param options `keyColumn`: for keys a log lacks
   * @param mostRows of the order buffer: see `readInOrder`
   * @throws Failure `invalid_input`, `no_requests`, of the readers
   */
  async read(
    paths: readonly string[],
    mostRows: number,
    { hooks, ...options }: LogOptions & { readonly hooks: SourceHooks },
    takers: Takers,
  ): Promise<{ readonly readings: readonly LogReading[]; readonly warnings: readonly Warning[] }> {
    const take = (batches: Iterable<CycleCounts>) => {
      for (const { contracts, requests, instants } of batches)
        for (const [k, ms] of instants!.entries())
          for (let n = requests[k]!; n > 0; n -= 1) takers.take(contracts[k]!, ms);
    };
    const order = new LogOrder({
      cycleMs: SECOND_MS,
      isTimed: true,
      mostRows,
      isOne: false,
      decidesByMs: true,
      rowOf: (key) => this.#rowOf(key),
      keepsOrder: true,
      groupOf: (row) => this.#senders[row >>> PLACE_BITS]!.group,
      asRead: (row, n, ms) => {
        for (let left = n; left > 0; left -= 1) takers.takeAtOnce(row, ms);
      },
      run: take,
    });
    const sink = {
      opened: (unit: string | undefined) => order.opened(unit),
      also: (texts: readonly (string | undefined)[]) => this.#meet(texts),
      request: (ms: number, n: number, key: string, spreadMs: number) => order.request(ms, n, key, spreadMs),
    };
    const readings = await readLogs(paths, { ...options, alsoColumns: this.#columns }, sink, hooks);
    take(order.end());
    if (this.clients.length === 1 && this.clients[0] === '')
      throw new Failure('invalid_input', {
        what: 'The log has no client address.',
        fix: 'Name the column that says whose a request is: --key who.',
      });
    const atOnce = `If all of a second came at its beginning, ${takers.atOnceWords()}.`;
    return { readings, warnings: [...this.#warnings(), ...order.warnings(atOnce)] };
  }

  requestAt(row: number): readonly [who: Requester, target: Target] {
    return [this.#senders[row >>> PLACE_BITS]!, this.#targets[row & (MOST_PLACES - 1)]!];
  }

  #meet(texts: readonly (string | undefined)[]): void {
    const request = loggedRequest(this.#columns, texts);
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
    const places = this.sides.map((side) => side.placeOf(request));
    const path = this.isByPath ? (request.path ?? '') : '';
    const known = this.#targetAt(path, places, MOST_PLACES - RESERVED);
    if (known !== undefined) return known;
    this.#isFolded = true;
    const folded = this.#targetAt(OTHERS, places, MOST_PLACES);
    if (folded !== undefined) return folded;
    throw new Failure('invalid_input', {
      what: `The log has more than ${MOST_PLACES - RESERVED} paths, and limits in many places.`,
      fix: 'Take a part of the log: --where path=/api/*.',
    });
  }

  #targetAt(path: string, places: readonly LimitPlace[], most: number): number | undefined {
    const name = [path, ...places.map(({ id }) => id)].join('\n');
    const known = this.#targetIds.get(name);
    const id = this.#targets.length;
    if (known !== undefined || id >= most) return known;
    this.#targetIds.set(name, id);
    return this.#targets.push({ id, path, places }) - 1;
  }

  /** The row of the request last passed to `#meet`. */
  #rowOf(key: string): number {
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
      const [ids, groups] = [this.#clientIds, this.#groupIds];
      const named = getOrInsert(ids, client, () => ids.size);
      this.clients[named] = client;
      const of = `${isClient ? client : `${client}\n${key}`}\n${request.user ?? ''}`;
      const group = getOrInsert(groups, of, () => groups.size);
      id = this.#senders.push({ client: named, key, request: { ...request, client }, keys: new Map(), group }) - 1;
      this.#senderIds.set(name, id);
    }
    return id * MOST_PLACES + this.#target;
  }

  #warnings(): Warning[] {
    const lacksHost = !this.#hasHost && this.sides.some(({ hasHosts }) => hasHosts);
    const noHost = 'The log has no host: a limit of one host is met by requests for any.';
    const many = `The log has more than ${MOST_PLACES - RESERVED} paths: the others are shown together.`;
    return [
      ...(lacksHost ? [{ code: 'no_host', what: noHost }] : []),
      ...(this.#isFolded ? [{ code: 'many_paths', what: many }] : []),
    ];
  }
}
