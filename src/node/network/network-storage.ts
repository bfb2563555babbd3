// What a node of many stands on: Redis for everything, and a key of its own to sign with. It is kept in a folder, or made anew at each start.
import { generateSigner } from '../../record/signing.js';
import { HeadMark } from '../../store/head-mark.js';
import { makeFolder } from '../../store/make-folder.js';
import { MemoryStore } from '../../store/memory.js';
import { whileStarting } from '../../store/redis/away.js';
import { DIRECTORY } from '../../store/redis/buckets.js';
import { RedisConnection } from '../../store/redis/connection.js';
import { CYCLE_MS } from '../../time/cycle.js';
import { WallClock } from '../../time/wall.js';
import { identityIn } from '../identity.js';
import type { NodeStorage } from '../node-storage.js';
import { Directory } from './directory.js';
import { checkMark } from './heads.js';

interface NetworkStorageOptions {
  /** See `redisPlace`. */
  readonly url: string;
  /** Folder of the key of this node, and of the last row of each record that it has seen; undefined: a new key, for as long as it runs. */
  readonly dir?: string | undefined;
  /** Default: that of the network, or 777 where this is its first node. */
  readonly cycleMs?: number | undefined;
  /** Whether to go on where rows are missing from Redis of which the folder knows. Default false: refused. */
  readonly acceptLoss?: boolean | undefined;
  /** How long a call may take. Default: 250 ms. */
  readonly deadlineMs?: number | undefined;
  readonly onError: (error: unknown) => void;
}

export interface NetworkStorage extends NodeStorage {
  readonly network: {
    readonly connection: RedisConnection;
    readonly directory: Directory;
    readonly mark: HeadMark | undefined;
  };
}

/** The mark of a network in the folder of a node: that of its data has another name. */
const MARK = 'network.heads';

/** @throws Failure `store_away`, `store_unfit`, `rows_missing`, `wrong_usage` for another length of cycles than that of the network, and for a folder as `openStorage` */
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
        : identityIn(dir, false, lasting, CYCLE_MS);
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
      network: { connection, directory, mark },
    };
  } catch (error) {
    mark?.close();
    connection.close();
    throw whileStarting(error);
  }
}
