// A scenario that is ready to run.
import type { ClientPlan } from '../actor/client/client-plan.js';
import type { Plan } from '../limiter/plan.js';
import type { Family } from '../limiter/products/families.js';
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import type { Seed } from '../math/seed.js';
import type { Expectation } from '../outcome/expectation.js';
import type { Stretch } from '../outcome/stretch.js';
import type { Recording } from '../traffic/arrival/arrival.js';
import type { ArrivalPlan, LogSpec } from '../traffic/arrival/make.js';
import type { PopularityPlan } from '../traffic/popularity.js';
import type { CostPlan } from './cost-plan.js';
import type { Target } from './scenario-schema.js';
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
  readonly whole: Recording;
  readonly byKey: readonly { readonly key: string; readonly recording: Recording }[] | undefined;
  readonly skippedLines: number;
  /** Whether all its times are whole seconds, of a unit that has no ms. */
  readonly isWholeSeconds: boolean;
}

export interface ScenarioSource {
  /** In failures. */
  readonly path: string;
  /** In outcomes, unless the scenario has a name. */
  readonly name: string;
  /** @throws Error whose message says why the file cannot be read */
  definition(file: string): string;
  recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog>;
}

/** A scenario ready to run: times in cycles, defaults filled in, models planned. */
export interface LoadedScenario {
  readonly name: string;
  readonly question: string;
  readonly source: ScenarioSource;
  readonly seed: Seed;
  readonly cycleMs: number;
  readonly startCycle: number;
  /** Cycles in which requests arrive; undefined: as long as its logs. */
  readonly duration: number | undefined;
  readonly drain: number;
  readonly warmUp: number;
  readonly plan: Plan;
  /** Of the limiter's window, in cycles; a rule that is compared with a window has the length of that window. */
  readonly within: number;
  readonly contracts: number;
  readonly popularity: PopularityPlan;
  readonly independent: boolean;
  readonly keyed: KeyedSpec | undefined;
  readonly arrivals: readonly ArrivalPlan[];
  /** Undefined: every request costs 1. */
  readonly costs: CostPlan | undefined;
  readonly clients: readonly ClientPlan[];
  /**
   * Who sends in a simulation: the clients, or clients that send each request once if a service or faults delay answers. Empty if nothing
   * reacts to a decision: then requests are counted by cycle.
   */
  readonly senders: readonly ClientPlan[];
  readonly service: ServicePlan | undefined;
  readonly faults: readonly PlannedFault[];
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly target: Target | undefined;
  readonly notes: readonly string[];
  /**
   * The same scenario with rules fitted to the threshold and window of the limiter. The first is `weir`, which decides as the window does.
   * Empty without `compare`.
   */
  readonly compared: readonly {
    readonly rule: Family;
    readonly definition: RuleDefinition;
    readonly scenario: LoadedScenario;
  }[];
  readonly expectations: readonly Expectation[];
  /** The same scenario with cycles of `cycleMs`, as on a live node: times in seconds become another number of cycles. */
  at(cycleMs: number): LoadedScenario;
}

/** Undefined if a log names them. */
export function contractNames({
  arrivals,
  contracts,
}: Pick<LoadedScenario, 'arrivals' | 'contracts'>): string[] | undefined {
  if (arrivals.some(({ log }) => log?.key_column !== undefined)) return undefined;
  return contracts === 1 ? ['all'] : Array.from({ length: contracts }, (_, index) => String(index + 1));
}
