// The port for processes on other machines that send a load in place of this one.
import type { Seed } from '../../core/math/seed.js';
import type { Pause } from '../explain/seen-request.js';
import type { Connection, ConnectionOptions } from './connection.js';
import type { RequestLog, RequestLogOptions } from './request-log.js';
import type { Lag } from './run-clock.js';
import type { Sending, Stage } from './sending.js';
import type { MadeOnNode } from './weir-target.js';

export interface LoadsElsewhere {
  /** The caller closes it. @throws Failure `store_away`; `wrong_usage` */
  openGenerators(redis: string, connection: Connection, task: LoadTask): Promise<Generators>;
}

export interface Generators {
  /** Gives every worker a share, until all are ready. @throws Failure `worker_failed`, `store_away`; the reason of an aborted signal */
  gather(made: MadeOnNode | undefined, signal: AbortSignal | undefined): Promise<void>;
  sending(stage: Stage): Sending;
  /** The log of the whole run, as one generator would have kept it. @throws Failure `store_away`, `worker_failed` */
  merged(options: RequestLogOptions): Promise<Merged>;
  close(): Promise<void>;
}

export interface LoadTask {
  readonly path: string;
  readonly scenario: unknown;
  readonly seed: Seed;
  readonly byInstants: boolean;
  readonly requests: number | undefined;
  readonly url: string;
  readonly connect: Omit<ConnectionOptions, 'signal' | 'cycleMs' | 'headers'>;
  readonly cycleMs: number;
}

export interface Merged {
  readonly requestLog: RequestLog;
  readonly lagMs: Lag;
  readonly pauses: readonly Pause[];
  /** Largest error of the generators' clocks; instants of requests are intervals of this. */
  readonly apartMs: number;
  readonly sentBy: readonly string[];
  readonly unsound: string | undefined;
  readonly behind: string | undefined;
  readonly connections: number;
  /** Requests that waited while as many connections as allowed were in use. */
  readonly waited: number;
}
