// Opens the storage of one of many nodes: Redis for everything, and a signing key, in a folder or new at each start.
import { makeFolder } from '../../core/files/make-folder.js';
import { generateSigner } from '../../core/record/signing.js';
import { WallClock } from '../../core/time/wall.js';
import { identityIn } from '../identity.js';
import type { NodeStorage, StorageOptions } from '../node-storage.js';
import type { JoinNetwork } from '../registry/registry.js';
import { HeadMark } from '../store/head-mark.js';
import { MemoryStore } from '../store/memory.js';
import { NetworkCounting } from './counting.js';
import { Directory } from './directory.js';
import { checkMark } from './heads.js';
import { Network } from './network.js';
import { DIRECTORY } from './redis/buckets.js';
import { RedisConnection } from './redis/connection.js';
import { asStartFailure } from './redis/store-away.js';
import { NetworkRegistry } from './registry.js';

/** The folder has the node's key, by default a new one for this run, and the last rows that it has seen: Redis may lack some. */
interface NetworkStorageOptions extends StorageOptions {
  readonly url: string;
  /** Time limit of a call once the node has started. Default: 250 ms. */
  readonly deadlineMs?: number | undefined;
}

interface NetworkStorage extends NodeStorage {
  readonly network: JoinNetwork;
  readonly connection: RedisConnection;
  readonly directory: Directory;
}

const MARK = 'network.heads';

/** @throws Failure `store_away`, `store_unfit`, `rows_missing`, `wrong_usage` (cycle length), and as `openStorage` */
export async function openNetworkStorage({
  url,
  dir,
  cycleMs,
  acceptLoss = false,
  deadlineMs,
  onError,
}: NetworkStorageOptions): Promise<NetworkStorage> {
  const connection = await RedisConnection.open({ url, cycleMs, onError, deadlineMs });
  let mark: HeadMark | undefined;
  try {
    const { cycleMs: lasting } = connection;
    if (dir !== undefined) makeFolder(dir, 0o700);
    const identity =
      dir === undefined
        ? { signer: generateSigner(), successions: [], cycleMs: lasting, isNew: true }
        : identityIn(dir, false, lasting);
    mark = dir === undefined ? undefined : new HeadMark(dir, MARK);
    const lost = mark === undefined ? [] : await checkMark(connection, mark, acceptLoss);
    const { fingerprint, publicKey } = identity.signer;
    await connection.command('HSET', `${DIRECTORY}nodes`, fingerprint, publicKey);
    // The clock of the network is that of Redis: those of the machines may be hours apart.
    const source = { wallMs: () => connection.nowMs(), monotonicMs: () => connection.monotonicMs() };
    const directory = new Directory(connection, onError);
    return {
      store: new MemoryStore(),
      credentials: directory.credentials,
      clock: new WallClock(lasting, { onError, source }),
      identity,
      dir,
      stored: undefined,
      lost,
      notes: [],
      ...{ connection, directory },
      network: (node, host) => {
        const network = new Network({ ...node, connection, directory, mark }, host);
        return {
          record: directory,
          keys: () => network.keys(),
          registry: (context) => new NetworkRegistry({ ...context, network }),
          counting: (queue) => new NetworkCounting(network, host, queue),
        };
      },
    };
  } catch (error) {
    mark?.close();
    connection.close();
    throw asStartFailure(error);
  }
}
