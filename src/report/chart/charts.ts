// Owns which charts a run has, in the order in which reports show them. Leaves each chart to its own file.

import type { ChartSpec } from '../../web/chart/spec.js';
import type { Reported } from '../reported.js';
import { comparisonChart } from './comparison.js';
import { decisionsChart } from './decisions.js';
import { contractsChart, lanesChart } from './lanes.js';
import { latencyChart, percentilesChart, queueChart } from './load.js';
import { bandChart, spreadChart } from './replications.js';
import { windowChart } from './window.js';

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
];

export function chartsOf(reported: Reported): ChartSpec[] {
  return builders.flatMap((build) => build(reported) ?? []);
}
