// Charts of replications: the window as a band over cycles, and the spread of every figure.
import { type ChartSpec, type Line, unmarked } from '../chart-specs/spec.js';
import { figures } from '../figures.js';
import type { Reported } from '../reported.js';
import { counted, number } from '../words.js';
import { cycleAxis, thresholdLine } from './cycle-axis.js';

const MOST_FIGURES = 16;

export function bandChart({ outcome, series }: Reported): ChartSpec | undefined {
  const band = series?.band;
  if (band === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const xs = [...band.cycle.map((one) => one - axis.firstCycle), axis.to];
  const line = (label: string, ys: readonly number[], more: Partial<Line>): Line => {
    const held = { xs, ys: [...ys, ys.at(-1) ?? 0] };
    return { label, tone: 'band', ...held, stepped: true, width: 1, ...more };
  };
  const peak = band.high.reduce((most, count) => Math.max(most, count), 0);
  const step = band.stretch_cycles === 1 ? 'cycle' : `stretch of ${number(band.stretch_cycles)} cycles`;
  return {
    id: 'band',
    title: 'The window over replications',
    about: `The largest count in each ${step}. Nine of ten of the ${counted(band.runs, 'run')} lie in the band.`,
    x: axis,
    yTitle: 'Requests in the window',
    yWhole: true,
    lines: [
      line('median', band.middle, { tone: 'count', width: 2 }),
      line('5 % of the runs', band.low, {}),
      line('95 % of the runs', band.high, { area: 'previous' }),
      ...thresholdLine(outcome.by_contract[0]?.threshold ?? null, peak, axis),
    ],
    ...unmarked,
    height: 340,
  };
}

/** Undefined for a single run, or if every mean is 0. */
export function spreadChart({ outcome }: Reported): ChartSpec | undefined {
  const { replications } = outcome;
  if (replications === undefined) return undefined;
  const rows = figures
    .flatMap(({ name, label, of }) => {
      const found = replications.figures[name];
      if (found === undefined || found.mean === 0 || of(outcome) === undefined) return [];
      const percent = (value: number) => (100 * (value - found.mean)) / Math.abs(found.mean);
      return [
        {
          name: `${label}: ${number(found.mean)}`,
          row: {
            min: percent(found.min),
            low: percent(found.low),
            middle: 0,
            high: percent(found.high),
            max: percent(found.max),
          },
        },
      ];
    })
    .slice(0, MOST_FIGURES);
  if (rows.length === 0) return undefined;
  const reach = rows.reduce((most, { row }) => Math.max(most, -row.min, -row.low, row.high, row.max), 1) * 1.05;
  return {
    id: 'replications',
    title: `Figures over ${counted(replications.n, 'run')}`,
    about:
      'Beside each name its mean. The dot is the mean, the bar its 95 % interval, the thin line reaches from the smallest run to the largest.',
    x: { kind: 'percent', from: -reach, to: reach },
    yTitle: 'Figure and its mean',
    lines: [],
    ...unmarked,
    ranges: { names: rows.map(({ name }) => name), rows: rows.map(({ row }) => row) },
    height: 110 + 30 * rows.length,
  };
}
