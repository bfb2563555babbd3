// Owns the speed of the node over HTTP, beside the same routes on bare Fastify, bare node:http and @fastify/rate-limit, each in a
// process of its own, asked in turn. Leaves the servers to node-peer.ts, the way of measuring to measure.ts.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { type BenchRow, median } from './measure.js';
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
    const event = await inTurn(servers, (told) => requestsPerSecond(told, 'event', seconds), rounds);
    const gate = await inTurn(servers, (told) => requestsPerSecond(told, 'gate', seconds), rounds);
    const lines = await linesPerSecond(node!.told, '{"type":"request"}\n', rounds);
    const batches = await linesPerSecond(node!.told, '{"type":"request","count":10}\n', rounds);
    const gates = await gatesPerSecond(node!.told, rounds);
    return [
      ...rowsOf('event', event),
      ...rowsOf('gate', gate),
      {
        what: 'node: POST gates, 1,000 in a request',
        value: gates,
        unit: 'gates/s',
        against: { name: 'one gate a request', value: gate.weir, ratio: gates / gate.weir, target: 20 },
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

/** a b c d, a b c d, … after one round to warm up: what disturbs the machine disturbs them all; of each the median. */
async function inTurn(
  servers: readonly Server<Alone>[],
  measure: (told: Listening) => Promise<number>,
  rounds: number,
): Promise<Record<Alone, number>> {
  const seen: Record<Alone, number[]> = { weir: [], fastify: [], http: [], 'rate-limit': [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const { kind, told } of servers) {
      const value = await measure(told);
      if (round > 0) seen[kind].push(value);
    }
  }
  const medians = Object.entries(seen).map(([kind, values]) => [kind, median(values)]);
  return Object.fromEntries(medians) as Record<Alone, number>;
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
  const seen: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const startMs = performance.now();
    for (let sent = 0; sent < 100; sent += 1) await Promise.all([send(), send()]);
    if (round > 0) seen.push((200 * 1000 * GATES) / (performance.now() - startMs));
  }
  return median(seen);
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
  const seen: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const startMs = performance.now();
    for (let sent = 0; sent < 5; sent += 1) await Promise.all([send(), send()]);
    if (round > 0) seen.push((10 * 1000 * lines) / (performance.now() - startMs));
  }
  return median(seen);
}

function rowsOf(what: 'event' | 'gate', seen: Record<Alone, number>): BenchRow[] {
  return peers.map(([kind, name, { [what]: target }]) => ({
    what: what === 'event' ? 'node: POST event' : 'node: GET gate',
    value: seen.weir,
    unit: 'requests/s',
    against: { name, value: seen[kind], ratio: seen.weir / seen[kind], ...(target !== undefined && { target }) },
  }));
}

function wanted(what: string, value: number, unit: string, least: number): BenchRow {
  return { what, value, unit, against: { name: 'what is wanted', value: least, ratio: value / least, target: 1 } };
}
