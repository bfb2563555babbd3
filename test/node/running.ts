// Owns a node for a test, or for all of a file: started on a free port with everything in memory, asked over real HTTP, closed at the end.

import { generateSigner } from '../../src/core/record/signing.js';
import { sha256Hex } from '../../src/core/schema/canonical.js';
import { type TimeSource, WallClock } from '../../src/core/time/wall.js';
import { type NodeOptions, type RunningNode, startNode } from '../../src/node/node.js';
import { newKey } from '../../src/node/secret.js';
import { type Key, MemoryCredentials } from '../../src/node/store/credential-store.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { afterTest } from '../left-behind.js';
import { Caller, type Told, toldBy } from './caller.js';

export interface Ask {
  readonly key?: string | undefined;
  readonly session?: string;
  /** Sent as JSON, or as it is where it is text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Running extends RunningNode {
  readonly clock: WallClock;
  readonly store: MemoryStore;
  readonly credentials: MemoryCredentials;
  /** What the clock was told of: empty at the end of every test. */
  readonly errors: unknown[];
  ask(method: string, path: string, ask?: Ask): Promise<Told>;
  /** As `ask`, with the answer unread. */
  send(method: string, path: string, ask?: Ask): Promise<Response>;
  /** Asks as an owner does who has a key of all rights. */
  owner(name?: string): Caller;
  /** A key of an owner, without minting. */
  keyOf(owner: string, expiresInMs?: number, rights?: Partial<Pick<Key, 'scopes' | 'machine'>>): string;
  /** The id of a key that `keyOf` gave. */
  idOf(key: string): string;
  /** The session of a key, by POST /api/session. */
  sessionOf(key: string): Promise<string>;
}

export interface Start extends Partial<NodeOptions> {
  readonly cycleMs?: number;
  readonly memory?: MemoryStore;
  /** Where its time comes from, to step it. Default: this machine. */
  readonly source?: TimeSource | undefined;
}

/** A process that shares its machine with others is late, and would refuse what no test expects to be refused: see overload.test.ts. */
const never = { afterMs: 3_600_000, gateTurnMs: 200, otherTurnMs: 50 };

/** Nor does it close a connection that a late request is just being sent on. */
const KEPT_MS = 3_600_000;

/** Nobody asks a node that its test closes. */
const QUIET_MS = 20;

export async function startRunning({
  cycleMs = 777,
  memory,
  source,
  limits,
  ...options
}: Start = {}): Promise<Running> {
  const errors: unknown[] = [];
  const clock = new WallClock(cycleMs, { onError: (error) => errors.push(error), source });
  const store = memory ?? new MemoryStore();
  const credentials = new MemoryCredentials();
  const node = await startNode({
    clock,
    store,
    credentials,
    signer: generateSigner(),
    openMetrics: true,
    limits: { overload: never, keepAliveTimeoutMs: KEPT_MS, quietMs: QUIET_MS, ...limits },
    ...options,
  });
  const send: Running['send'] = (method, path, asked = {}) =>
    fetch(`${node.url}${path}`, { method, ...requestOf(asked) });
  const ask: Running['ask'] = async (method, path, asked) => toldBy(await send(method, path, asked));
  const owner: Running['owner'] = (name = 'owner') => new Caller(node.url, keyOf(name));
  const idOf: Running['idOf'] = (key) => `key-${sha256Hex(key).slice(0, 8)}`;
  const keyOf: Running['keyOf'] = (owner, expiresInMs = 3_600_000, rights = {}) => {
    const { text, hash } = newKey();
    const now = Math.floor(clock.now());
    const key = { id: idOf(text), hash, owner, isRevoked: false };
    const all: Pick<Key, 'scopes' | 'machine'> = { scopes: ['admin'], machine: undefined, ...rights };
    credentials.putKey({ ...key, ...all, createdAtMs: now, expiresAtMs: now + expiresInMs });
    return text;
  };
  const sessionOf: Running['sessionOf'] = async (key) => {
    const { headers } = await ask('POST', '/api/session', { key });
    return /weir_session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
  };
  afterTest(node.close);
  return { ...node, clock, store, credentials, errors, ask, send, owner, keyOf, idOf, sessionOf };
}

function requestOf({ key, session, body, headers = {} }: Ask): RequestInit {
  const sent: Record<string, string> = { ...headers };
  if (key !== undefined) sent['authorization'] = `Bearer ${key}`;
  if (session !== undefined) sent['cookie'] = `weir_session=${session}`;
  if (body === undefined) return { headers: sent };
  sent['content-type'] = 'application/json';
  return { headers: sent, body: typeof body === 'string' ? body : JSON.stringify(body) };
}
