// Owns the way from what was seen of a live run to its two arms: the model on what arrived, the target as observed, and the comparison
// of the two. Leaves comparing to compare.ts, the verdict to judge.ts, figures to observed.ts.
import type { Plan } from '../limiter/plan.js';
import type { Seed } from '../math/random.js';
import { assemble, type RunFacts } from '../outcome/assemble.js';
import type { Expectation } from '../outcome/expectation.js';
import type { Comparison, LiveFigures, Reaction } from '../outcome/schema.js';
import type { Series } from '../outcome/series.js';
import type { Run } from '../simulate/simulate.js';
import { windowBounds } from './bounds.js';
import { compare, type Models } from './compare.js';
import { ForeignTarget } from './foreign-target.js';
import { unreachable, unreadable } from './http-pool.js';
import { judge, whenNotHeld } from './judge.js';
import type { Cell } from './ledger.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { type Arrived, type Model, type ModelOptions, modelOf } from './model.js';
import { observe } from './observed.js';
import { reactionsOf } from './reactions.js';

export interface LoadResult {
  /** The model, run again on what arrived; in the cycles of the target. */
  readonly predicted: Run;
  /** The target as it was seen, with `live` and `comparison`. */
  readonly observed: Run;
  /** Schedule and latency, cycle by cycle. */
  readonly series: Series;
}

/** What the outcome says of the run beside what was seen. */
export interface LoadFacts {
  readonly scenario: string;
  readonly question?: string;
  readonly seed: Seed;
  readonly skippedLines: number;
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly expectations: readonly Expectation[];
  readonly top: number;
}

/** @throws Failure `node_unreachable`, `answer_unreadable` when not one request was answered */
export async function resultOf(seen: LiveSeen, facts: LoadFacts): Promise<LoadResult> {
  if (seen.mistake !== undefined) throw seen.mistake;
  checkAnswered(seen);
  const { names, plan, top, expectations } = facts;
  const { firstCycle, lastCycle, ledger, time } = seen;
  const cells = ledger.cells();
  const modelOptions = {
    names,
    plan,
    cycleMs: time.cycleMs,
    firstCycle,
    lastCycle,
  };
  const model = await modelOf(arrivedIn(cells), modelOptions);
  const heard = seen.heard?.map(transitionsIn);
  const observation = { names, plan, firstCycle, lastCycle, cells, transitions: heard, top };
  const { figures, past, cellsOf } = observe(observation);
  const comparison = await compared(seen, facts, cells, model, modelOptions);
  const admits = past.admits;
  const reactions = names
    .flatMap((name, index): Reaction[] =>
      reactionsOf({
        name,
        transitions: past.transitions[index]!,
        modelled: model.transitions[index]!,
        cells: cellsOf[index]!,
        events: (seen.heard?.[index] ?? []).filter(({ event }) => event !== 'transition'),
        admits,
        cycleMs: time.cycleMs,
      }),
    )
    .sort((a, b) => a.entry_cycle - b.entry_cycle);
  const common = {
    kind: 'load',
    scenario: facts.scenario,
    ...(facts.question === undefined ? {} : { question: facts.question }),
    seed: facts.seed,
    partial: seen.isPartial,
    cycle_ms: time.cycleMs,
    first_cycle: firstCycle,
    last_cycle: lastCycle,
    skipped_lines: facts.skippedLines,
  } as const satisfies Partial<RunFacts>;
  const observedWith = (comparison: Comparison) =>
    assemble(
      {
        ...common,
        arm: 'observed',
        ...(seen.clients === undefined ? {} : { clients: seen.clients }),
        live: liveFigures(seen),
        comparison,
      },
      { ...figures, reactions },
      past,
      expectations,
    );
  const judged = observedWith(comparison);
  const observed =
    judged.verdict === 'not held' ? observedWith(whenNotHeld(comparison, ledger, seen.clients === undefined)) : judged;
  const { fold } = model;
  const predicted = assemble(
    { ...common, arm: 'predicted' },
    fold.figures(lastCycle, top),
    fold.past(firstCycle, lastCycle),
    expectations,
  );
  return {
    predicted: { outcome: predicted, timeline: fold.timeline, totals: fold.totals },
    observed: { outcome: observed, timeline: past.timeline, totals: past.totals },
    series: seriesOf(seen),
  };
}

/** A target of which not one answer came was never there. */
function checkAnswered({ ledger, target }: LiveSeen): void {
  const [first] = ledger.faults;
  if (ledger.answered > 0 || first === undefined || first.kind === 'overloaded' || first.kind === 'unexpected') return;
  const where = target.description;
  if (first.kind === 'not_http') throw unreadable(where, first.words);
  if (first.kind === 'refused' || first.kind === 'other') throw unreachable(where, first.words);
}

function arrivedIn(cells: readonly Cell[]): Arrived[] {
  return cells.map(({ cycle, contract, answers }) => ({ cycle, contract, n: answers.length }));
}

