// The two arms of a live run: the model on the actual arrivals and the target as observed, with their comparison.

import { byContract } from '../explain/seen-request.js';
import type { Plan } from '../limiter/plan.js';
import type { Seed } from '../math/seed.js';
import { assembleOutcome, type RunFacts } from '../outcome/assemble.js';
import type { Expectation } from '../outcome/expectation.js';
import type { Comparison, LiveFigures, Reaction } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import { Failure } from '../schema/failure.js';
import type { Run } from '../simulate/simulate.js';
import { comparisonOf, whenNotHeld } from './comparison-verdict.js';
import { findingsByCycle } from './findings-by-cycle.js';
import { findingsByOrder, windowRules } from './findings-by-order.js';
import { unreachableFailure } from './http-pool.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { arrivedIn, type Model, type ModelOptions, modelOf } from './model.js';
import { cellsByContract, observedFold, reactionsOf } from './observed.js';
import { observedLevels } from './observed-levels.js';
import type { CycleCell } from './request-log.js';
import { ForeignTarget } from './target.js';

export interface LoadResult {
  /** The model on the actual arrivals, in the cycles of the target. */
  readonly predicted: Run;
  readonly observed: Run;
  readonly series: Series;
}

interface LoadFacts {
  readonly scenario: string;
  readonly question?: string;
  readonly notes?: readonly string[];
  readonly seed: Seed;
  readonly skippedLines: number;
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly costUnit?: string | undefined;
  readonly expectations: readonly Expectation[];
  readonly top: number;
}

/** @throws Failure `node_unreachable`, `answer_unreadable` if no request was answered */
export async function resultOf(seen: LiveSeen, facts: LoadFacts): Promise<LoadResult> {
  if (seen.bug !== undefined) throw seen.bug;
  checkAnswered(seen);
  const { names, plan, top, expectations, costUnit } = facts;
  const { firstCycle, lastCycle, requestLog, time } = seen;
  const cells = requestLog.cells();
  const modelOptions = {
    names,
    plan,
    costUnit,
    cycleMs: time.cycleMs,
    firstCycle,
    lastCycle,
    seen: plan.rule === undefined ? undefined : requestLog.seen,
  };
  const model = await modelOf(arrivedIn(cells), modelOptions);
  const transitions = seen.events?.map(transitionsIn);
  const levels =
    plan.rule === undefined
      ? undefined
      : byContract(requestLog.seen, names.length).map((own) => observedLevels(own, plan, modelOptions));
  const costs = costUnit === undefined ? undefined : { unit: costUnit, cycleMs: time.cycleMs };
  const observation = { names, plan, firstCycle, lastCycle, cells, transitions: transitions, levels, costs };
  const seenFold = observedFold(observation);
  const past = seenFold.past(firstCycle, lastCycle);
  const cellsOf = cellsByContract(observation);
  const comparison = await compared(seen, facts, cells, model, modelOptions);
  const admits = past.admits;
  const reactions = names
    .flatMap((name, index): Reaction[] =>
      reactionsOf({
        name,
        transitions: past.transitions[index]!,
        modelled: model.transitions[index]!,
        cells: cellsOf[index]!,
        events: (seen.events?.[index] ?? []).filter(({ event }) => event !== 'transition'),
        admits,
        cycleMs: time.cycleMs,
      }),
    )
    .sort((a, b) => a.entry_cycle - b.entry_cycle);
  const common = {
    kind: 'load',
    scenario: facts.scenario,
    ...(facts.question === undefined ? {} : { question: facts.question }),
    ...(facts.notes === undefined ? {} : { notes: [...facts.notes] }),
    seed: facts.seed,
    partial: seen.isPartial,
    cycle_ms: time.cycleMs,
    first_cycle: firstCycle,
    last_cycle: lastCycle,
    skipped_lines: facts.skippedLines,
  } as const satisfies Partial<RunFacts>;
  const observedWith = (comparison: Comparison | undefined) =>
    assembleOutcome(
      {
        ...common,
        arm: 'observed',
        ...(seen.clients === undefined ? {} : { clients: seen.clients }),
        live: liveFigures(seen),
        ...seenFold.costs(),
        ...(comparison && { comparison }),
      },
      { ...seenFold.figures(lastCycle, top), reactions },
      past,
      expectations,
    );
  const judged = observedWith(comparison);
  const observed =
    judged.verdict === 'not held' && comparison !== undefined
      ? observedWith(whenNotHeld(comparison, requestLog, isByCycle(seen, facts)))
      : judged;
  const { fold } = model;
  const predicted = assembleOutcome(
    { ...common, arm: 'predicted', ...fold.costs() },
    fold.figures(lastCycle, top),
    fold.past(firstCycle, lastCycle),
    expectations,
  );
  return {
    predicted: { outcome: predicted, timeline: fold.timeline, totals: fold.totals },
    observed: { outcome: observed, timeline: seenFold.timeline, totals: seenFold.totals },
    series: seriesOf(seen),
  };
}

