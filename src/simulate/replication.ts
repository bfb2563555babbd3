// One run of a scenario among many, and what is kept of it. A pure function of its task, so that it does not matter who makes it.
import type { Seed } from '../math/seed.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { type Span, stretchPeaks } from './band.js';
import { simulate } from './simulate.js';

/** What is asked for: one run. */
export interface ReplicationTask {
  /** Names the scenario; the files that it names lie beside this one. */
  readonly path: string;
  /** The scenario as a value. */
  readonly scenario: unknown;
  readonly seed: Seed;
  /** Whether a band is drawn of the runs. */
  readonly withPeaks: boolean;
  /** Whether it came from elsewhere: then no file is read for it. */
  readonly isSent?: boolean | undefined;
}

/** Figures of one run by name, for example `limited` or `clients.retries`. */
export type FigureList = Readonly<Record<string, number>>;

/** What is kept of one run. */
export interface Replicate {
  readonly seed: Seed;
  /** Which expectations held, in the order of the scenario. */
  readonly held: readonly boolean[];
  readonly figures: FigureList;
  readonly contracts: number;
  /** Of a run of one contract the largest count of its window in each stretch. */
  readonly peaks?: readonly number[] | undefined;
  readonly span: Span;
}

/** One run, and what replications keep of it; its peaks where a band is drawn of them. */
export async function runReplication(scenario: LoadedScenario, seed: Seed, withPeaks: boolean): Promise<Replicate> {
  const { outcome, timeline } = await simulate(scenario, { seed, top: 0 });
  const span = { first: outcome.first_cycle ?? 0, last: outcome.last_cycle ?? 0 };
  const held = outcome.expectations.map((expectation) => expectation.held);
  const kept = { seed, held, figures: figureList(outcome), span, contracts: outcome.contracts };
  if (!withPeaks || timeline === undefined || outcome.contracts > 1) return kept;
  return { ...kept, peaks: stretchPeaks(timeline, span) };
}

/** Parts of an outcome whose figures replications report. */
const PARTS = ['service', 'clients'] as const;

/** Every number of an outcome that a seed determines, by name. */
function figureList(outcome: Outcome): FigureList {
  const list: Record<string, number> = {};
  const { requests, admitted, limited, contracts_limited, entries, restores, limiting_cycles, peak_count } = outcome;
  Object.assign(list, {
    requests,
    admitted,
    limited,
    contracts_limited,
    entries,
    restores,
    limiting_cycles,
    peak_count,
  });
  const recoveries = (outcome.reactions ?? []).flatMap(({ recovery_cycles }) =>
    recovery_cycles === null ? [] : [recovery_cycles],
  );
  if (recoveries.length > 0) list['recovery_cycles'] = Math.max(...recoveries);
  for (const part of PARTS) {
    const figures = part === 'clients' ? outcome.clients?.[0] : outcome[part];
    if (figures !== undefined) collect(list, part, figures);
  }
  return list;
}

function collect(list: Record<string, number>, prefix: string, value: object): void {
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === 'number') list[`${prefix}.${name}`] = entry;
    else if (typeof entry === 'object' && entry !== null) collect(list, `${prefix}.${name}`, entry);
  }
}
