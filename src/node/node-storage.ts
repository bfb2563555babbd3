// Opens the store, clock and key of a node, in memory or in a data folder.
import { join } from 'node:path';
import { makePrivate } from '../core/files/private-file.js';
import { generateSigner } from '../core/record/signing.js';
import { CYCLE_MS } from '../core/time/cycle.js';
import { Rank } from '../core/time/rank.js';
import { WallClock } from '../core/time/wall.js';
import { holdClock, newestCycleOf } from './hold-clock.js';
import { type Identity, identityIn, rotateKey as withNewKey } from './identity.js';
import type { NodeOptions } from './node.js';
import { MemoryCredentials } from './store/credential-store.js';
import type { MissingRows } from './store/head-mark.js';
import { MemoryStore } from './store/memory.js';
import { openSqliteStore, type SqliteStore } from './store/sqlite.js';

export interface StorageOptions {
  /** The data folder; undefined: in memory, lost when the node ends. */
  readonly dir?: string | undefined;
  /** Cycle length in ms, a whole number from 1. Default: that of the data folder, else 777. */
  readonly cycleMs?: number | undefined;
  readonly rotateKey?: boolean | undefined;
  /** Whether to start although acknowledged rows are missing. Default: false. */
  readonly acceptLoss?: boolean | undefined;
  readonly onError: (error: unknown) => void;
}

export interface NodeStorage extends Pick<NodeOptions, 'store' | 'credentials' | 'clock' | 'network'> {
  readonly identity: Identity;
  /** Absolute path of the data folder; undefined in memory, like `stored`. */
  readonly dir: string | undefined;
  readonly stored: SqliteStore | undefined;
  readonly lost: readonly MissingRows[];
  /** Sentences about permissions that were tightened. */
  readonly notes: readonly string[];
}

/** @throws Failure `store_locked`, `store_damaged`, `unsafe_permissions`, `rows_missing`, `unreadable_file`, `wrong_usage` */
export function openStorage({
  dir,
  cycleMs,
  rotateKey = false,
  acceptLoss = false,
  onError,
}: StorageOptions): NodeStorage {
  if (dir === undefined) {
    const identity = { signer: generateSigner(), successions: [], cycleMs: cycleMs ?? CYCLE_MS, isNew: true };
    const clock = new WallClock(identity.cycleMs, { onError });
    return {
      store: new MemoryStore({ keepsStates: false }),
      credentials: new MemoryCredentials(),
      clock,
      identity,
      dir,
      stored: undefined,
      lost: [],
      notes: [],
    };
  }
  // One turn of the event loop is one commit. The store is opened before there is a clock to flush it.
  let clock: WallClock | undefined;
  const store = openSqliteStore({
    dir,
    acceptLoss,
    defer: (flush) => (clock === undefined ? flush() : clock.agenda.at(clock.now(), Rank.report, flush)),
  });
  try {
    const files = ['node.json', 'weir.db', 'weir.db-wal'].map((name) => join(store.dir, name));
    const notes = [store.dir, ...files].flatMap((path) => makePrivate(path) ?? []);
    const hasData = store.machines().next().done !== true;
    const identity = identityIn(store.dir, hasData, cycleMs);
    clock = new WallClock(identity.cycleMs, { onError });
    const isRotated = rotateKey && !identity.isNew;
    // The new key holds from the running cycle on, which must not be before the newest stored one.
    if (isRotated) holdClock(clock, newestCycleOf(store));
    return {
      store,
      credentials: store.credentials,
      clock,
      identity: isRotated ? withNewKey(store.dir, identity, clock.cycle()) : identity,
      dir: store.dir,
      stored: store,
      lost: store.lost,
      notes,
    };
  } catch (error) {
    store.close();
    throw error;
  }
}
