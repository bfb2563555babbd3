// Owns what `import … from 'weir'` offers: the one place that names other files' exports again. Leaves everything to them, but for the
// registry of operators, which is the standard one unless a caller brings another.
//
//   const { outcome } = await simulate(await loadScenario('burst.yaml'));

import { Gate } from './limiter/gate.js';
import { chooseTransition, type Plan } from './limiter/plan.js';
import { type RateLimiterParameters, rateLimiter } from './limiter/rate-limiter.js';
import { planContract } from './limiter/validate.js';
import { type Replay, type ReplayOptions, replay as replayWith } from './simulate/replay.js';
import { CYCLE_MS } from './time/cycle.js';

export type { ContractDefinition } from './limiter/definition.js';
export { restoresInCycles, retryAfterCycles } from './limiter/forecast.js';
export { type LoadOptions, load } from './live/load.js';
export type { LoadResult } from './live/result.js';
export type { FindOperator, Operator } from './operator/operator.js';
export { OperatorRegistry, standardOperators } from './operator/registry.js';
export { Outcome } from './outcome/schema.js';
export type { Timeline } from './outcome/timeline.js';
export { openReportFolder, type ReportFolder } from './report/folder.js';
export type { Reported } from './report/reported.js';
export { reportText } from './report/text.js';
export { type LoadedScenario, loadScenario, parseScenario } from './scenario/load.js';
export { Scenario } from './scenario/schema.js';
export { Failure, type FailureCode, type Fault } from './schema/failure.js';
export { type Run, type SimulateOptions, simulate } from './simulate/simulate.js';
export { cycleOf } from './time/cycle.js';
export { VERSION } from './version.js';
export { CYCLE_MS, type Gate, type Plan, planContract, type RateLimiterParameters, type Replay, rateLimiter };

/** Runs logs through a limiter: by default 100 requests in 60 cycles of 777 ms, one for the whole log. */
export function replay(paths: readonly string[], options: Partial<ReplayOptions> = {}): Promise<Replay> {
  return replayWith(paths, {
    name: paths[0] ?? 'log',
    cycleMs: CYCLE_MS,
    plan: planContract(rateLimiter()),
    log: {},
    ...options,
  });
}

/**
 * A gate to embed: it counts and decides as a contract of the node does, in memory and without a record. Time is passed in:
 * `makeGate(plan, cycleOf(now, CYCLE_MS)).decide(1, cycleOf(now, CYCLE_MS))` tells how many of one request are admitted.
 */
export function makeGate(plan: Plan, cycle: number): Gate {
  const gate: Gate = new Gate(plan, cycle, {
    move: (_, counts) => chooseTransition(plan, gate.state, counts)?.to ?? gate.state,
  });
  return gate;
}
