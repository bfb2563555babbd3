// Figures of part of a run: between two cycles, or over every interval of a given length.
import { firstIndex } from '../../core/math/first-index.js';
import type { FigureSource } from './expectation.js';
import type { StretchFigure } from './figure-names.js';
import type { TransitionSeen } from './outcome-schema.js';
import type { Timeline } from './timeline.js';

export interface Past {
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly names: readonly string[];
  readonly timeline: Timeline | undefined;
  readonly totals: Timeline;
  readonly transitions: readonly (readonly TransitionSeen[])[];
  readonly admits: (state: string) => boolean;
}

type CountFigure = 'requests' | 'admitted' | 'limited';

/**
 * Intervals count cycles from the start of the run, and end with it at the latest. Undefined if the contract is unknown or has no
 * timeline, or the run stopped earlier.
 */
export function stretchValues(past: Past): FigureSource['values'] {
  return (figure, length, at, contract) => {
    const { firstCycle, lastCycle, names, timeline } = past;
    if (contract !== undefined && !names.includes(contract)) return undefined;
    const from = firstCycle + at.from;
    const to = Math.min(firstCycle + at.to, lastCycle + 1);
    if (to <= from) return undefined;
    if (figure === 'peak_count') return timeline && largestOf(largestCounts(timeline, contract), length, from, to);
    const points = pointsOf(past, figure, contract);
    return points && sumsOf(points, length, from, to);
  };
}

function pointsOf(
  past: Past,
  figure: Exclude<StretchFigure, 'peak_count'>,
  contract: string | undefined,
): Points | undefined {
  switch (figure) {
    case 'requests':
    case 'admitted':
    case 'limited':
      return countsOf(past, figure, contract);
    case 'entries':
      return onePerCycle(limitingStretches(past, contract).map(([entry]) => entry));
    case 'restores':
      return onePerCycle(limitingStretches(past, contract).flatMap(([, restore]) => restore ?? []));
    case 'limiting_cycles':
      return limitingPerCycle(
        limitingStretches(past, contract).map(([entry, restore]) => [entry, restore ?? past.lastCycle]),
      );
  }
}

function countsOf(
  { names, timeline, totals }: Past,
  figure: CountFigure,
  contract: string | undefined,
): Points | undefined {
  // With a single contract its figures are the totals.
  if (contract === undefined || names.length === 1) return pointsIn(totals, figure, undefined);
  return timeline === undefined ? undefined : pointsIn(timeline, figure, contract);
}

/** [entry, restore) of every interval without admission; the last may lack a restore. */
export function limitingIntervals(
  transitions: readonly TransitionSeen[],
  admits: (state: string) => boolean,
): [entry: number, restore: number | undefined][] {
  const intervals: [number, number | undefined][] = [];
  for (const { cycle, to } of transitions) {
    const open = intervals.at(-1);
    const isOpen = open !== undefined && open[1] === undefined;
    if (!admits(to) && !isOpen) intervals.push([cycle, undefined]);
    else if (admits(to) && isOpen) open[1] = cycle;
  }
  return intervals;
}

function limitingStretches({ names, transitions, admits }: Past, contract: string | undefined) {
  return transitions.flatMap((moves, index) =>
    contract !== undefined && names[index] !== contract ? [] : limitingIntervals(moves, admits),
  );
}

function* pointsIn(
  timeline: Timeline,
  figure: CountFigure,
  contract: string | undefined,
): Generator<readonly [number, number]> {
  for (const row of timeline.rows()) {
    if ((contract === undefined || row.contract === contract) && row[figure] > 0) yield [row.cycle, row[figure]];
  }
}

function onePerCycle(cycles: readonly number[]): Points {
  return cycles.toSorted((a, b) => a - b).map((cycle) => [cycle, 1] as const);
}

