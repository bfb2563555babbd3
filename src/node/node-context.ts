// Owns the list of the parts that a node is put together from, as its routes see them. Leaves putting them together to node.ts.

import type { Host } from '../host/host.js';
import type { OperatorRegistry } from '../operator/registry.js';
import type { Signer, Succession } from '../record/signing.js';
import type { Credentials } from '../store/credentials.js';
import type { Store } from '../store/store.js';
import type { WallClock } from '../time/wall.js';
import type { Access } from './access.js';
import type { ActiveMachines } from './active-machines.js';
import type { Checkpoints } from './checkpoints.js';
import type { Counts } from './counts.js';
import type { Durability } from './durability.js';
import type { Turns } from './fair-queue.js';
import type { Limits } from './limits.js';
import type { Metrics } from './metrics.js';
import type { MintLimit } from './mint-limit.js';
import type { Ownership } from './ownership.js';
import type { RateLimitWriter } from './rate-limit-fields.js';
import type { Streams } from './stream.js';
import type { Verifications } from './verifications.js';

/** A route as it is listed. */
export interface ListedRoute {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly tier: string;
  readonly domain: string;
  /** One sentence. */
  readonly summary: string;
}

export interface Parts {
  readonly version: string;
  readonly limits: Limits;
  readonly clock: WallClock;
  readonly host: Host;
  readonly store: Store;
  readonly credentials: Credentials;
  readonly operators: OperatorRegistry;
  readonly signer: Signer;
  /** How the present key of the signer followed from earlier ones, oldest first. */
  readonly successions: readonly Succession[];
  readonly access: Access;
  readonly ownership: Ownership;
  readonly durability: Durability;
  readonly rateLimits: RateLimitWriter;
  readonly mintLimit: MintLimit;
  readonly active: ActiveMachines;
  readonly checkpoints: Checkpoints;
  readonly verifications: Verifications;
  readonly turns: Turns;
  readonly streams: Streams;
  readonly counts: Counts;
  readonly metrics: Metrics;
  readonly routes: readonly ListedRoute[];
  readonly isDraining: () => boolean;
}
