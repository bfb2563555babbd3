// Owns the charts of many runs of one scenario: the window as a band over cycles where it was kept, and every figure with its spread.
import { figures } from '../figures.js';
import { reduceSteps } from '../reduce.js';
import type { Reported } from '../reported.js';
import { counted, number } from '../words.js';
import { COLUMNS, cycleAxis, level } from './cycle-axis.js';
import type { ChartSpec, Line } from './spec.js';

const MOST_FIGURES = 16;

/** Undefined where there was one run only, or no figure has a mean to compare with. */
export function replicationsChart(reported: Reported): ChartSpec | undefined {
  return bandChart(reported) ?? spreadChart(reported);
}

/** Between which counts 90 % of the runs lay, cycle by cycle. */
function bandChart({ outcome, series }: Reported): ChartSpec | undefined {
  const { count_low: low, count_mid: middle, count_high: high, cycle } = series ?? {};
  if (cycle === undefined || low === undefined || middle === undefined || high === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const xs = cycle.map((one) => one - axis.firstCycle);
  const line = (label: string, ys: readonly number[], more: Partial<Line>): Line => ({
    label,
    tone: 'band',
    ...reduceSteps({ xs, ys }, axis.from, axis.to, COLUMNS),
    stepped: true,
    width: 1,
    ...more,
  });
  const threshold = outcome.by_contract[0]?.threshold ?? null;
  return {
    id: 'replications',
    title: 'The window over replications',
    about: `Nine of ten of ${counted(outcome.replications?.n ?? 0, 'run')} stay within the band.`,
    x: axis,
    yTitle: 'requests in the window',
    lines: [
      line('median', middle, { tone: 'count', width: 2 }),
      line('5 % of the runs', low, {}),
      line('95 % of the runs', high, { area: 'previous' }),
      ...(threshold === null ? [] : [level('threshold', 'threshold', threshold, axis)]),
    ],
    shades: [],
    marks: [],
    height: 340,
  };
}

/** How far each figure strays from its mean. */
function spreadChart({ outcome }: Reported): ChartSpec | undefined {
  const { replications } = outcome;
  if (replications === undefined) return undefined;
  const rows = figures
    .flatMap(({ name, label }) => {
      const found = replications.figures[name];
      if (found === undefined || found.mean === 0) return [];
      const percent = (value: number) => (100 * (value - found.mean)) / Math.abs(found.mean);
      const told = `${number(found.mean)} (${number(found.low)} to ${number(found.high)})`;
      return [
        {
          name: `${label}: ${number(found.mean)}`,
          row: {
            min: percent(found.min),
            low: percent(found.low),
            middle: 0,
            high: percent(found.high),
            max: percent(found.max),
            told,
          },
        },
      ];
    })
    .slice(0, MOST_FIGURES);
  if (rows.length === 0) return undefined;
  const reach = rows.reduce((most, { row }) => Math.max(most, -row.min, row.max), 1) * 1.05;
  return {
    id: 'replications',
    title: `Figures over ${counted(replications.n, 'run')}`,
    about:
      'Beside each name its mean. The dot is the mean, the bar its 95 % interval, the thin line reaches from the smallest run to the largest.',
    x: { kind: 'percent', from: -reach, to: reach },
    yTitle: '',
    lines: [],
    shades: [],
    marks: [],
    ranges: { names: rows.map(({ name }) => name), rows: rows.map(({ row }) => row) },
    height: 110 + 30 * rows.length,
  };
}