function* limitingPerCycle(
  stretches: readonly (readonly [entry: number, restore: number])[],
): Generator<readonly [number, number]> {
  const moves = stretches
    .flatMap(([entry, restore]) => [[entry, 1] as const, [restore, -1] as const])
    .sort(([a], [b]) => a - b);
  let limiting = 0;
  let cycle = 0;
  for (const [at, move] of moves) {
    if (limiting > 0) for (; cycle < at; cycle += 1) yield [cycle, limiting];
    limiting += move;
    cycle = at;
  }
}

function* largestCounts(timeline: Timeline, contract: string | undefined): Generator<readonly [number, number]> {
  const counts = new Map<string, number>();
  let cycle: number | undefined;
  for (const row of timeline.rows()) {
    if (contract !== undefined && row.contract !== contract) continue;
    if (cycle !== undefined && row.cycle !== cycle) yield [cycle, largestIn(counts)];
    cycle = row.cycle;
    counts.set(row.contract, row.count);
  }
  if (cycle !== undefined) yield [cycle, largestIn(counts)];
}

function largestIn(counts: ReadonlyMap<string, number>): number {
  let largest = 0;
  for (const count of counts.values()) if (count > largest) largest = count;
  return largest;
}

// Sums and maxima over a window that slides along a run.
//
//   values at     3   7   9             a sum changes only when a value enters or leaves the window; other starts are skipped
//   window     |------|
//                |------|               enters at c - length + 1, leaves at c + 1

type Points = Iterable<readonly [cycle: number, value: number]>;

/** Every sum over `length` cycles within from .. to - 1; if that interval is shorter, its one sum. */
function sumsOf(points: Points, length: number, from: number, to: number): Set<number> {
  const cycles: number[] = [];
  const upTo: number[] = [0];
  for (const [cycle, value] of points) {
    cycles.push(cycle);
    upTo.push(upTo.at(-1)! + value);
  }
  const before = (end: number) => upTo[firstIndex(cycles.length, (index) => cycles[index]! >= end)]!;
  const sums = new Set<number>();
  for (const start of startsOf(cycles, length, from, to)) {
    sums.add(before(Math.min(to, start + length)) - before(start));
  }
  return sums;
}

/**
 * The maxima of all intervals of `length` cycles within from .. to - 1; if that is shorter, its one maximum. A level holds until the next
 * point; it is 0 before the first.
 */
function largestOf(points: Points, length: number, from: number, to: number): Set<number> {
  const cycles: number[] = [Number.NEGATIVE_INFINITY];
  const levels: number[] = [0];
  for (const [cycle, level] of points) {
    if (level === levels.at(-1)) continue;
    cycles.push(cycle);
    levels.push(level);
  }
  const found = new Set<number>();
  // Points in the window not exceeded by a later one: their levels descend, so the first is the maximum.
  const lasting: number[] = [];
  let first = 0;
  let next = 0;
  for (const start of startsOf(cycles, length, from, to)) {
    const end = Math.max(start + 1, Math.min(to, start + length));
    for (; next < cycles.length && cycles[next]! < end; next += 1) {
      while (lasting.length > first && levels[lasting.at(-1)!]! <= levels[next]!) lasting.pop();
      lasting.push(next);
    }
    // A point has left when the next one holds at the start of the window.
    while (cycles[lasting[first]! + 1]! <= start) first += 1;
    found.add(levels[lasting[first]!]!);
  }
  return found;
}

/** Ascending window starts in from .. to - 1: the first, and each at which a point enters, leaves or is first. */
function* startsOf(cycles: readonly number[], length: number, from: number, to: number): Generator<number> {
  const last = Math.max(from, to - length);
  let [leaving, entering] = [0, 0];
  for (let start = from; start <= last; ) {
    yield start;
    if (start >= last) return;
    while (cycles[leaving]! < start) leaving += 1;
    while (cycles[entering]! - length + 1 <= start) entering += 1;
    const reached = cycles[leaving] ?? Number.POSITIVE_INFINITY;
    const entered = (cycles[entering] ?? Number.POSITIVE_INFINITY) - length + 1;
    start = Math.min(reached > start ? reached : start + 1, entered);
  }
}