async function compared(
  seen: LiveSeen,
  { names, plan }: LoadFacts,
  cells: readonly Cell[],
  model: Model,
  modelOptions: ModelOptions,
): Promise<Comparison> {
  const { ledger, lastCycle } = seen;
  const isForeign = seen.target instanceof ForeignTarget;
  const unknown = unknownCycles(seen);
  const bounds = isForeign
    ? windowBounds(cells, ledger.unsure, {
        threshold: plan.thresholds[0] ?? Number.POSITIVE_INFINITY,
        within: plan.aggregates[0]?.within ?? 1,
      })
    : { lax: model, strict: unknown.size === 0 ? model : await modelOf(withUnknown(seen, cells), modelOptions) };
  const models: Models = {
    ...bounds,
    initial: plan.states[plan.initial]!.name,
    emits: (from, to) => emittedBy(plan, from, to),
    unknownFrom: (contract) => Math.min(seen.toldBefore, unknown.get(contract) ?? Number.POSITIVE_INFINITY),
  };
  const differences = compare(
    names,
    {
      cells,
      transitions: seen.streamLost ? undefined : seen.heard?.map(transitionsIn),
      events: seen.streamLost ? undefined : seen.heard?.map((all) => all.filter(({ event }) => event !== 'transition')),
    },
    models,
  );
  return judge({
    names,
    ledger,
    differences,
    comparedCycles: lastCycle - seen.firstCycle + 1,
    tolerance: toleranceOf(isForeign, unknown.size),
    health: {
      movedMs: seen.movedMs,
      streamLost: seen.streamLost,
      lagMsP90: seen.lag.quantileMs(0.9),
      cycleMs: seen.time.cycleMs,
      isScheduled: seen.clients === undefined,
      isPartial: seen.isPartial,
      gone: seen.gone,
    },
  });
}

/** By contract: the first cycle in which a request was sent that the target may have counted, and did not answer. */
function unknownCycles({ ledger, gone, lastCycle }: LiveSeen): Map<number, number> {
  const first = new Map<number, number>();
  for (const { contract, cycle, kind } of ledger.faults) {
    if (kind === 'refused') continue;
    first.set(contract, Math.min(first.get(contract) ?? Number.POSITIVE_INFINITY, cycle));
  }
  // What a target did in its last cycles, before it went away, it may not have come to tell.
  if (gone !== undefined) {
    const told = Math.min(lastCycle, ...ledger.faults.map(({ cycle }) => cycle)) - 1;
    for (const { contract } of ledger.cells()) first.set(contract, Math.min(first.get(contract) ?? told, told));
  }
  return first;
}

/** What may have arrived: also the requests that were not answered, in the cycle in which they were sent. */
function withUnknown({ ledger, lastCycle }: LiveSeen, cells: readonly Cell[]): Arrived[] {
  const arrived = new Map(
    cells.map(({ cycle, contract, answers }) => [`${cycle}/${contract}`, { cycle, contract, n: answers.length }]),
  );
  for (const { cycle, contract, kind } of ledger.faults) {
    if (kind === 'refused' || cycle > lastCycle) continue;
    const key = `${cycle}/${contract}`;
    const one = arrived.get(key) ?? { cycle, contract, n: 0 };
    one.n += 1;
    arrived.set(key, one);
  }
  return [...arrived.values()];
}

function emittedBy({ states }: Plan, from: string | undefined, to: string): readonly string[] {
  const left = states.find(({ name }) => name === from);
  return left?.transitions.find((transition) => states[transition.to]!.name === to)?.emits ?? [];
}

function toleranceOf(isForeign: boolean, unknownContracts: number): string {
  if (isForeign) {
    return (
      'The uncertainty at the edges of cycles: the target does not say in which cycle it counts, so its window may reach one cycle ' +
      'further back, and a request answered in a later cycle than sent may count in either.'
    );
  }
  if (unknownContracts === 0) return 'none';
  return (
    `Requests without a decision may have been counted or not: of ${unknownContracts} contracts, what lies between the two is no ` +
    'difference, and transitions are compared up to the first such request.'
  );
}

function liveFigures({ ledger, latency, target, connections, time }: LiveSeen): LiveFigures {
  const { planned, sent, answered, failed, timedOut, late } = ledger;
  const arrived = [...ledger.byCycle.values()].reduce((sum, one) => sum + one.arrived, 0);
  return {
    target: `${target.description}; its clock is known to ${time.uncertaintyMs.toFixed(1)} ms`,
    planned,
    sent,
    answered,
    failed,
    timed_out: timedOut,
    arrived,
    late,
    connections,
    ...latency.figures(),
    by_cycle: cyclesIn({ ledger }).map((cycle) => {
      const count = ledger.of(cycle);
      return { cycle, planned: count.planned, sent: count.sent, arrived: count.arrived };
    }),
  };
}

function seriesOf({ ledger, latency, clientSeries }: LiveSeen): Series {
  const cycle = clientSeries?.cycle ?? cyclesIn({ ledger });
  const { open_jobs, retries } = clientSeries ?? {};
  return {
    cycle,
    planned: cycle.map((one) => ledger.of(one).planned),
    ...(open_jobs === undefined ? {} : { open_jobs }),
    ...(retries === undefined ? {} : { retries }),
    ...latency.series(cycle),
  };
}

/** Cycles in which anything was planned, sent or counted. */
function cyclesIn({ ledger }: Pick<LiveSeen, 'ledger'>): number[] {
  return [...ledger.byCycle]
    .filter(([, { planned, sent, arrived }]) => planned + sent + arrived > 0)
    .map(([cycle]) => cycle)
    .sort((a, b) => a - b);
}
