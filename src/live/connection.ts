// Owns the way to a target before a run begins: the URL checked, the pool opened, the time there found out. Leaves what is sent to the
// run, and closes all of it at the end.
import { WallClock } from '../time/wall.js';
import { type Endpoint, endpointOf } from './endpoint.js';
import { Wire } from './http-pool.js';
import { type NodeTime, ownTime, readNodeTime } from './node-clock.js';

export interface ConnectionOptions {
  readonly allowRemote?: boolean | undefined;
  /** The most connections to open, at least 1. Default 128. */
  readonly connections?: number | undefined;
  /** For a target that does not tell its cycles: the length of one in ms. Undefined: it is a node, and tells. */
  readonly cycleMs: number | undefined;
  /** How long an answer is waited for, in ms. Default 5000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  readonly endpoint: Endpoint;
  readonly wire: Wire;
  /** Runs; its time is that of this machine. */
  readonly clock: WallClock;
  readonly time: NodeTime;
  readonly connections: number;
  readonly timeoutMs: number;
  close(): Promise<void>;
}

export const TIMEOUT_MS = 5_000;
const CONNECTIONS = 128;

/** @throws Failure `wrong_usage`, `remote_not_allowed`, `node_unreachable`, `answer_unreadable` */
export async function connectTo(url: string, options: ConnectionOptions): Promise<Connection> {
  const { allowRemote = false, connections = CONNECTIONS, timeoutMs = TIMEOUT_MS, cycleMs, signal } = options;
  const endpoint = endpointOf(url, allowRemote);
  const wire = new Wire(endpoint.origin, { connections });
  const clock = new WallClock(cycleMs ?? 1_000, {
    onError: (error) => {
      throw error;
    },
  });
  clock.start();
  const close = async () => {
    clock.stop();
    await wire.close();
  };
  try {
    const time =
      cycleMs === undefined ? await readNodeTime(wire, endpoint, clock, timeoutMs, signal) : ownTime(clock, cycleMs);
    return { endpoint, wire, clock, time, connections, timeoutMs, close };
  } catch (error) {
    await close();
    throw error;
  }
}
