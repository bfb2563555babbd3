// Owns nodes of one network for a test: in this process over one Redis, asked over real HTTP.
import type { Limits } from '../../src/node/limits.js';
import type { Directory } from '../../src/node/network/directory.js';
import { openNetworkStorage } from '../../src/node/network/network-storage.js';
import type { RedisConnection } from '../../src/node/network/redis/connection.js';
import { type RunningNode, startNode } from '../../src/node/node.js';
import { afterTest } from '../left-behind.js';

export interface NetworkNode extends RunningNode {
  readonly errors: unknown[];
  /** What it has logged. */
  said(): readonly string[];
  readonly fingerprint: string;
  readonly directory: Directory;
  readonly connection: RedisConnection;
}

/** Starts a node on a network. A busy machine is late: where a deadline is no part of the test, it is long. */
export async function startNetworkNode(
  url: string,
  cycleMs: number,
  deadlineMs = 10_000,
  bounds: Partial<Limits> = {},
  folder: { readonly dir?: string; readonly acceptLoss?: boolean } = {},
): Promise<NetworkNode> {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const ground = await openNetworkStorage({ url, cycleMs, deadlineMs, onError, ...folder });
  const { store, credentials, clock, network, identity, lost, directory, connection } = ground;
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = { level: 'error', requests: false, destination } as const;
  const { signer } = identity;
  const overload = { afterMs: 3_600_000, gateTurnMs: 200, otherTurnMs: 50 };
  const limits = { overload, keepAliveTimeoutMs: 3_600_000, quietMs: 20, linkedWithinMs: 300_000, ...bounds };
  const node = await startNode({ store, credentials, clock, network, signer, limits, lost, log, openMetrics: true });
  return { ...node, errors, said: () => lines, fingerprint: signer.fingerprint, directory, connection };
}

/** Two nodes of one network, for a test or a file. */
export async function startPair({ url }: { readonly url: string }, cycleMs: number): Promise<readonly NetworkNode[]> {
  const nodes = [await startNetworkNode(url, cycleMs), await startNetworkNode(url, cycleMs)];
  afterTest(() => Promise.all(nodes.map((node) => node.close())));
  return nodes;
}
