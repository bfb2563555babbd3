// Connects to a target before a run: checks the URL, opens the pool, reads the target's time, and proves the key of a node. No credential
// is sent before.
//
//   ours    s ────────────── r         GET /api/clock: asked at s, answered at r, both by our monotonic clock
//               \        /
//   node         x: 12.5 ms to go      between s and r: estimated at the middle, with an error of at most half the round trip
//
// The fastest of several round trips is used. The clock of the run continues from there at the rate of our monotonic clock, so that
// setting this machine's time of day does not move the run.

import { readFileSync } from 'node:fs';
import type { CallOptions } from '../../api/client/api-client.js';
import { insecure, isReadable } from '../../api/client/base-url.js';
import { type Reached, reach } from '../../api/client/connect.js';
import { isLoopback } from '../../api/loopback.js';
import { readClock } from '../../api/node.js';
import { Failure } from '../../core/schema/failure.js';
import { startOf } from '../../core/time/cycle.js';
import { WallClock, type WallOptions } from '../../core/time/wall.js';
import { HttpPool, type PoolRequest } from './http-pool.js';

export interface ConnectionOptions {
  readonly allowRemote?: boolean | undefined;
  /** Further nodes of the same network: requests go to all in turn; the model is still one limiter. */
  readonly alsoUrls?: readonly string[] | undefined;
  /** Allows credentials over plain http to another machine. Default: false. */
  readonly insecure?: boolean | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** At most, and at least 1. Default: 128, and more while requests wait for one, up to a bound. */
  readonly connections?: number | undefined;
  /** Undefined for a node, which reports its own. */
  readonly cycleMs: number | undefined;
  /** Default: 5000. */
  readonly timeoutMs?: number | undefined;
  /** Ends the run early; the result so far is marked as partial. */
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  readonly endpoint: TargetAddress;
  readonly others: readonly TargetAddress[];
  readonly pool: HttpPool;
  readonly nodes: readonly Reached[];
  /** Already started; shows the time of this machine. */
  readonly clock: WallClock;
  readonly time: NodeTime;
  /** Opened as soon as they are needed. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** Has the node sign a new nonce; does nothing for other targets. @throws Failure `key_unproved`, `node_unreachable` */
  prove(): Promise<void>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;
const READY = 128;
const MOST = 4_096;
/** A node takes 1,024 connections of an address, and one in this process holds the other ends of ours. */
const MOST_OF_NODE = 1_000;
/** Files and connections of this process besides. */
const OTHER_FILES = 100;
/** Headers that carry credentials: `Authorization`, `Cookie`, `X-Api-Key`, `X-Auth-Token`, … */
const CREDENTIAL = /(^|-)(authorization|cookie|auth|(api-?)?key|token|secret|password|session|credentials?)(-|$)/i;

/**
 * @throws Failure `wrong_usage`, `remote_not_allowed`, `node_unreachable`, `answer_unreadable`, `key_unproved`; `insecure_connection` if a
 * credential, such as the key of a node, could be read on the way
 */
export async function connectTo(url: string, options: ConnectionOptions): Promise<Connection> {
  const { allowRemote = false, timeoutMs = TIMEOUT_MS, cycleMs } = options;
  const endpoint = endpointOf(url, allowRemote);
  const waiting = { timeoutMs, signal: options.signal };
  const isNode = cycleMs === undefined;
  const most = options.connections ?? mostConnections(isNode);
  const connections = options.connections ?? Math.min(READY, most);
  const sendsCredential = isNode || Object.keys(options.headers ?? {}).some((name) => CREDENTIAL.test(name));
  const others = (options.alsoUrls ?? []).map((one) => endpointOf(one, allowRemote));
  for (const { origin } of [endpoint, ...others])
    if (sendsCredential && options.insecure !== true && isReadable(origin)) throw insecure(origin);
  const nodes: Reached[] = [];
  const clock = new WallClock(cycleMs ?? 1_000);
  clock.start();
  const release = async () => {
    clock.stop();
    await Promise.all(nodes.map((node) => node.close()));
  };
  const prove = async () => {
    await Promise.all(nodes.map((node) => node.prove()));
  };
  try {
    if (isNode)
      for (const { origin, basePath } of [endpoint, ...others])
        nodes.push(await reach(origin + basePath, options.insecure, waiting).catch(refuseOther));
    const [node] = nodes;
    const time =
      node === undefined
        ? { cycleMs: clock.cycleMs, offsetMs: clock.now() - clock.monotonicMs(), uncertaintyMs: 0 }
        : await readNodeTime(node, clock, waiting);
    await prove();
    const pool = new HttpPool(endpoint.origin, { ready: connections, most, also: others.map(({ origin }) => origin) });
    const close = async () => {
      await Promise.all([pool.close(), release()]);
    };
    return { endpoint, others, pool, nodes, clock, time, connections, timeoutMs, prove, close };
  } catch (error) {
    await release();
    throw error;
  }
}

function mostConnections(isNode: boolean): number {
  const spare = Math.max(READY, openFiles() - OTHER_FILES);
  return isNode ? Math.min(MOST_OF_NODE, Math.floor(spare / 2)) : Math.min(MOST, spare);
}

/** As `ulimit -n`; Infinity if it is unknown, as on other systems than Linux. */
function openFiles(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

function refuseOther(error: unknown): never {
  if (!(error instanceof Failure && error.code === 'answer_unreadable')) throw error;
  const { what, why } = error;
  const fix = 'Check the address. A service that is no Weir node needs a `target` in the scenario.';
  throw new Failure('answer_unreadable', { what, why, fix });
}

export interface TargetAddress {
  readonly origin: string;
  /** Prefix of every path of a node, without a trailing slash: `` or `/weir`. */
  readonly basePath: string;
  /** Path and query of the URL as given, for a target that is no node. */
  readonly path: string;
}

/** @throws Failure `wrong_usage` if it is not an http URL, `remote_not_allowed`: load must not go elsewhere by accident */
function endpointOf(url: string, allowRemote = false): TargetAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new Failure('wrong_usage', {
      what: `"${url}" is no URL of an HTTP service.`,
      fix: 'Give one as http://127.0.0.1:8777.',
    });
  }
  if (!allowRemote && !isLoopback(parsed.hostname)) {
    throw new Failure('remote_not_allowed', {
      what: `Nothing was sent to ${parsed.host}.`,
      why: 'It is not this machine, and load on a machine of somebody else can do harm.',
      fix: 'If it is yours to test, confirm with --allow remote.',
    });
  }
  return {
    origin: parsed.origin,
    basePath: parsed.pathname.replace(/\/+$/, ''),
    path: `${parsed.pathname}${parsed.search}`,
  };
}

