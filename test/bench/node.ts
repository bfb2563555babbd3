// Owns the speed of the node over HTTP, beside the same routes on bare Fastify, bare node:http and @fastify/rate-limit, each in a
// process of its own, asked in turn. Leaves the servers to node-peer.ts, the way of measuring to measure.ts.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MOST_EVENTS } from '../../src/api/events.js';
import { type BenchRow, beside, inTurn, saturated, secondsOf } from './measure.js';
import type { Kind, Listening } from './node-peer.js';

/** With many events, a round. */
const REQUESTS = 200;

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

/** @param seconds each server is asked, and how often in turn */
export async function benchNode(seconds = 3, rounds = 5): Promise<BenchRow[]> {
  const kinds: Alone[] = ['weir', 'fastify', 'http', 'rate-limit'];
  const servers = await Promise.all(kinds.map((kind) => startServer(kind)));
  const [node] = servers;
  const stream = new AbortController();
  void fetch(`${node!.told.url}/api/chain/bench/stream`, { signal: stream.signal }).catch(() => {});
  try {
    const ofAll = (what: 'event' | 'gate') => {
      const measures = servers.map((one) => [one.kind, () => requestsPerSecond(one, what, seconds)] as const);
      return inTurn<Alone>(Object.fromEntries(measures) as Record<Alone, () => Promise<number>>, rounds);
    };
    const [event, gate] = [await ofAll('event'), await ofAll('gate')];
    const many = await eventsPerSecond(node!.told, rounds);
    return [
      ...rowsOf('event', event),
      ...rowsOf('gate', gate),
      {
        ...{ what: 'node: POST events, 1,000 in a request', value: many, unit: 'events/s' },
        against: beside(many, 'one event a request', event.weir, 10),
      },
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

async function requestsPerSecond({ process, told }: Server, what: 'event' | 'gate', seconds: number): Promise<number> {
  const { url, authorization } = told;
  const event = { method: 'POST' as const, body: '{"type":"request"}' };
  const asked =
    what === 'gate'
      ? { headers: { authorization } }
      : { ...event, headers: { authorization, 'content-type': 'application/json' } };
  return (await saturated(process, url + told[what], seconds, asked)).rate;
}

/** Of requests with as many events as they may have, two at a time. */
async function eventsPerSecond({ url, authorization, event }: Listening, rounds: number): Promise<number> {
  const body = JSON.stringify(Array.from({ length: MOST_EVENTS }, () => ({ type: 'request' })));
  const headers = { authorization, 'content-type': 'application/json' };
  const send = async () => {
    const response = await fetch(`${url}${event}s`, { method: 'POST', headers, body });
    const { counted } = (await response.json()) as { counted: number };
    if (counted !== MOST_EVENTS) throw new Error(`${counted} of ${MOST_EVENTS} events were counted`);
  };
  const all = async () => {
    for (let sent = 0; sent < REQUESTS; sent += 2) await Promise.all([send(), send()]);
  };
  const perSecond = async () => (REQUESTS * MOST_EVENTS) / (await secondsOf(all));
  return (await inTurn({ perSecond }, rounds)).perSecond;
}

function rowsOf(what: 'event' | 'gate', seen: Record<Alone, number>): BenchRow[] {
  return peers.map(([kind, name, { [what]: target }]) => ({
    ...{ what: what === 'event' ? 'node: POST event' : 'node: GET gate', value: seen.weir, unit: 'requests/s' },
    against: beside(seen.weir, name, seen[kind], target),
  }));
}
