// The exports of '@weir/cli'. Importing and calling them does not change the process: no V8 flags, no global handlers.
//
//   const { outcome } = await simulate(await loadScenario('burst.yaml'));

import { makeGate } from './actor/create-limiter.js';
import { retryAfterCycles } from './limiter/forecast.js';
import type { Gate } from './limiter/gate.js';
import type { Plan } from './limiter/plan.js';
import { limiterDefinition } from './limiter/products/limiter-spec.js';
import { type RateLimiterParameters, rateLimiter } from './limiter/rate-limiter.js';
import { planContract } from './limiter/validate.js';
import { Failure } from './schema/failure.js';
import { cycleMsFor, parseTime } from './schema/quantity.js';
import { type Replay, type ReplayOptions, replay as replayWith } from './simulate/replay.js';
import { CYCLE_MS, cycleOf } from './time/cycle.js';
import { addTools } from './tools.js';

export type { Inspect } from './actor/actor-system.js';
export type { Behaviour, ClientEvent, Effect, Job, Step } from './actor/client/behaviour.js';
export type { CustomClientSpec } from './actor/client/client-plan.js';
export {
  type ContractMachine,
  contractMachine,
  contractSetup,
} from './actor/contract-machine.js';
export {
  createLimiter,
  type Limiter,
  type LimiterDecision,
  type LimiterOptions,
  type WindowOptions,
} from './actor/create-limiter.js';
export type { ContractDefinition } from './limiter/definition.js';
export { restoresInCycles } from './limiter/forecast.js';
export type { AggregateEvent, ContractEmitted, MoveEvent } from './limiter/guards.js';
export { type LoadRun, toResult } from './live/live-rows.js';
export { type LoadOptions, load, load$ } from './live/load.js';
export type { LoadResult } from './live/result.js';
export type { Operator } from './operator/operator.js';
export { standardOperators } from './operator/registry.js';
export { differencesBetween as compare } from './outcome/cycle-differences.js';
export type { CycleRow, RowTransition, RunShape } from './outcome/cycle-row.js';
export { type Difference, Outcome } from './outcome/outcome-schema.js';
export type { Timeline } from './outcome/timeline.js';
export type { Verification } from './record/verification.js';
export { verifyRecord } from './record/verify-export.js';
export { openReportFolder, type ReportFolder } from './report/folder.js';
export type { Reported } from './report/reported.js';
export { reportText } from './report/run-document.js';
export { type LoadedScenario, loadScenario, parseScenario, type ScenarioObject } from './scenario/load-scenario.js';
export { Scenario } from './scenario/scenario-schema.js';
export type { FailureCode, Fault } from './schema/failure.js';
export type { CycleCounts } from './simulate/cycle-buffer.js';
export { LogRequests, type LogRequestsOptions } from './simulate/log-requests.js';
export { type Run, type SimulatedRun, type SimulateOptions, simulate, simulate$ } from './simulate/simulate.js';
export {
  type CountOptions,
  countsByCycle,
  decide,
  replay$,
  rollingWindow,
  type StreamedRequest,
  type WindowCounts,
} from './simulate/stream.js';
export type { Axis, Cell, Grid } from './simulate/sweep/grid.js';
export type { SweepOptions } from './simulate/sweep/plan-sweep.js';
export { type RunSweepOptions, type SweepRow, type SweepRun, type SweptFigure, sweep } from './simulate/sweep/sweep.js';
export type {
  Advice,
  ClientHit,
  CurvePoint,
  Recommendation,
  RuleCurve,
  Suspect,
} from './sizing/advice.js';
export { type RecommendOptions, recommend } from './sizing/recommend.js';
export type { Clock } from './time/clock.js';
export { type CycleOptions, type CycleTick, cycles } from './time/cycles.js';
export { VirtualClock } from './time/virtual.js';
export { WallClock } from './time/wall.js';
export type { ArrivalFunction } from './traffic/arrival/custom.js';
export { VERSION } from './version.js';
export {
  CYCLE_MS,
  cycleOf,
  Failure,
  type Gate,
  limiterDefinition,
  makeGate,
  type Plan,
  planContract,
  type RateLimiterParameters,
  type Replay,
  rateLimiter,
  retryAfterCycles,
};

addTools();

const LOG_WINDOW = '60s';

/** Runs logs through a limiter; default: 100 requests in 60 s, one for the whole log. A plan of your own counts cycles of 777 ms, unless `cycleMs` is given. */
export function replay(paths: readonly string[], options: Partial<ReplayOptions> = {}): Promise<Replay> {
  const cycleMs = options.cycleMs ?? (options.plan === undefined ? cycleMsFor([LOG_WINDOW], CYCLE_MS) : CYCLE_MS);
  return replayWith(paths, {
    name: paths[0] ?? 'log',
    cycleMs,
    plan: planContract(rateLimiter({ within: parseTime(LOG_WINDOW, cycleMs, '/within', 1) })),
    log: {},
    ...options,
  });
}

export interface NodeOptions {
  /** Data folder of the node, created if missing. Default: in memory, lost when the node closes. */
  readonly data?: string;
  /** Address to listen on. Default: loopback. */
  readonly host?: string;
  readonly port?: number;
  /** Cycle length in ms, an integer from 1. Default: 777, or that of the data folder. */
  readonly cycleMs?: number;
  /** Further accepted host names, for example a proxy's. Default: loopback; all if other machines reach the node. */
  readonly hostNames?: readonly string[];
  /** A separate port for metrics, on the same address. Default: no metrics. */
  readonly metricsPort?: number;
  /** Addresses or networks of proxies whose `X-Forwarded-*` headers are trusted. Default: none. */
  readonly trustProxy?: readonly string[];
  /** Receives internal errors; the node continues. Default: a warning of the process. */
  readonly onError?: (error: unknown) => void;
}

export interface StartedNode {
  readonly url: string;
  /** Fingerprint of the key that signs its records, `SHA256:…`. */
  readonly fingerprint: string;
  /** Finishes requests in progress first. */
  close(): Promise<void>;
}

/** Resolves when it answers. @throws Failure `port_in_use`, `store_locked`, `store_damaged`, `wrong_usage` */
export async function startNode({ data, cycleMs, onError = warn, ...options }: NodeOptions = {}): Promise<StartedNode> {
  // Programs that only simulate load no server.
  const [{ openStorage }, { startNode: startNodeOn }] = await Promise.all([
    import('./node/node-storage.js'),
    import('./node/node.js'),
  ]);
  const { store, credentials, clock, identity, notes } = openStorage({ dir: data, cycleMs, onError });
  for (const note of notes) process.emitWarning(note);
  const { signer, successions } = identity;
  const node = await startNodeOn({ ...options, store, credentials, clock, signer, successions }).catch(
    (error: unknown) => {
      store.close();
      throw error;
    },
  );
  return { url: node.url, fingerprint: signer.fingerprint, close: () => node.close() };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
