// A scenario ready to run: times in cycles, defaults filled in, models planned.
import type { Plan } from '../../core/limiter/plan.js';
import type { Family } from '../../core/limiter/products/families.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { Seed } from '../../core/math/seed.js';
import type { TimeLaw } from '../../core/math/time-law.js';
import { Failure } from '../../core/schema/failure.js';
import type { ClientPlan } from '../clients/client-plan.js';
import type { Expectation } from '../outcome/expectation.js';
import type { Stretch } from '../outcome/stretch.js';
import type { ArrivalPlan, LogSpec } from '../traffic/arrival/make.js';
import type { PopularityPlan } from '../traffic/popularity.js';
import type { CycleCounts } from '../traffic/requests.js';
import type { CostPlan } from './cost-plan.js';
import type { TargetSpec } from './scenario-schema.js';
import type { ServicePlan } from './service-plan.js';

export type PlannedFault =
  | { readonly kind: 'pause'; readonly at: Stretch }
  | { readonly kind: 'lost_answers' | 'slow'; readonly share: number; readonly at: Stretch };

export interface KeyedSpec {
  readonly max_keys: number;
  readonly idle_cycles: number;
  readonly overflow: 'refuse' | 'share';
}

export interface RecordedLog {
  /** Its keys; `all` without a key column. */
  readonly names: readonly string[];
  readonly firstCycle: number;
  readonly lastCycle: number;
  /** In order of cycle; from the start at each call. */
  readonly requests: () => Iterable<CycleCounts>;
  readonly skippedLines: number;
  /** All times are whole seconds, in a unit without ms. */
  readonly isWholeSeconds: boolean;
}

export interface ScenarioSource {
  readonly path: string;
  readonly name: string;
  definition(file: string): string;
  recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog>;
}

export interface LoadedScenario {
  readonly name: string;
  readonly question: string;
  readonly source: ScenarioSource;
  /** As written, with the limiter of a text or file read: other threads and machines plan it themselves. */
  readonly spec: object;
  readonly seed: Seed;
  readonly cycleMs: number;
  readonly startCycle: number;
  /** Cycles with arrivals; undefined: as long as the logs. */
  readonly duration: number | undefined;
  readonly drain: number;
  readonly warmUp: number;
  readonly plan: Plan;
  /** Window of the limiter, in cycles; for a compared rule, that of the window it replaces. */
  readonly within: number;
  readonly contracts: number;
  /** Of the contracts; undefined if a log names them. */
  readonly names: readonly string[] | undefined;
  readonly popularity: PopularityPlan;
  readonly independent: boolean;
  readonly keyed: KeyedSpec | undefined;
  readonly arrivals: readonly ArrivalPlan[];
  readonly costs: CostPlan | undefined;
  readonly clients: readonly ClientPlan[];
  /**
   * Senders in a simulation: the clients, or single-attempt clients if a service or faults delay answers. Empty if nothing
   * reacts to a decision: then requests are counted by cycle.
   */
  readonly senders: readonly ClientPlan[];
  readonly service: ServicePlan | undefined;
  /** Between clients and gate; undefined: they hear of each other at once. */
  readonly network: { readonly oneWay: TimeLaw } | undefined;
  readonly faults: readonly PlannedFault[];
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly target: TargetSpec | undefined;
  readonly notes: readonly string[];
  /** Rules fitted to the limiter's window; the first, `weir`, is equivalent to it. Empty without `compare`. */
  readonly compared: readonly {
    readonly rule: Family;
    readonly definition: RuleDefinition;
    readonly scenario: LoadedScenario;
  }[];
  /** The same scenario without what is claimed to be the cause. */
  readonly control: { readonly name: string; readonly scenario: LoadedScenario } | undefined;
  readonly expectations: readonly Expectation[];
  /** Re-plans for cycles of `cycleMs`, as on a live node: times in seconds become another number of cycles. */
  at(cycleMs: number): LoadedScenario;
}

/** For callers without types. @throws Failure `invalid_input` */
export function checkLoaded(scenario: LoadedScenario): void {
  if ('plan' in Object(scenario)) return;
  throw new Failure('invalid_input', {
    what: 'The scenario was not run.',
    why: 'It was not loaded.',
    fix: 'Give what `await loadScenario(path)` or `parseScenario({ … })` returns.',
  });
}
