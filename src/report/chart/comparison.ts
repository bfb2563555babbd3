// The chart of the two arms: predicted and observed counts, with a mark at every difference.
import type { TimelineRow } from '../../outcome/timeline.js';
import type { ChartSpec } from '../../web/chart/spec.js';
import { reduceMarks } from '../reduce.js';
import type { Reported } from '../reported.js';
import { shownContract } from '../reported.js';
import { counted, number, plain } from '../words.js';
import { COLUMNS, countSteps, cycleAxis, steppedLine, thresholdLine } from './cycle-axis.js';

export function comparisonChart({ outcome, timeline, predicted }: Reported): ChartSpec | undefined {
  const contract = shownContract(outcome);
  if (timeline === undefined || predicted === undefined || contract === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const { id, threshold, peak_count } = contract;
  const { differences = [], differences_total = 0 } = outcome.comparison ?? {};
  const own = differences.filter((difference) => difference.contract === id);
  const places = [...new Set(own.map(({ cycle }) => cycle - axis.firstCycle))].sort((a, b) => a - b);
  const xs = reduceMarks(places, axis.from, axis.to, COLUMNS);
  const first = own[0];
  const isOwn = (row: TimelineRow) => row.contract === id;
  const whose = outcome.contracts > 1 ? ` of contract ${plain(id)}` : '';
  return {
    id: 'comparison',
    title: `Predicted and observed${whose}`,
    about:
      first === undefined
        ? `The count of the window in both arms. No difference${whose === '' ? '' : ' in this contract'}${differences_total > 0 ? `; ${number(differences_total)} elsewhere` : ''}.`
        : `The count of the window in both arms. ${counted(differences_total, 'difference')}; the first one in cycle ${number(first.cycle - axis.firstCycle)}: ${first.figure} predicted ${first.predicted ?? 'none'}, observed ${first.observed ?? 'none'}.`,
    x: axis,
    yTitle: 'Requests in the window',
    yWhole: true,
    lines: [
      // The first line is drawn on top: the thin one over the broad one.
      steppedLine('observed', 'observed', countSteps(timeline, axis, isOwn), { width: 1.6 }),
      steppedLine('predicted', 'predicted', countSteps(predicted, axis, isOwn), { width: 7 }),
      ...thresholdLine(threshold, peak_count, axis),
    ],
    shades: [],
    marks: xs.length === 0 ? [] : [{ kind: 'difference', xs }],
    height: 360,
  };
}
