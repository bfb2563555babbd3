// The chart of one window: its count, the threshold, the limiting intervals, and every transition.

import type { ChartSpec } from '../../web/chart/spec.js';
import type { Reported } from '../reported.js';
import { shownContract, stateIntervals } from '../reported.js';
import { number, plain, spanWords, times } from '../words.js';
import {
  COLUMNS,
  countSteps,
  cycleAxis,
  isThresholdNear,
  shadesOf,
  statesOf,
  steppedLine,
  thresholdLine,
  transitionMarks,
} from './cycle-axis.js';

export function windowChart({ outcome, timeline }: Reported): ChartSpec | undefined {
  const contract = shownContract(outcome);
  if (timeline === undefined || contract === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const { id, threshold, within, rule, entries, limiting_cycles, peak_count } = contract;
  const steps = countSteps(timeline, axis, (row) => row.contract === id);
  const whose = outcome.contracts > 1 ? ` of contract ${plain(id)}` : '';
  const far = threshold === null || isThresholdNear(threshold, peak_count) ? '' : ', which lies far above the picture';
  const bound = threshold === null ? '' : ` against the threshold of ${number(threshold)}${far}`;
  const limiting =
    entries === 0
      ? 'It never limited.'
      : `It started limiting ${times(entries)}, for ${spanWords(limiting_cycles, outcome.cycle_ms)}${entries > 1 ? ' in total' : ''}.`;
  const states = statesOf(outcome, contract, axis);
  const inStates = stateIntervals(outcome, contract, axis.firstCycle, axis.firstCycle + axis.to).map(
    ({ name, intervals }) => {
      const cycles = intervals.reduce((sum, [from, to]) => sum + to - from, 0);
      return `${plain(name)} for ${spanWords(cycles, outcome.cycle_ms)}`;
    },
  );
  const stateWords = inStates.length === 0 ? '' : ` In the state ${inStates.join(', ')}.`;
  const unit =
    outcome.costs === undefined ? 'Requests' : `${outcome.costs.unit[0]!.toUpperCase()}${outcome.costs.unit.slice(1)}`;
  const what =
    rule === undefined ? `The count over ${spanWords(within, outcome.cycle_ms)}` : `What is used up of ${plain(rule)}`;
  return {
    id: 'window',
    title: rule === undefined ? `${unit} in the window${whose}` : `Used up of the rule${whose}`,
    about: `${what}${bound}; it peaked at ${number(peak_count)}. ${limiting}${stateWords}`,
    x: axis,
    yTitle:
      rule === undefined
        ? `${unit} in ${spanWords(within, outcome.cycle_ms)}`
        : `Most ${unit.toLowerCase()} in a cycle`,
    yWhole: true,
    lines: [
      steppedLine('count', 'count', steps, { width: steps.xs.length > COLUMNS ? 1 : 2 }),
      ...thresholdLine(threshold, peak_count, axis),
    ],
    shades: shadesOf(outcome, contract, axis),
    marks: transitionMarks(outcome, contract, axis),
    ...(states.length > 0 ? { states } : {}),
    height: 380,
  };
}
