import { expect, it } from 'vitest';
import { chartsOf, runsChart } from '../../src/report/chart/charts.js';
import type { ChartSpec } from '../../src/report/chart-specs/spec.js';
import { reportText } from '../../src/report/run-document.js';
import { emptyRun, sampleRun } from './sample.js';

const labels = ({ lines }: ChartSpec) => lines.map(({ label }) => label);
const windowOf = (threshold: number) => chartsOf(sampleRun({ threshold })).find(({ id }) => id === 'window')!;
const peak = sampleRun().outcome.peak_count;

it.each<[what: string, threshold: number, lines: string[]]>([
  ['is a line', 20, ['count', 'threshold']],
  ['is a line as long as the count is seen beside it', 10 * peak, ['count', 'threshold']],
  ['is told only where it lies far above', 10 * peak + 1, ['count']],
])('the threshold in a chart of the window %s', (_, threshold, lines) => {
  const chart = windowOf(threshold);
  expect([labels(chart), chart.about.includes('far above')]).toEqual([lines, !lines.includes('threshold')]);
});

it.each<[what: string, threshold: number, first: RegExp]>([
  ['is a line', 10 * peak, /^ *510┤┄+ threshold$/m],
  ['is named only where it is far above', 10 * peak + 1, /^The threshold of 511 is far above the counts\.$/m],
])('the threshold in the text of a terminal %s', (_, threshold, first) => {
  expect(reportText(sampleRun({ threshold }))).toMatch(first);
});

it('the threshold in a chart of the window is a line where nothing was counted', () => {
  const chart = chartsOf({ ...emptyRun(), timeline: sampleRun({ contracts: { all: [] } }).timeline }).find(
    ({ id }) => id === 'window',
  )!;
  expect(labels(chart)).toEqual(['count', 'threshold']);
});

it('the threshold in a chart of several runs says whose it is where they have different ones', () => {
  const [one, other] = [sampleRun(), sampleRun({ threshold: 30 })];
  expect(
    [one, other].map((second) =>
      labels(
        runsChart([
          { name: 'a', reported: one },
          { name: 'b', reported: second },
        ])!,
      ),
    ),
  ).toEqual([
    ['a', 'b', 'threshold'],
    ['a', 'b', 'threshold of a'],
  ]);
});
