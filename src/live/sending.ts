// Who sends the requests of a run, and what it is given for that.
import type { ClientFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { WallClock } from '../time/wall.js';
import type { Evidence } from './evidence.js';
import type { RequestsInFlight } from './in-flight.js';

/** Who sends: by a schedule, clients of their own mind, or generators elsewhere. */
export interface Sending {
  /** To be called before the first cycle begins. */
  start(): void;
  stop(): void;
  readonly rateLimited?: (contract: number) => void;
  readonly rateRestored?: (contract: number) => void;
  /** Whether a schedule says when each request is sent. Without it nothing is intended before it is sent. */
  readonly isScheduled: boolean;
  readonly figures?: () => ClientFigures[];
  /** What it measured cycle by cycle, up to this one. */
  readonly series?: (lastCycle: number) => Series;
  /** Of who sends elsewhere: resolves once all has been heard of what was sent. */
  readonly landed?: () => Promise<void>;
}

export interface Stage {
  readonly clock: WallClock;
  readonly firstCycle: number;
  readonly inFlight: RequestsInFlight;
  readonly evidence: Evidence;
  readonly uncertaintyMs: number;
  /** Opens so many connections; undefined for a target at which every request counts. */
  readonly warm: ((connections: number) => void) | undefined;
  /** To be called when nobody listens at the target any more, or nobody sends any more. */
  readonly left: (words: string) => void;
}
