// The x axis shared by charts over cycles, and timeline rows as points.
import type { Outcome } from '../../harness/outcome/outcome-schema.js';
import type { Timeline, TimelineRow } from '../../harness/outcome/timeline.js';
import type { CycleAxis, Line, Mark, StateStrip } from '../chart-specs/spec.js';
import { reduceIntervals, reduceMarks, reduceSteps, type StepLine } from '../reduce.js';
import { intervalsOfLimiting, limitingStates, stateIntervals } from '../reported.js';
import { plain } from '../words.js';

/** At least three cycles, so that a short run is not a vertical line. */
export function cycleAxis({ first_cycle, last_cycle, cycle_ms }: Outcome): CycleAxis {
  const firstCycle = first_cycle ?? 0;
  const cycles = (last_cycle ?? firstCycle) - firstCycle + 1;
  return { kind: 'cycles', from: 0, to: Math.max(3, cycles), firstCycle, cycleMs: cycle_ms };
}

export function countSteps(timeline: Timeline, axis: CycleAxis, pick: (row: TimelineRow) => boolean): StepLine {
  const xs: number[] = [0];
  const ys: number[] = [0];
  for (const row of timeline.rows()) {
    if (!pick(row)) continue;
    const x = row.cycle - axis.firstCycle;
    if (x === xs.at(-1)) {
      ys[ys.length - 1] = row.count;
      continue;
    }
    xs.push(x);
    ys.push(row.count);
  }
  const reduced = reduceSteps({ xs, ys }, axis);
  return { xs: [...reduced.xs, axis.to], ys: [...reduced.ys, reduced.ys.at(-1)!] };
}

export function steppedLine(label: string, tone: Line['tone'], steps: StepLine, more: Partial<Line> = {}): Line {
  return { label, tone, xs: steps.xs, ys: steps.ys, stepped: true, ...more };
}

/** A threshold above this multiple of the largest count is not drawn: it would flatten the counts. */
const FAR = 10;

export function isThresholdNear(threshold: number, peak: number): boolean {
  return peak === 0 || threshold <= FAR * peak;
}

export function thresholdLine(threshold: number | null, peak: number, axis: CycleAxis, label = 'threshold'): Line[] {
  if (threshold === null || !isThresholdNear(threshold, peak)) return [];
  const level = { xs: [axis.from, axis.to], ys: [threshold, threshold] };
  return [steppedLine(label, 'threshold', level)];
}

export function shadesOf(
  outcome: Outcome,
  contract: Outcome['by_contract'][number],
  axis: CycleAxis,
): [number, number][] {
  return intervalsOn(axis, intervalsOfLimiting(outcome, contract, axis.firstCycle + axis.to));
}

/** The states of a machine that is not a plain rate limiter, as intervals on the axis. */
export function statesOf(outcome: Outcome, contract: Outcome['by_contract'][number], axis: CycleAxis): StateStrip[] {
  const { firstCycle, to } = axis;
  return stateIntervals(outcome, contract, firstCycle, firstCycle + to).map(({ name, admits, intervals }) => ({
    name: plain(name),
    admits,
    intervals: intervalsOn(axis, intervals),
  }));
}

function intervalsOn(axis: CycleAxis, intervals: readonly (readonly [number, number])[]): [number, number][] {
  const placed = intervals.map(([from, to]) => [from - axis.firstCycle, to - axis.firstCycle] as const);
  return reduceIntervals(placed, axis);
}

export function transitionMarks(outcome: Outcome, contract: Outcome['by_contract'][number], axis: CycleAxis): Mark[] {
  const limiting = limitingStates(outcome);
  const kinds = { entry: [] as number[], restore: [] as number[], move: [] as number[] };
  let wasLimiting = limiting.has(outcome.states?.[0]?.name ?? 'allowing');
  for (const { cycle, to } of contract.transitions) {
    const isLimiting = limiting.has(to);
    kinds[isLimiting === wasLimiting ? 'move' : isLimiting ? 'entry' : 'restore'].push(cycle - axis.firstCycle);
    wasLimiting = isLimiting;
  }
  const marks = (['entry', 'restore', 'move'] as const).map((kind) => ({
    kind,
    xs: reduceMarks(kinds[kind], axis),
  }));
  return marks.filter(({ xs }) => xs.length > 0);
}