/** Whether the cycle of arrival matters: a schedule determines it, and the limiter counts by cycles. */
function isByCycle({ clients }: LiveSeen, { plan }: LoadFacts): boolean {
  return clients === undefined && (plan.rule === undefined || isUnlimited(plan));
}

function isUnlimited({ rule }: Plan): boolean {
  return rule?.definition.primitive === 'none';
}

function checkAnswered({ requestLog, target }: LiveSeen): void {
  const [first] = requestLog.faults;
  if (requestLog.answered > 0 || first === undefined || first.kind === 'overloaded' || first.kind === 'unexpected')
    return;
  const where = target.description;
  if (first.kind === 'not_http')
    throw new Failure('answer_unreadable', {
      what: `${where} gave an answer that cannot be read.`,
      why: first.words,
      fix: 'Check that an HTTP service listens there.',
    });
  if (first.kind === 'refused' || first.kind === 'other') throw unreachableFailure(where, first.words);
}

async function compared(
  seen: LiveSeen,
  facts: LoadFacts,
  cells: readonly CycleCell[],
  model: Model,
  modelOptions: ModelOptions,
): Promise<Comparison | undefined> {
  const { requestLog, lastCycle } = seen;
  const { rule } = facts.plan;
  const followed = rule ? { rules: [rule.definition], isShared: false } : windowRules(facts.plan, seen.time.cycleMs);
  const found = isUnlimited(facts.plan)
    ? { differences: [], tolerance: 'Nothing was predicted.', tooUncertain: undefined }
    : rule !== undefined || seen.target instanceof ForeignTarget
      ? findingsByOrder(seen, facts, followed)
      : await findingsByCycle(seen, facts, cells, model, modelOptions);
  const comparison = comparisonOf({
    names: facts.names,
    requestLog,
    comparedCycles: lastCycle - seen.firstCycle + 1,
    ...found,
    health: {
      unsound: seen.unsound,
      behind: seen.behind,
      movedMs: seen.movedMs,
      streamLost: seen.streamLost,
      lagMsP90: seen.lagMs.p90,
      cycleMs: seen.time.cycleMs,
      isScheduled: isByCycle(seen, facts),
      isPartial: seen.isPartial && !isUnlimited(facts.plan),
      gone: seen.gone,
    },
  });
  return isUnlimited(facts.plan) && comparison.verdict === 'agrees' ? undefined : comparison;
}

function liveFigures({ requestLog, latency, answers, target, connections, time, ...seen }: LiveSeen): LiveFigures {
  const { planned, sent, answered, failed, timedOut, late } = requestLog;
  const arrived = [...requestLog.byCycle.values()].reduce((sum, one) => sum + one.arrived, 0);
  const { apartMs, sentBy } = seen;
  const by = sentBy.length === 0 ? '' : `; sent by ${sentBy.join(', ')}`;
  return {
    target: `${target.description}; its clock is known to ${(time.uncertaintyMs + apartMs).toFixed(1)} ms${by}`,
    planned,
    sent,
    answered,
    failed,
    timed_out: timedOut,
    arrived,
    late,
    connections,
    ...latency.figures(seen.timedFrom),
    ...(answers && { answers: answers.figures() }),
    by_cycle: cyclesIn({ requestLog }).map((cycle) => {
      const count = requestLog.of(cycle);
      return { cycle, planned: count.planned, sent: count.sent, arrived: count.arrived };
    }),
  };
}

function seriesOf({ requestLog, latency, clientSeries, timedFrom }: LiveSeen): Series {
  const cycle = clientSeries?.cycle ?? cyclesIn({ requestLog });
  const { open_jobs, retries } = clientSeries ?? {};
  return {
    cycle,
    planned: cycle.map((one) => requestLog.of(one).planned),
    ...(open_jobs === undefined ? {} : { open_jobs }),
    ...(retries === undefined ? {} : { retries }),
    ...latency.series(cycle),
    latency_taken: `${timedFrom} to the answer`,
  };
}

function cyclesIn({ requestLog }: Pick<LiveSeen, 'requestLog'>): number[] {
  return [...requestLog.byCycle]
    .filter(([, { planned, sent, arrived }]) => planned + sent + arrived > 0)
    .map(([cycle]) => cycle)
    .sort((a, b) => a - b);
}
