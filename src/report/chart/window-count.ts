// Charts of a window: count, threshold and transitions; predicted over observed.
import type { TimelineRow } from '../../harness/outcome/timeline.js';
import type { ChartSpec } from '../chart-specs/spec.js';
import { COLUMNS, reduceMarks } from '../reduce.js';
import { type Reported, shownContract, stateIntervals } from '../reported.js';
import { capital, contractWord, counted, number, plain, spanWords, times } from '../words.js';
import {
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
  if (timeline === undefined || contract === undefined || contract.rule === 'none' || outcome.limits !== undefined)
    return undefined;
  const axis = cycleAxis(outcome);
  const { id, threshold, within, rule, entries, limiting_cycles, peak_count } = contract;
  const steps = countSteps(timeline, axis, (row) => row.contract === id);
  const whose = outcome.contracts > 1 ? ` of ${contractWord(outcome)} ${plain(id)}` : '';
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
  const unit = outcome.costs === undefined ? 'Requests' : capital(outcome.costs.unit);
  const what =
    rule === undefined
      ? `The count over ${spanWords(within, outcome.cycle_ms)}`
      : `What is used of the limit (${plain(rule)})`;
  return {
    id: 'window',
    title: rule === undefined ? `${unit} in the window${whose}` : `Use of the limit${whose}`,
    about: `${what}${bound}; it peaked at ${number(peak_count)}. ${limiting}${stateWords}`,
    x: axis,
    yTitle:
      rule === undefined
        ? `${unit} in ${spanWords(within, outcome.cycle_ms)}`
        : `${/^(and|or)/.test(rule) ? 'Used' : `${unit} used`}, most in each cycle`,
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

export function comparisonChart({ outcome, timeline, predicted }: Reported): ChartSpec | undefined {
  const contract = shownContract(outcome);
  if (timeline === undefined || predicted === undefined || contract === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const { id, threshold, peak_count } = contract;
  const { differences = [], differences_total = 0 } = outcome.comparison ?? {};
  const own = differences.filter((difference) => difference.contract === id);
  const places = [...new Set(own.map(({ cycle }) => cycle - axis.firstCycle))].sort((a, b) => a - b);
  const xs = reduceMarks(places, axis);
  const first = own[0];
  const isOwn = (row: TimelineRow) => row.contract === id;
  const whose = outcome.contracts > 1 ? ` of ${contractWord(outcome)} ${plain(id)}` : '';
  return {
    id: 'comparison',
    title: `Predicted and observed${whose}`,
    about:
      first === undefined
        ? `The count of the window in both arms. No difference${whose === '' ? '' : ` in this ${contractWord(outcome)}`}${differences_total > 0 ? `; ${number(differences_total)} elsewhere` : ''}.`
        : `The count of the window in both arms. ${counted(differences_total, 'difference')}; the first one in cycle ${number(first.cycle - axis.firstCycle)}: ${first.figure} predicted ${first.predicted ?? 'none'}, observed ${first.observed ?? 'none'}.`,
    x: axis,
    yTitle: 'Requests in the window',
    yWhole: true,
    lines: [
      // The first line is drawn on top: thin over broad.
      steppedLine('observed', 'observed', countSteps(timeline, axis, isOwn), { width: 1.6 }),
      steppedLine('predicted', 'predicted', countSteps(predicted, axis, isOwn), { width: 7 }),
      ...thresholdLine(threshold, peak_count, axis),
    ],
    shades: [],
    marks: xs.length === 0 ? [] : [{ kind: 'difference', xs }],
    height: 360,
  };
}
