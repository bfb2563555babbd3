// The clients of Redis, of which there are three kinds, as one. The one file that names the client library.
import { createClient, createCluster, createSentinel, RESP_TYPES } from '@redis/client';
import type { RedisPlace } from './place.js';

/** What is used of the three kinds of clients. */
export interface Wire {
  send(key: string, args: string[], isBinary: boolean): Promise<unknown>;
  /** For each server that has keys. */
  sendToAll(args: string[]): Promise<unknown>;
  subscribe(channels: readonly string[], listener: (message: string, channel: string) => void): Promise<void>;
  close(): void;
}

/** Its own timer costs more than the command, and ends once that is written. */
const commandOptions = { timeout: undefined } as unknown as { readonly timeout: number };
const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } as const;

function reconnectStrategy(retries: number): number {
  return Math.min(25 * 2 ** retries, 500);
}

const socket = { connectTimeout: 1_000, reconnectStrategy };

/**
 * A client of one server, as the library has it. To be destroyed by the caller.
 * @param isStrict whether a command is refused while the connection is cut, in place of waiting for it
 * @throws what the client says
 */
export async function openClient(
  { credentials, isTls, nodes: [node] }: Extract<RedisPlace, { kind: 'single' }>,
  onError: (error: unknown) => void,
  isStrict = false,
) {
  const own = { ...socket, ...(isTls ? ({ tls: true } as const) : {}), ...node! };
  const options = { ...credentials, disableOfflineQueue: isStrict, commandOptions };
  // Whether it is there at all is said at once; later it is waited for.
  const probe = createClient({ ...options, socket: { ...own, reconnectStrategy: false as const } });
  probe.on('error', () => {});
  await probe.connect();
  probe.destroy();
  const client = createClient({ ...options, socket: own });
  client.on('error', onError);
  await client.connect();
  return client;
}

/** Connects. @throws what the client says */
export async function openWire(place: RedisPlace, onError: (error: unknown) => void): Promise<Wire> {
  const options = { ...place.credentials, disableOfflineQueue: true, commandOptions };
  switch (place.kind) {
    case 'single': {
      const client = await openClient(place, onError, true);
      const listening = client.duplicate({ disableOfflineQueue: false });
      listening.on('error', () => {});
      await listening.connect();
      return {
        send: (_key, args, isBinary) => client.sendCommand(args, isBinary ? bytes : undefined),
        sendToAll: (args) => client.sendCommand(args),
        subscribe: (channels, listener) => listening.subscribe([...channels], listener),
        close() {
          client.destroy();
          listening.destroy();
        },
      };
    }
    case 'cluster': {
      const rootNodes = place.nodes.map((node) => ({ socket: { ...socket, ...node } }));
      const defaults = { ...options, socket };
      const cluster = createCluster({ rootNodes, defaults, commandOptions });
      cluster.on('error', onError);
      await cluster.connect();
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
      });
      sentinel.on('error', onError);
      await sentinel.connect();
      return {
        send: (_key, args, isBinary) => sentinel.sendCommand(false, args, isBinary ? bytes : undefined),
        sendToAll: (args) => sentinel.sendCommand(false, args),
        subscribe: (channels, listener) => sentinel.subscribe([...channels], listener),
        close: () => sentinel.destroy(),
      };
    }
  }
}
