// One run among many, and the part of it that is kept: a pure function of its task.
import { nearestRank } from '../../core/math/nearest-rank.js';
import type { Seed } from '../../core/math/seed.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import type { Band, Series } from '../outcome/series.js';
import type { Stretch } from '../outcome/stretch.js';
import type { Timeline } from '../outcome/timeline.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { simulate } from './simulate.js';

export interface ReplicationTask {
  /** Of the scenario; the files it names are in the same folder. */
  readonly path: string;
  readonly scenario: unknown;
  readonly seed: Seed;
  readonly withPeaks: boolean;
  /** Sent by another process: it may read no file. */
  readonly isSent?: boolean | undefined;
}

export type FigureList = Readonly<Record<string, number>>;

export interface Replicate {
  readonly seed: Seed;
  readonly held: readonly boolean[];
  readonly figures: FigureList;
  readonly contracts: number;
  /** For one contract: the largest window count of each stretch. */
  readonly peaks?: readonly number[] | undefined;
  readonly span: CycleSpan;
}

export interface RunPlace {
  /** Default: one per core. */
  readonly threads?: number | undefined;
  /** Instead of threads: the Redis from which `weir worker` takes runs, as `redis://127.0.0.1:6379`. */
  readonly workers?: string | undefined;
  /** Called with a sentence for the user, for example if there is no worker yet. */
  readonly onNotice?: ((words: string) => void) | undefined;
}

/** Makes runs on other machines. */
export interface RunsElsewhere {
  openRunQueue(
    redis: string,
    options: Pick<RunPlace, 'onNotice'> & { readonly signal?: AbortSignal },
  ): Promise<RunPool>;
}

export interface RunPool {
  /** The most runs to ask for at once. */
  readonly most: number;
  /** Rejects if the run fails, and with any error after the signal of the pool was aborted. */
  run(task: ReplicationTask): Promise<Replicate>;
  close(): Promise<void>;
}

export function replicationSeed(seed: Seed, index: number): Seed {
  return index === 0 ? seed : `${seed}/${index}`;
}

export async function runReplication(scenario: LoadedScenario, seed: Seed, withPeaks = false): Promise<Replicate> {
  const { outcome, timeline, series } = await simulate(scenario, { seed, top: 0 });
  const span = { first: outcome.first_cycle ?? 0, last: outcome.last_cycle ?? 0 };
  const held = outcome.expectations.map((expectation) => expectation.held);
  const drained = series && drainMs(scenario, series);
  const figures = { ...figureList(outcome), ...(drained !== undefined && { 'clients.drain_ms': drained }) };
  const kept = { seed, held, figures, span, contracts: outcome.contracts };
  if (!withPeaks || timeline === undefined || outcome.contracts > 1) return kept;
  return { ...kept, peaks: stretchPeaks(timeline, span) };
}

const TOTALS = [
  'requests',
  'admitted',
  'limited',
  'contracts_limited',
  'entries',
  'restores',
  'limiting_cycles',
  'peak_count',
] as const;

function figureList(outcome: Outcome): FigureList {
  const list: Record<string, number> = Object.fromEntries(TOTALS.map((name) => [name, outcome[name]]));
  const recoveries = (outcome.reactions ?? []).flatMap(({ recovery_cycles }) => recovery_cycles ?? []);
  if (recoveries.length > 0) list['recovery_cycles'] = Math.max(...recoveries);
  collect(list, 'service', outcome.service ?? {});
  collect(list, 'clients', outcome.clients?.[0] ?? {});
  const { attempts = 0, succeeded = 0 } = outcome.clients?.[0] ?? {};
  if (succeeded > 0) list['clients.attempts_per_success'] = attempts / succeeded;
  if (outcome.control !== undefined) {
    const { clients = [], service = {}, peak_cycle: _, ...totals } = outcome.control;
    collect(list, 'control', { ...totals, clients: clients[0] ?? {}, service });
  }
  return list;
}

function collect(list: Record<string, number>, prefix: string, value: object): void {
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === 'number') list[`${prefix}.${name}`] = entry;
    else if (typeof entry === 'object' && entry !== null) collect(list, `${prefix}.${name}`, entry);
  }
}

// How long clients need to recover from a disturbance, measured by the open jobs of a run.
//
//   open jobs  ____/‾‾‾‾\___.___     trigger: all faults, and arrivals that begin later than others or end earlier
//   cycle         |tr|   ^           drained: no more open than before the trigger, on average, rounded up

/** In cycles of the run; undefined if nothing disturbs it. A spike is over within its cycle. */
function triggerOf({ arrivals, faults, duration = Number.POSITIVE_INFINITY }: LoadedScenario): Stretch | undefined {
  const passing = arrivals.filter(({ from, to }) => from > 0 || to < duration);
  // A single source that begins or ends is the load itself.
  const spans = [...faults.map(({ at }) => at), ...(passing.length < arrivals.length ? passing : [])];
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to));
  return spans.length === 0 || to > duration ? undefined : { from, to };
}

/** From the end of the trigger to the end of a cycle, in ms; undefined if the run does not drain. */
export function drainMs(scenario: LoadedScenario, { cycle, open_jobs: open = [] }: Series): number | undefined {
  const trigger = triggerOf(scenario);
  if (trigger === undefined) return undefined;
  const { startCycle, cycleMs } = scenario;
  const at = cycle.map((one) => one - startCycle);
  const before = open.filter((_, index) => at[index]! < trigger.from);
  const usual = Math.ceil(before.reduce((sum, one) => sum + one, 0) / Math.max(1, before.length));
  const index = at.findIndex((one, place) => one >= trigger.to - 1 && open[place]! <= usual);
  return index < 0 ? undefined : (at[index]! + 1 - trigger.to) * cycleMs;
}

// The band of many runs: window counts between which most runs lie.
//
//   high    ▔▔╲__╱▔▔     19 of 20 runs stay at or below
//   middle  ──╲__╱──     the median
//   low     __    __     1 of 20 runs stays at or below

const STRETCHES = 400;

interface CycleSpan {
  readonly first: number;
  readonly last: number;
}

export function stretchPeaks(timeline: Timeline, span: CycleSpan): number[] {
  const stretch = stretchOf(span);
  const peaks = new Array<number>(Math.ceil((span.last - span.first + 1) / stretch)).fill(0);
  let at = 0;
  let count = 0;
  const see = () => {
    if (count > peaks[at]!) peaks[at] = count;
  };
  for (const row of timeline.rows()) {
    const index = Math.floor((row.cycle - span.first) / stretch);
    // A count holds until the next row; a change at the start of a stretch does not belong to the previous one.
    for (; at < index; at += 1) see();
    if (row.cycle > span.first + index * stretch) see();
    count = row.count;
    see();
  }
  for (; at < peaks.length; at += 1) see();
  return peaks;
}

/** @param runs peaks of each run over the same span, at least one */
export function bandOf(runs: readonly (readonly number[])[], span: CycleSpan): Band {
  const stretch = stretchOf(span);
  const stretches = runs[0]!.map((_, index) => runs.map((peaks) => peaks[index]!).sort((a, b) => a - b));
  const rank = (p: number) => stretches.map((counts) => nearestRank(counts, p)!);
  return {
    runs: runs.length,
    stretch_cycles: stretch,
    cycle: stretches.map((_, index) => span.first + index * stretch),
    low: rank(0.05),
    middle: rank(0.5),
    high: rank(0.95),
  };
}

function stretchOf({ first, last }: CycleSpan): number {
  return Math.max(1, Math.ceil((last - first + 1) / STRETCHES));
}
