// One interface to the three kinds of Redis clients. The only file that names the client library.
import { isIP } from 'node:net';
import { createClient, createCluster, createSentinel, RESP_TYPES } from '@redis/client';
import { pause } from '../time/wall.js';
import type { RedisPlace, RedisTls } from './place.js';

export interface Wire {
  send(key: string, args: string[], isBinary: boolean): Promise<unknown>;
  sendToAll(args: string[]): Promise<unknown[]>;
  subscribe(channels: readonly string[], listener: (message: string, channel: string) => void): Promise<void>;
  close(): void;
}

// The library's own timer costs more than the command, and ends once the command is written.
const commandOptions = { timeout: undefined } as unknown as { readonly timeout: number };
const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } as const;

function reconnectStrategy(retries: number): number {
  return Math.min(25 * 2 ** retries, 500);
}

const plain = { connectTimeout: 1_000, reconnectStrategy };

function socketOf(tls: RedisTls | undefined) {
  return tls === undefined ? plain : { ...plain, ...tls, tls: true as const };
}

/** Server name for SNI, because a certificate may be one of many. */
function serverOf(tls: RedisTls | undefined, host: string): { readonly servername?: string } {
  return tls === undefined || tls.servername !== undefined || isIP(host) !== 0 ? {} : { servername: host };
}

/** Time limit for a server that accepts connections but does not answer, in ms. */
const OPEN_WITHIN_MS = 5_000;

/** @throws Error after OPEN_WITHIN_MS; the caller cleans up */
export async function openedInTime<T>(opening: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = pause(OPEN_WITHIN_MS, over.signal).then(() => {
    throw new Error(`no answer within ${OPEN_WITHIN_MS / 1_000} s`);
  });
  try {
    return await Promise.race([opening, late]);
  } finally {
    over.abort();
  }
}

interface Openable {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  destroy(): unknown;
}

async function connected<T extends Openable>(client: T): Promise<T> {
  try {
    await openedInTime(client.connect());
    return client;
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw error;
  }
}

/**
 * A client of one server; the caller destroys it.
 * @param isStrict whether commands fail while the connection is cut, instead of waiting
 */
export async function openClient(
  { credentials, tls, nodes: [node] }: Extract<RedisPlace, { kind: 'single' }>,
  onError: (error: unknown) => void,
  isStrict = false,
) {
  const own = { ...socketOf(tls), ...serverOf(tls, node!.host), ...node! };
  const options = { ...credentials, disableOfflineQueue: isStrict, commandOptions };
  // A missing server fails at once; a later loss is retried.
  const probe = createClient({ ...options, socket: { ...own, reconnectStrategy: false as const } });
  probe.on('error', () => {});
  (await connected(probe)).destroy();
  const client = createClient({ ...options, socket: own });
  client.on('error', onError);
  return connected(client);
}

export async function openWire(place: RedisPlace, onError: (error: unknown) => void): Promise<Wire> {
  const options = { ...place.credentials, disableOfflineQueue: true, commandOptions };
  const socket = socketOf(place.tls);
  switch (place.kind) {
    case 'single': {
      const client = await openClient(place, onError, true);
      const listening = client.duplicate({ disableOfflineQueue: false });
      listening.on('error', () => {});
      await connected(listening).catch((error) => {
        client.destroy();
        throw error;
      });
      return {
        send: (_key, args, isBinary) => client.sendCommand(args, isBinary ? bytes : undefined),
        sendToAll: async (args) => [await client.sendCommand(args)],
        subscribe: (channels, listener) => listening.subscribe([...channels], listener),
        close() {
          client.destroy();
          listening.destroy();
        },
      };
    }
    case 'cluster': {
      const rootNodes = place.nodes.map((node) => ({
        socket: { ...socket, ...serverOf(place.tls, node.host), ...node },
      }));
      const defaults = { ...options, socket };
      const cluster = createCluster({ rootNodes, defaults, commandOptions });
      cluster.on('error', onError);
      await connected(cluster);
      return {
        send: (key, args, isBinary) => cluster.sendCommand(key, false, args, isBinary ? bytes : undefined),
        sendToAll: (args) =>
          Promise.all(cluster.masters.map(async (node) => (await cluster.nodeClient(node)).sendCommand(args))),
        subscribe: (channels, listener) => cluster.subscribe([...channels], listener),
        close: () => cluster.destroy(),
      };
    }
    case 'sentinel': {
      const sentinel = createSentinel({
        name: place.name,
        sentinelRootNodes: [...place.nodes],
        nodeClientOptions: { ...options, socket },
        sentinelClientOptions: { ...place.sentinelCredentials, socket },
      });
      sentinel.on('error', onError);
      await connected(sentinel);
      return {
        send: (_key, args, isBinary) => sentinel.sendCommand(false, args, isBinary ? bytes : undefined),
        sendToAll: async (args) => [await sentinel.sendCommand(false, args)],
        subscribe: (channels, listener) => sentinel.subscribe([...channels], listener),
        close: () => sentinel.destroy(),
      };
    }
  }
}
