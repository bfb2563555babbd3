// The charts of a run, in report order.
import type { ChartSpec } from '../chart-specs/spec.js';
import type { Reported } from '../reported.js';
import { decisionsChart } from './decisions.js';
import { contractsChart, lanesChart } from './lanes.js';
import { latencyChart, percentilesChart, queueChart } from './queue-latency.js';
import { bandChart, spreadChart } from './replications.js';
import { rulesChart } from './rules.js';
import { comparisonChart, windowChart } from './window-count.js';

const builders: readonly ((reported: Reported) => ChartSpec | undefined)[] = [
  comparisonChart,
  windowChart,
  decisionsChart,
  lanesChart,
  contractsChart,
  queueChart,
  latencyChart,
  percentilesChart,
  bandChart,
  spreadChart,
  rulesChart,
];

export function chartsOf(reported: Reported): ChartSpec[] {
  return builders.flatMap((build) => build(reported) ?? []);
}
