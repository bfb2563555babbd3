// The two arms of a live run: the model on the actual arrivals and the target as observed, with their comparison.

import { Failure } from '../../core/schema/failure.js';
import { assembleOutcome, type ControlRun, type RunFacts } from '../outcome/assemble.js';
import type { Comparison, LiveFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { Run } from '../simulate/simulate.js';
import { comparisonOf, isUnlimited, whenNotHeld } from './comparison-verdict.js';
import { findingsByCycle } from './findings-by-cycle.js';
import { findingsByOrder, windowRules } from './findings-by-order.js';
import { unreachableFailure } from './http-pool.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { type Model, type ModelOptions, modelOf } from './model.js';
import { observedFold, reactionsIn } from './observed.js';
import { ForeignTarget } from './target.js';

export interface LoadResult {
  /** The model on the actual arrivals, in the cycles of the target. */
  readonly predicted: Run;
  readonly observed: Run;
  readonly series: Series;
}

/** @param control simulated, for expectations @throws Failure `node_unreachable`, `answer_unreadable` if no request was answered */
export async function resultOf(seen: LiveSeen, control?: ControlRun): Promise<LoadResult> {
  if (seen.bug !== undefined) throw seen.bug;
  checkAnswered(seen);
  const { firstCycle, lastCycle, requestLog, time, asked } = seen;
  const { name = '', question, notes, seed = 0, skippedLines = 0, names, plan, top = 100, expectations = [] } = asked;
  const [live, series] = [liveFigures(seen), seriesOf(seen)];
  const { cycleMs } = time;
  const options = { names, plan, costUnit: asked.costs?.unit, cycleMs, firstCycle, lastCycle };
  const answered = requestLog.seen.filter(({ decision }) => decision !== 'unknown');
  const model = await modelOf(answered, options);
  const comparison = await compared(seen, model, options);
  const observation = { ...options, requestLog, transitions: seen.events?.map(transitionsIn) };
  const seenFold = observedFold(observation);
  const past = seenFold.past(firstCycle, lastCycle);
  const reactions = reactionsIn(observation, past, model, seen.events);
  const common = {
    scenario: name,
    ...(question === undefined ? {} : { question }),
    ...(notes === undefined ? {} : { notes: [...notes] }),
    seed,
    ...(seen.isPartial && { partial: true }),
    cycle_ms: cycleMs,
    first_cycle: firstCycle,
    last_cycle: lastCycle,
    skipped_lines: skippedLines,
  } as const satisfies Partial<RunFacts>;
  const asking = { expectations, control, top };
  const observedWith = (comparison: Comparison | undefined) =>
    assembleOutcome({ kind: 'load', arm: 'observed', ...common }, seenFold, asking, {
      reactions,
      ...(seen.clients && { clients: seen.clients }),
      live,
      ...seenFold.costs(),
      ...(comparison && { comparison }),
    }).outcome;
  const judged = observedWith(comparison);
  const observed =
    judged.verdict === 'not held' && comparison !== undefined ? observedWith(whenNotHeld(comparison, seen)) : judged;
  const { fold } = model;
  const { outcome } = assembleOutcome({ kind: 'load', arm: 'predicted', ...common }, fold, asking, fold.costs());
  return {
    predicted: { outcome, timeline: fold.timeline, totals: fold.totals },
    observed: { outcome: observed, timeline: seenFold.timeline, totals: seenFold.totals },
    series,
  };
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

async function compared(seen: LiveSeen, model: Model, options: ModelOptions): Promise<Comparison | undefined> {
  const { plan } = seen.asked;
  const { rule } = plan;
  const { rules = rule && [rule.definition] } = seen.asked;
  const followed = rules ? { rules, isShared: false } : windowRules(plan, seen.time.cycleMs);
  const found = isUnlimited(plan)
    ? { differences: [], tolerance: 'Nothing was predicted.', tooUncertain: undefined }
    : rule !== undefined || seen.target instanceof ForeignTarget
      ? findingsByOrder(seen, followed)
      : await findingsByCycle(seen, model, options);
  const comparison = comparisonOf(seen, found);
  return isUnlimited(plan) && comparison.verdict === 'agrees' ? undefined : comparison;
}

function liveFigures({ requestLog, asked, target, connections, time, ...seen }: LiveSeen): LiveFigures {
  const { planned, sent, answered, failed, timedOut, late } = requestLog;
  const arrived = [...requestLog.byCycle.values()].reduce((sum, one) => sum + one.answered.length, 0);
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
    ...requestLog.latency.figures(timedFrom(seen)),
    ...(asked.answers && { answers: asked.answers.figures() }),
    by_cycle: cyclesIn({ requestLog }).map((cycle) => {
      const { planned, sent, answered } = requestLog.of(cycle);
      return { cycle, planned, sent, arrived: answered.length };
    }),
  };
}

function timedFrom({ isScheduled }: Pick<LiveSeen, 'isScheduled'>): string {
  return isScheduled ? 'from the intended instant' : 'from sending';
}

function seriesOf({ requestLog, clientSeries, isScheduled }: LiveSeen): Series {
  const cycle = clientSeries?.cycle ?? cyclesIn({ requestLog });
  const { open_jobs, retries } = clientSeries ?? {};
  return {
    cycle,
    planned: cycle.map((one) => requestLog.of(one).planned),
    ...(open_jobs === undefined ? {} : { open_jobs }),
    ...(retries === undefined ? {} : { retries }),
    ...requestLog.latency.series(cycle),
    latency_taken: `${timedFrom({ isScheduled })} to the answer`,
  };
}

function cyclesIn({ requestLog }: Pick<LiveSeen, 'requestLog'>): number[] {
  return [...requestLog.byCycle]
    .filter(([, { planned, sent, answered }]) => planned + sent + answered.length > 0)
    .map(([cycle]) => cycle)
    .sort((a, b) => a - b);
}
