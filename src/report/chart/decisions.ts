// Decisions per cycle: stacked areas of admitted and limited requests, and a line of planned ones. Long runs show the mean of each bin,
// with a dash at its busiest cycle unless that would flatten the means.
import type { Timeline } from '../../harness/outcome/timeline.js';
import { type ChartSpec, type CycleAxis, type Line, unmarked } from '../chart-specs/spec.js';
import { type Bins, binSums } from '../reduce.js';
import { hasLimiter, isOfAll, type Reported } from '../reported.js';
import { contractWord, counted, duration, number } from '../words.js';
import { cycleAxis } from './cycle-axis.js';

const MOST_BINS = 300;
/** Dashes above this multiple of the highest mean are not drawn. */
const FAR = 4;

export function decisionsChart({ outcome, totals, series }: Reported): ChartSpec {
  const axis = cycleAxis(outcome);
  const bins = binSums(decisionRows(totals, axis), axis, MOST_BINS);
  const mean = (bin: number, column: 0 | 1) => bins.sums[bin]![column]! / cyclesIn(bins, bin, axis);
  const admitted = barSteps(bins, axis, (bin) => mean(bin, 1));
  const all = barSteps(bins, axis, (bin) => mean(bin, 0));
  const limited = barSteps(bins, axis, (bin) => mean(bin, 0) - mean(bin, 1));
  const planned = plannedRows(outcome.live?.by_cycle, series, axis);
  const busiest = bins.peaks.reduce((most, one) => Math.max(most, one), 0);
  const highest = Math.max(...all.ys);
  const isLimited = hasLimiter(outcome);
  const area = { tone: 'admitted', ...admitted, stepped: true, area: 'zero', width: 1 } as const;
  const lines: Line[] = [{ label: isLimited ? 'admitted' : 'requests', ...area }];
  if (isLimited)
    lines.push({
      label: 'limited',
      tone: 'limited',
      ...all,
      stepped: true,
      area: 'previous',
      width: 1,
      hatched: true,
      tooltips: limited.ys,
    });
  if (planned !== undefined) {
    const plannedBins = binSums(planned, axis, MOST_BINS);
    const steps = barSteps(plannedBins, axis, (bin) => plannedBins.sums[bin]![0]! / cyclesIn(plannedBins, bin, axis));
    lines.push({ label: 'planned', tone: 'planned', ...steps, stepped: true });
  }
  if (bins.size > 1 && busiest <= FAR * highest)
    lines.push({ label: 'busiest cycle', tone: 'tail', ...dashes(bins, axis), stepped: true, width: 2 });
  const source = outcome.kind === 'replay' ? 'in the log' : 'planned';
  const edge = planned === undefined && outcome.clients === undefined ? ` The upper edge is what was ${source}.` : '';
  const binWords =
    bins.size === 1
      ? ''
      : ` Each step is the mean of ${counted(bins.size, 'cycle')} (${duration(bins.size * outcome.cycle_ms)}).`;
  const requests = counted(outcome.requests, 'request');
  const decided = isLimited
    ? `${number(outcome.admitted)} of ${requests} admitted, ${number(outcome.limited)} limited`
    : requests;
  return {
    id: 'decisions',
    title: isLimited ? 'Requests admitted and limited' : 'Requests',
    about: `${decided}; ${number(busiest)} in the busiest cycle.${edge}${binWords}`,
    x: axis,
    yTitle: bins.size === 1 ? 'Requests per cycle' : `Requests per cycle, mean of ${number(bins.size)}`,
    yWhole: bins.size === 1,
    ...(bins.size === 1 || highest === 0 ? {} : { yMax: highest }),
    lines,
    ...unmarked,
    height: 340,
  };
}

const MOST_BARS = 150;

/** For the terminal: the requests of all contracts, and when some were refused. */
export function requestsChart({ outcome, totals }: Reported): ChartSpec | undefined {
  if (!isOfAll(outcome)) return undefined;
  const axis = cycleAxis(outcome);
  const bins = binSums(decisionRows(totals, axis), axis, MOST_BARS);
  const { starts, size, sums } = bins;
  const steps = barSteps(bins, axis, (bin) => sums[bin]![0]!);
  const refused = starts.flatMap((start, bin) =>
    sums[bin]![0]! > sums[bin]![1]! ? [[start, start + size] as const] : [],
  );
  return {
    id: 'requests',
    title: `Requests of all ${contractWord(outcome)}s in each ${duration(size * outcome.cycle_ms)}`,
    about: '',
    x: axis,
    yTitle: 'Requests',
    lines: [{ label: 'requests', tone: 'count', ...steps, stepped: true }],
    ...unmarked,
    states: [{ name: 'refused', admits: false, intervals: refused }],
    height: 340,
  };
}

function cyclesIn({ starts, size }: Bins, bin: number, { to }: CycleAxis): number {
  return Math.max(1, Math.min(size, to - starts[bin]!));
}

function* decisionRows(totals: Timeline, axis: CycleAxis): Generator<[x: number, requests: number, admitted: number]> {
  for (const { cycle, requests, admitted } of totals.rows()) {
    if (requests > 0) yield [cycle - axis.firstCycle, requests, admitted];
  }
}

function plannedRows(
  live: readonly { cycle: number; planned: number }[] | undefined,
  series: Reported['series'],
  axis: CycleAxis,
): [number, number][] | undefined {
  if (live !== undefined) return live.map(({ cycle, planned }) => [cycle - axis.firstCycle, planned]);
  return series?.planned?.map((planned, index) => [series.cycle[index]! - axis.firstCycle, planned]);
}

function barSteps({ starts, size }: Bins, { from, to }: CycleAxis, height: (bin: number) => number) {
  const xs: number[] = [];
  const ys: number[] = [];
  if (starts[0] !== from) {
    xs.push(from);
    ys.push(0);
  }
  starts.forEach((start, bin) => {
    const end = Math.min(start + size, to);
    xs.push(start);
    ys.push(height(bin));
    if (starts[bin + 1] !== end) {
      xs.push(end);
      ys.push(0);
    }
  });
  if (xs.at(-1) !== to) {
    xs.push(to);
    ys.push(ys.at(-1) ?? 0);
  }
  return { xs, ys };
}

function dashes({ starts, size, peaks }: Bins, { to }: CycleAxis): { xs: number[]; ys: (number | null)[] } {
  const xs = starts.flatMap((start) => [start, Math.min(start + size, to), Math.min(start + size, to)]);
  return { xs, ys: peaks.flatMap((peak) => [peak, peak, null]) };
}
