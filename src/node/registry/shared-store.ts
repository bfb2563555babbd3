// The port to a store that several nodes share: where a node keeps and counts in place of its own store.
import type { KeyRing } from '../../core/record/key-ring.js';
import type { Signer } from '../../core/record/signing.js';
import type { WallClock } from '../../core/time/wall.js';
import type { CallerQueue } from '../caller-queue.js';
import type { Counting } from '../counting/counting.js';
import type { Host } from '../host/host.js';
import type { Limits } from '../limits.js';
import type { RecordReader } from '../store/store.js';
import type { Registry, RegistryContext } from './registry.js';

export interface NodeOfMany {
  readonly clock: WallClock;
  readonly signer: Signer;
  readonly limits: Limits;
  readonly onError: (error: unknown) => void;
}

/** @param host knows what exists; nothing counts in it */
export type JoinNetwork = (node: NodeOfMany, host: Host) => SharedStore;

interface SharedStore {
  readonly record: RecordReader;
  /** The public keys of all nodes ever registered. */
  keys(): Promise<KeyRing>;
  registry(context: RegistryContext): Registry;
  counting(queue: CallerQueue): Counting;
}