export interface ClockOffset {
  /** Unix ms of the other clock at the zero of our monotonic clock. */
  readonly offsetMs: number;
  /** Largest error of `offsetMs`. */
  readonly uncertaintyMs: number;
}

export interface NodeTime extends ClockOffset {
  readonly cycleMs: number;
}

/** A node's own clock moves in whole milliseconds, so it may settle by up to one after a reading. */
const ROUNDING_MS = 1;

const READINGS = 12;

/** @throws Failure `node_unreachable`, `answer_unreadable`; the reason of an aborted signal */
export async function readNodeTime({ anyone }: Reached, clock: WallClock, waiting: CallOptions): Promise<NodeTime> {
  let cycleMs = 0;
  const time = await quickestReading(clock, READINGS, async () => {
    const answer = await anyone.call(readClock, undefined, waiting);
    cycleMs = answer.cycle_ms;
    return startOf(answer.cycle + 1, cycleMs) - answer.next_cycle_in_ms;
  });
  return { ...time, cycleMs, uncertaintyMs: time.uncertaintyMs + ROUNDING_MS };
}

/** @param read gives the other clock's time, in unix ms */
export async function quickestReading(
  clock: Pick<WallClock, 'monotonicMs'>,
  readings: number,
  read: () => Promise<number>,
): Promise<ClockOffset> {
  let best: ClockOffset | undefined;
  for (let n = 0; n < readings; n += 1) {
    const askedMs = clock.monotonicMs();
    const atMs = await read();
    const answeredMs = clock.monotonicMs();
    const uncertaintyMs = (answeredMs - askedMs) / 2;
    if (best !== undefined && best.uncertaintyMs <= uncertaintyMs) continue;
    best = { offsetMs: atMs - (askedMs + answeredMs) / 2, uncertaintyMs };
  }
  return best!;
}

/** A clock on the node's time. The caller starts and stops it. */
export function alignedClock(base: WallClock, { cycleMs, offsetMs }: NodeTime, options?: WallOptions): WallClock {
  const monotonicMs = () => base.monotonicMs();
  return new WallClock(cycleMs, { ...options, source: { monotonicMs, wallMs: () => monotonicMs() + offsetMs } });
}

/** A move by up to this share of a cycle is slewing, not setting: sends keep this distance from the edges of cycles. */
export const TOLERATED_MOVE = 0.1;

/** Relative movement of the node's clock between two readings, beyond their uncertainty; ms, at least 0. */
export function movedMs(before: ClockOffset, after: ClockOffset): number {
  const apartMs = Math.abs(after.offsetMs - before.offsetMs);
  return Math.max(0, apartMs - before.uncertaintyMs - after.uncertaintyMs);
}

const AT_ONCE = 32;
const ROUNDS = 60;
const LONGEST_MS = 600;

/** Lets the node compile its code, by requests that do not count: cold, the first hundred take ten times as long. */
export async function warmUp(
  { pool, clock, timeoutMs, connections }: Connection,
  request: PoolRequest,
  signal?: AbortSignal,
): Promise<void> {
  const endMs = clock.now() + LONGEST_MS;
  for (let round = 0; round < ROUNDS && clock.now() < endMs && signal?.aborted !== true; round += 1) {
    await pool.warm(Math.min(AT_ONCE, connections), request, timeoutMs);
  }
}
