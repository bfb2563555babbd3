// Owns what `import … from 'weir'` offers: the one place that names other files' exports again. Leaves everything to them, but for the
// registry of operators, which is the standard one unless a caller brings another.
//
//   const { outcome } = await simulate(await loadScenario('burst.yaml'));

import type { ContractDefinition } from './limiter/definition.js';
import { Gate } from './limiter/gate.js';
import { chooseTransition, type Plan } from './limiter/plan.js';
import { type RateLimiterParameters, rateLimiter } from './limiter/rate-limiter.js';
import { planContract as planWith } from './limiter/validate.js';
import { type LoadOptions, load as loadWith } from './live/load.js';
import type { LoadResult } from './live/result.js';
import type { FindOperator } from './operator/operator.js';
import { standardOperators } from './operator/registry.js';
import { type LoadedScenario, parseScenario as parseWith, loadScenario as readWith } from './scenario/load.js';
import { type Replay, type ReplayOptions, replay as replayWith } from './simulate/replay.js';
import { type Run, type SimulateOptions, simulate as simulateWith } from './simulate/simulate.js';
import { CYCLE_MS } from './time/cycle.js';

export type { ContractDefinition } from './limiter/definition.js';
export { restoresInCycles, retryAfterCycles } from './limiter/forecast.js';
export type { Operator } from './operator/operator.js';
export { OperatorRegistry, standardOperators } from './operator/registry.js';
export { Outcome } from './outcome/schema.js';
export type { Timeline } from './outcome/timeline.js';
export { openReportFolder, type ReportFolder } from './report/folder.js';
export type { Reported } from './report/reported.js';
export { reportText } from './report/text.js';
export { Scenario } from './scenario/schema.js';
export { Failure, type FailureCode, type Fault } from './schema/failure.js';
export { CYCLE_MS, cycleOf } from './time/cycle.js';
export { VERSION } from './version.js';
export type { Gate, LoadedScenario, LoadResult, Plan, RateLimiterParameters, Replay, Run };
export { rateLimiter };

type Standard<Options extends { readonly findOperator: FindOperator }> = Omit<Options, 'findOperator'> &
  Partial<Pick<Options, 'findOperator'>>;

const findStandard: FindOperator = (id) => standardOperators().get(id);

/**
 * Reads a scenario from a YAML or JSON file.
 * @throws Failure `unreadable_file`, `invalid_yaml`, `invalid_input` with the place of every fault
 */
export function loadScenario(path: string, findOperator = findStandard): Promise<LoadedScenario> {
  return readWith(path, findOperator);
}

/** As `loadScenario`, for a text at hand; `path` names it, and logs are read from its folder. */
export function parseScenario(text: string, path = 'scenario.yaml', findOperator = findStandard): LoadedScenario {
  return parseWith(text, path, findOperator);
}

/** Runs a scenario in virtual time. The same scenario and seed give the same outcome, digest included. */
export function simulate(scenario: LoadedScenario, options: Standard<SimulateOptions> = {}): Promise<Run> {
  return simulateWith(scenario, { findOperator: findStandard, ...options });
}

/** Sends the requests of a scenario to a live node, one that is started for it unless a URL is given, and compares. */
export function load(scenario: LoadedScenario, options: Standard<LoadOptions> = {}): Promise<LoadResult> {
  return loadWith(scenario, { findOperator: findStandard, ...options });
}

/** Runs logs through a limiter: by default 100 requests in 60 cycles of 777 ms, one for the whole log. */
export function replay(paths: readonly string[], options: Partial<ReplayOptions> = {}): Promise<Replay> {
  return replayWith(paths, {
    name: paths[0] ?? 'log',
    cycleMs: CYCLE_MS,
    plan: planContract(rateLimiter(), options.findOperator),
    log: {},
    findOperator: findStandard,
    ...options,
  });
}

/**
 * Checks a contract definition and makes it ready to run.
 * @throws Failure `invalid_input`, or what is wrong with its states, triggers and operators
 */
export function planContract(definition: ContractDefinition, findOperator = findStandard): Plan {
  return planWith(definition, findOperator);
}

/**
 * A gate to embed: it counts and decides as a contract of the node does, in memory and without a record. Time is passed in:
 * `makeGate(plan, cycleOf(now, CYCLE_MS)).record(1, cycleOf(now, CYCLE_MS))` tells how many of one request are admitted.
 */
export function makeGate(plan: Plan, cycle: number): Gate {
  const gate: Gate = new Gate(plan, cycle, {
    move: (_, counts) => chooseTransition(plan, gate.state, counts)?.to ?? gate.state,
  });
  return gate;
}
