// The port for senders of a run: a schedule, clients, or generators elsewhere.
import type { WallClock } from '../../core/time/wall.js';
import type { ClientFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { RequestsInFlight } from './in-flight.js';
import type { RequestObserver } from './request-log.js';

export interface Sending {
  start(): void;
  stop(): void;
  readonly moved?: (contract: number, admits: boolean) => void;
  /** Whether a schedule determines when requests are sent; otherwise the intended instant is the sending. */
  readonly isScheduled: boolean;
  /** Of a sender that has its own; otherwise those of the pool. */
  readonly connections?: number;
  readonly figures?: () => ClientFigures[];
  readonly series?: (lastCycle: number) => Series;
  /** For generators elsewhere: resolves when all their rows have arrived. */
  readonly landed?: () => Promise<void>;
}

export interface Stage {
  readonly clock: WallClock;
  /** The target's cycle that corresponds to cycle 0 of the schedule. */
  readonly firstCycle: number;
  /** The first cycle after those with requests. */
  readonly endCycle: number;
  /** Requests may be answered up to this cycle. */
  readonly lastCycle: number;
  readonly inFlight: RequestsInFlight;
  readonly observer: RequestObserver;
  readonly uncertaintyMs: number;
  /** Opens connections ahead of a cycle that needs many at once: opening one takes longer than using it. */
  readonly warm: ((connections: number) => void) | undefined;
  /** Call when the target refuses connections, or all senders are gone. */
  readonly left: (words: string) => void;
}
