// The chart of several runs: their windows, each from its own first cycle.
import type { ChartSpec, CycleAxis, Tone } from '../../web/chart/spec.js';
import { type Reported, shownContract } from '../reported.js';
import { counted, plain } from '../words.js';
import { countSteps, cycleAxis, steppedLine, thresholdLine } from './cycle-axis.js';

/** More lines could not be distinguished. */
const tones: readonly Tone[] = ['count', 'limited', 'median', 'tail', 'observed'];

export function runsChart(
  runs: readonly { readonly name: string; readonly reported: Reported }[],
): ChartSpec | undefined {
  const drawable = runs.flatMap(({ name, reported: { timeline, outcome } }) => {
    const contract = shownContract(outcome);
    return timeline === undefined || contract === undefined ? [] : [{ name, timeline, outcome, contract }];
  });
  const first = drawable[0];
  if (first === undefined) return undefined;
  const shown = drawable.slice(0, tones.length);
  const longest = shown.reduce((most, { outcome }) => Math.max(most, cycleAxis(outcome).to), 0);
  const axis: CycleAxis = { kind: 'cycles', from: 0, to: longest, firstCycle: 0, cycleMs: first.outcome.cycle_ms };
  const { threshold } = first.contract;
  const peak = shown.reduce((most, { contract }) => Math.max(most, contract.peak_count), 0);
  const isShared = shown.every(({ contract }) => contract.threshold === threshold);
  return {
    id: 'window',
    title: 'Requests in the window',
    about: `The count of the most limited contract of ${counted(shown.length, 'run')}${drawable.length > shown.length ? ` of ${drawable.length}` : ''}, each from its own first cycle.`,
    x: axis,
    yTitle: 'Requests in the window',
    yWhole: true,
    lines: [
      ...shown.map(({ name, timeline, outcome, contract }, index) =>
        steppedLine(
          plain(name),
          tones[index]!,
          countSteps(timeline, cycleAxis(outcome), (row) => row.contract === contract.id),
          // The first line is drawn on top, and each other line is broader than the one before, so that equal runs are all visible.
          { width: 1.6 + 1.6 * index },
        ),
      ),
      ...thresholdLine(threshold, peak, axis, isShared ? 'threshold' : `threshold of ${plain(first.name)}`),
    ],
    shades: [],
    marks: [],
    height: 380,
  };
}
