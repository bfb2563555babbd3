// The clients of Redis, of which there are three kinds, as one. The one file that names the client library.
import { isIP } from 'node:net';
import { createClient, createCluster, createSentinel, RESP_TYPES } from '@redis/client';
import { pause } from '../../time/wall.js';
import type { RedisPlace, RedisTls } from './place.js';

/** What is used of the three kinds of clients. */
export interface Wire {
  send(key: string, args: string[], isBinary: boolean): Promise<unknown>;
  /** For each server that has keys. @returns their replies */
  sendToAll(args: string[]): Promise<unknown[]>;
  subscribe(channels: readonly string[], listener: (message: string, channel: string) => void): Promise<void>;
  close(): void;
}

/** Its own timer costs more than the command, and ends once that is written. */
const commandOptions = { timeout: undefined } as unknown as { readonly timeout: number };
const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } as const;

function reconnectStrategy(retries: number): number {
  return Math.min(25 * 2 ** retries, 500);
}

const plain = { connectTimeout: 1_000, reconnectStrategy };

function socketOf(tls: RedisTls | undefined) {
  return tls === undefined ? plain : { ...plain, ...tls, tls: true as const };
}

/** The name that the server of a host is asked for: a certificate may be one of many. */
function serverOf(tls: RedisTls | undefined, host: string): { readonly servername?: string } {
  return tls === undefined || tls.servername !== undefined || isIP(host) !== 0 ? {} : { servername: host };
}

/** A server that takes connections and does not answer is given up after this time, in ms. */
const OPEN_WITHIN_MS = 5_000;

/** @throws Error where it takes too long; the caller ends what was begun */
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
 * A client of one server, as the library has it. To be destroyed by the caller.
 * @param isStrict whether a command is refused while the connection is cut, in place of waiting for it
 * @throws what the client says
 */
export async function openClient(
  { credentials, tls, nodes: [node] }: Extract<RedisPlace, { kind: 'single' }>,
  onError: (error: unknown) => void,
  isStrict = false,
) {
  const own = { ...socketOf(tls), ...serverOf(tls, node!.host), ...node! };
  const options = { ...credentials, disableOfflineQueue: isStrict, commandOptions };
  // Whether it is there at all is said at once; later it is waited for.
  const probe = createClient({ ...options, socket: { ...own, reconnectStrategy: false as const } });
  probe.on('error', () => {});
  (await connected(probe)).destroy();
  const client = createClient({ ...options, socket: own });
  client.on('error', onError);
  return connected(client);
}

/** Connects. @throws what the client says */
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
