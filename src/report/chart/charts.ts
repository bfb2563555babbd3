// The charts of a run, in report order; and several runs over each other.
import { type ChartSpec, type CycleAxis, type Tone, unmarked } from '../chart-specs/spec.js';
import { type Reported, shownContract } from '../reported.js';
import { counted, plain } from '../words.js';
import { thresholdLine } from './cycle-axis.js';
import { decisionsChart, requestsChart } from './decisions.js';
import { contractsChart, lanesChart } from './lanes.js';
import { latencyChart, percentilesChart, queueChart } from './queue-latency.js';
import { bandChart, spreadChart } from './replications.js';
import { refusalsChart } from './rules.js';
import { comparisonChart, windowChart } from './window-count.js';

const builders = {
  comparison: comparisonChart,
  window: windowChart,
  decisions: decisionsChart,
  lanes: lanesChart,
  contracts: contractsChart,
  queue: queueChart,
  latency: latencyChart,
  percentiles: percentilesChart,
  band: bandChart,
  replications: spreadChart,
  rules: ({ outcome: { compared } }) => compared && refusalsChart(compared),
  requests: requestsChart,
} satisfies Readonly<Record<string, (reported: Reported) => ChartSpec | undefined>>;

export function chartsOf(reported: Reported): readonly ChartSpec[] {
  return reported.charts ?? Object.values(builders).flatMap((build) => build(reported) ?? []);
}

export function chartOfRun(reported: Reported, wanted: keyof typeof builders): ChartSpec | undefined {
  return reported.charts === undefined ? builders[wanted](reported) : reported.charts.find(({ id }) => id === wanted);
}

const tones: readonly Tone[] = ['count', 'limited', 'median', 'tail', 'observed'];

export function runsChart(
  runs: readonly { readonly name: string; readonly reported: Reported }[],
): ChartSpec | undefined {
  const drawable = runs.flatMap(({ name, reported }) => {
    const contract = shownContract(reported.outcome);
    const chart = chartOfRun(reported, 'window');
    const [count] = chart?.lines ?? [];
    return chart?.x.kind !== 'cycles' || count === undefined || contract === undefined
      ? []
      : [{ name, axis: chart.x, count, contract }];
  });
  const first = drawable[0];
  if (first === undefined) return undefined;
  const shown = drawable.slice(0, tones.length);
  const longest = shown.reduce((most, { axis }) => Math.max(most, axis.to), 0);
  const axis: CycleAxis = { kind: 'cycles', from: 0, to: longest, firstCycle: 0, cycleMs: first.axis.cycleMs };
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
      ...shown.map(({ name, count }, index) =>
        // The first line is on top and each next line is broader, so equal runs all remain visible.
        ({ ...count, label: plain(name), tone: tones[index]!, width: 1.6 + 1.6 * index }),
      ),
      ...thresholdLine(threshold, peak, axis, isShared ? 'threshold' : `threshold of ${plain(first.name)}`),
    ],
    ...unmarked,
    height: 380,
  };
}
