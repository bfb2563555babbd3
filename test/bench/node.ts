// Owns the speed of the node over HTTP, beside the same routes on bare Fastify, bare node:http and @fastify/rate-limit, each in a
// process of its own, asked in turn. Leaves the servers to node-peer.ts, the way of measuring to measure.ts.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { type BenchRow, beside, inTurn, secondsOf } from './measure.js';
import type { Kind, Listening } from './node-peer.js';

const CONNECTIONS = 50;
/** Gates of one request: as many as it may ask. */
const GATES = 1_000;

/** How long each server is asked, and how often in turn. */
export interface NodeBenchOptions {
  readonly seconds?: number;
  readonly rounds?: number;
}

/** Those that need no Redis. */
type Alone = Exclude<Kind, 'network' | 'flexible'>;

interface Targets {
  readonly event?: number;
  readonly gate?: number;
}

const peers: readonly [Exclude<Alone, 'weir'>, name: string, Targets][] = [
  ['fastify', 'bare Fastify, same schemas', { event: 0.97, gate: 1.05 }],
  ['http', 'bare node:http', {}],
  ['rate-limit', '@fastify/rate-limit', { gate: 1 }],
];

export async function benchNode({ seconds = 3, rounds = 5 }: NodeBenchOptions = {}): Promise<BenchRow[]> {
  const kinds: Alone[] = ['weir', 'fastify', 'http', 'rate-limit'];
  const servers = await Promise.all(kinds.map((kind) => startServer(kind)));
  const [node] = servers;
  const stream = new AbortController();
  void fetch(`${node!.told.url}/api/chain/bench/stream`, { signal: stream.signal }).catch(() => {});
  try {
    const ofAll = (what: 'event' | 'gate') => {
      const measures = servers.map(({ kind, told }) => [kind, () => requestsPerSecond(told, what, seconds)] as const);
      return inTurn<Alone>(Object.fromEntries(measures) as Record<Alone, () => Promise<number>>, rounds);
    };
    const [event, gate] = [await ofAll('event'), await ofAll('gate')];
    const lines = await linesPerSecond(node!.told, '{"type":"request"}\n', rounds);
    const batches = await linesPerSecond(node!.told, '{"type":"request","count":10}\n', rounds);
    const gates = await gatesPerSecond(node!.told, rounds);
    return [
      ...rowsOf('event', event),
      ...rowsOf('gate', gate),
      {
        ...{ what: 'node: POST gates, 1,000 in a request', value: gates, unit: 'gates/s' },
        against: beside(gates, 'one gate a request', gate.weir, 20),
      },
      wanted('node: events in bulk, one a line', lines, 'lines/s', 3_600_000),
      wanted('node: events in bulk, ten a line', 10 * batches, 'events/s', 25_000_000),
    ];
  } finally {
    stream.abort();
    for (const { process } of servers) process.kill();
  }
}

export interface Server<K extends Kind = Kind> {
  readonly kind: K;
  readonly process: ChildProcess;
  readonly told: Listening;
}

/** @param redis of those that need one */
export async function startServer<K extends Kind>(kind: K, redis = ''): Promise<Server<K>> {
  const process = fork(fileURLToPath(new URL('./node-peer.js', import.meta.url)), [kind, redis]);
  const [told] = (await once(process, 'message')) as [Listening];
  return { kind, process, told };
}

async function requestsPerSecond(told: Listening, what: 'event' | 'gate', duration: number): Promise<number> {
  const { url, authorization } = told;
  const asked =
    what === 'gate'
      ? { headers: { authorization } }
      : {
          method: 'POST' as const,
          headers: { authorization, 'content-type': 'application/json' },
          body: '{"type":"request"}',
        };
  const result = await autocannon({ url: url + told[what], connections: CONNECTIONS, duration, ...asked });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} lost`);
  return result.requests.total / result.duration;
}

/** Requests for many gates, two at a time. */
async function gatesPerSecond({ url, authorization, gate }: Listening, rounds: number): Promise<number> {
  const contract_id = gate.split('/').at(-2);
  const body = JSON.stringify({ requests: Array.from({ length: GATES }, () => ({ contract_id })) });
  const headers = { authorization, 'content-type': 'application/json' };
  const path = `${gate.slice(0, gate.indexOf('/contracts/'))}/gates`;
  const send = async () => {
    const response = await fetch(url + path, { method: 'POST', headers, body });
    const { decisions } = (await response.json()) as { decisions: unknown[] };
    if (decisions.length !== GATES) throw new Error(`${decisions.length} of ${GATES} gates were decided`);
  };
  return twoAtATime(send, 200, GATES, rounds);
}

/** Bodies of a megabyte, two at a time. */
async function linesPerSecond({ url, authorization, event }: Listening, line: string, rounds: number): Promise<number> {
  const lines = Math.floor(1_000_000 / line.length);
  const body = line.repeat(lines);
  const headers = { authorization, 'content-type': 'application/x-ndjson' };
  const send = async () => {
    const response = await fetch(`${url}${event}s`, { method: 'POST', headers, body });
    const { counted } = (await response.json()) as { counted: number };
    if (counted !== lines) throw new Error(`${counted} of ${lines} lines were counted`);
  };
  return twoAtATime(send, 10, lines, rounds);
}

/** What so many requests bring, each with as many, by the second. */
async function twoAtATime(send: () => Promise<void>, requests: number, each: number, rounds: number): Promise<number> {
  const all = async () => {
    for (let sent = 0; sent < requests; sent += 2) await Promise.all([send(), send()]);
  };
  const perSecond = async () => (requests * each) / (await secondsOf(all));
  return (await inTurn({ perSecond }, rounds)).perSecond;
}

function rowsOf(what: 'event' | 'gate', seen: Record<Alone, number>): BenchRow[] {
  return peers.map(([kind, name, { [what]: target }]) => ({
    ...{ what: what === 'event' ? 'node: POST event' : 'node: GET gate', value: seen.weir, unit: 'requests/s' },
    against: beside(seen.weir, name, seen[kind], target),
  }));
}

function wanted(what: string, value: number, unit: string, least: number): BenchRow {
  return { what, value, unit, against: beside(value, 'what is wanted', least, 1) };
}
