// The band of many runs of one scenario: for each interval, the counts of the window between which most runs lay.
//
//   high    ▔▔╲__╱▔▔     19 of 20 runs stay at or below
//   middle  ──╲__╱──     the median
//   low     __    __     1 of 20 runs stays at or below
import { nearestRank } from '../math/nearest-rank.js';
import type { Band } from '../outcome/series.js';
import type { Timeline } from '../outcome/timeline.js';

/** A run is cut into at most so many stretches: the band stays small however long the runs are. */
const STRETCHES = 400;

/** First and last cycle of a run. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** The largest count of the window in each stretch of a run of one contract, whose timeline has its rows in order. */
export function stretchPeaks(timeline: Timeline, span: Span): number[] {
  const stretch = stretchOf(span);
  const peaks = new Array<number>(Math.ceil((span.last - span.first + 1) / stretch)).fill(0);
  let at = 0;
  let count = 0;
  const see = () => {
    if (count > peaks[at]!) peaks[at] = count;
  };
  for (const row of timeline.rows()) {
    const index = Math.floor((row.cycle - span.first) / stretch);
    // A count holds until the next row; what changes as a stretch begins was no part of it.
    for (; at < index; at += 1) see();
    if (row.cycle > span.first + index * stretch) see();
    count = row.count;
    see();
  }
  for (; at < peaks.length; at += 1) see();
  return peaks;
}

/** @param runs the peaks of each run, at least one, by `stretchPeaks` over the same span */
export function bandOf(runs: readonly (readonly number[])[], span: Span): Band {
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

function stretchOf({ first, last }: Span): number {
  return Math.max(1, Math.ceil((last - first + 1) / STRETCHES));
}
