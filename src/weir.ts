// The exports of '@weir/cli'. Importing and calling them does not change the process: no V8 flags, no global handlers.
//
//   const { outcome } = await simulate(await loadScenario('burst.yaml'));

import { rateLimiter } from './core/limiter/rate-limiter.js';
import { planContract } from './core/limiter/validate.js';
import { cycleMsFor, parseTime } from './core/schema/quantity.js';
import { CYCLE_MS } from './core/time/cycle.js';
import { type Replay, type ReplayOptions, replay as replayWith } from './harness/simulate/replay.js';
import { addTools } from './tools.js';

export type { Inspect } from './core/limiter/actor-system.js';
export {
  type ContractMachine,
  contractMachine,
  contractSetup,
} from './core/limiter/contract-machine.js';
export {
  createLimiter,
  type Limiter,
  type LimiterDecision,
  type LimiterOptions,
  makeGate,
  type WindowOptions,
} from './core/limiter/create-limiter.js';
export type { ContractDefinition } from './core/limiter/definition.js';
export { restoresInCycles, retryAfterCycles } from './core/limiter/forecast.js';
export type { Gate } from './core/limiter/gate.js';
export type { AggregateEvent, ContractEmitted, MoveEvent } from './core/limiter/guards.js';
export type { Plan } from './core/limiter/plan.js';
export { limiterDefinition } from './core/limiter/products/limiter-spec.js';
export { type RateLimiterParameters, rateLimiterMachine } from './core/limiter/rate-limiter.js';
export type { Operator } from './core/operator/operator.js';
export { standardOperators } from './core/operator/registry.js';
export type { Verification } from './core/record/verification.js';
export { verifyRecord } from './core/record/verify-export.js';
export { Failure, type FailureCode, type Fault } from './core/schema/failure.js';
export type { Clock } from './core/time/clock.js';
export { cycleOf } from './core/time/cycle.js';
export { type CycleOptions, type CycleTick, cycles } from './core/time/cycles.js';
export { VirtualClock } from './core/time/virtual.js';
export { WallClock } from './core/time/wall.js';
export { VERSION } from './core/version.js';
export type { Behaviour, ClientEvent, Effect, Job, Step } from './harness/clients/behaviour.js';
export type { CustomClientSpec } from './harness/clients/client-plan.js';
export { type LoadOptions, type LoadRun, load, load$, toResult } from './harness/live/load.js';
export type { LoadResult } from './harness/live/result.js';
export { differencesBetween as compare } from './harness/outcome/cycle-differences.js';
export type { CycleRow, RowTransition, RunShape } from './harness/outcome/cycle-row.js';
export { type Difference, Outcome } from './harness/outcome/outcome-schema.js';
export type { Timeline } from './harness/outcome/timeline.js';
export type { Axis, Cell, Grid } from './harness/scenario/grid.js';
export {
  type LoadedScenario,
  loadScenario,
  parseScenario,
  type ScenarioObject,
} from './harness/scenario/load-scenario.js';
export { Scenario } from './harness/scenario/scenario-schema.js';
export { LogRequests, type LogRequestsOptions } from './harness/simulate/log-requests.js';
export { type Run, type SimulatedRun, type SimulateOptions, simulate, simulate$ } from './harness/simulate/simulate.js';
export {
  type CountOptions,
  countsByCycle,
  decide,
  replay$,
  rollingWindow,
  type StreamedRequest,
  type WindowCounts,
} from './harness/simulate/stream.js';
export type { ArrivalFunction } from './harness/traffic/arrival/custom.js';
export type { CycleCounts } from './harness/traffic/requests.js';
export { openReportFolder, type ReportFolder } from './report/folder.js';
export type { Reported } from './report/reported.js';
export { reportText } from './report/run-document.js';
export type {
  Advice,
  ClientHit,
  CurvePoint,
  Recommendation,
  RuleCurve,
  Suspect,
} from './tools/recommend/advice.js';
export { type RecommendOptions, recommend } from './tools/recommend/recommend.js';
export type { SweepOptions } from './tools/sweep/plan-sweep.js';
export { type RunSweepOptions, type SweepRow, type SweepRun, type SweptFigure, sweep } from './tools/sweep/sweep.js';
export { CYCLE_MS, planContract, type Replay, rateLimiter };

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
  /** Further accepted host names, for example a proxy's. Beyond loopback also addresses, and names without a dot. */
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
