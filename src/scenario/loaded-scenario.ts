// A scenario that is ready to run.

import type { ClientPlan } from '../actor/client/client-plan.js';
import type { Plan } from '../limiter/plan.js';
import type { Family } from '../limiter/products/families.js';
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import type { Seed } from '../math/seed.js';
import type { Expectation } from '../outcome/expectation.js';
import type { Stretch } from '../outcome/stretch.js';
import type { ArrivalSpec } from '../traffic/arrival/arrival-schema.js';
import type { CustomArrivalSpec } from '../traffic/arrival/custom.js';
import type { Recording } from '../traffic/arrival/recorded.js';
import type { PopularitySpec } from '../traffic/popularity.js';
import type { Target } from './scenario-schema.js';
import type { ServiceSpec } from './service-plan.js';

export type PlannedFault =
  | { readonly kind: 'pause'; readonly at: Stretch }
  | { readonly kind: 'lost_answers'; readonly share: number; readonly at: Stretch };

export interface KeyedSpec {
  readonly max_keys: number;
  /** In cycles. */
  readonly idle_cycles: number;
  readonly overflow: 'refuse' | 'share';
}

export type LogSpec = Extract<ArrivalSpec, { model: 'log' }>;

/** A log as it was read: one recording, or one for each key. */
export interface RecordedLog {
  readonly whole: Recording;
  readonly byKey: readonly { readonly key: string; readonly recording: Recording }[] | undefined;
  readonly skippedLines: number;
}

/** Where a scenario comes from, and what can be read there. */
export interface ScenarioSource {
  /** Names the scenario in failures. */
  readonly path: string;
  /** Names it in outcomes, unless it has a name. */
  readonly name: string;
  /** The text of a definition file. @throws Error, of which the message says why it cannot be read */
  definition(file: string): string;
  /** @throws Failure of the log readers */
  recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog>;
}

/** A scenario ready to run: every time in cycles, every default filled in. */
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
  readonly within: number;
  readonly contracts: number;
  readonly popularity: PopularitySpec;
  readonly independent: boolean;
  /** Whether the contracts are the keys of one contract, and how that keeps them. */
  readonly keyed: KeyedSpec | undefined;
  readonly arrivals: readonly (ArrivalSpec | CustomArrivalSpec)[];
  readonly clients: readonly ClientPlan[];
  readonly service: ServiceSpec | undefined;
  readonly faults: readonly PlannedFault[];
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly target: Target | undefined;
  /** How something was understood that cannot be run as it is written. */
  readonly notes: readonly string[];
  /**
   * The same with rules in the place of the limiter, fitted to its threshold in its window: `weir`, which decides as the window does,
   * and the others; empty unless it says `compare`.
   */
  readonly compared: readonly {
    readonly rule: Family;
    readonly definition: RuleDefinition;
    readonly scenario: LoadedScenario;
  }[];
  readonly expectations: readonly Expectation[];
  /**
   * The same scenario with cycles of `cycleMs`, as on a live node: values in cycles stay, values in seconds become another number of
   * cycles.
   */
  at(cycleMs: number): LoadedScenario;
}

/** The names of the contracts of a run; undefined if a log names them. */
export function contractNames({
  arrivals,
  contracts,
}: Pick<LoadedScenario, 'arrivals' | 'contracts'>): string[] | undefined {
  if (arrivals.some((spec) => spec.model === 'log' && spec.key_column !== undefined)) return undefined;
  return contracts === 1 ? ['all'] : Array.from({ length: contracts }, (_, index) => String(index + 1));
}
