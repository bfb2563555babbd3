// Owns reading scenarios in tests: a scenario, or the faults for which it is refused.

import { drawsOf } from '../../../src/core/math/random.js';
import { type LoadedScenario, parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { failureOf } from '../../failures.js';

export const read = (text: string, path = 'scenario.yaml'): LoadedScenario => parseScenario(text, path);

/** All that a scenario says, functions by what they give: two that say the same are equal. */
export function saidBy({ plan, at: _, source, spec: __, arrivals, popularity, ...rest }: LoadedScenario): object {
  const countsOf = (arrival: (typeof arrivals)[number], index: number) => {
    const model = arrival.make({ draws: drawsOf(1), purpose: `arrivals/${index}`, cycles: 20 });
    return Array.from({ length: 20 }, (_, cycle) => model.count(cycle));
  };
  const told = { path: source.path, thresholds: plan.thresholds, popularity: popularity.law };
  return { ...rest, ...told, counts: arrivals.map(countsOf) };
}

/** `line 3, column 7 (/pointer): message`, one a fault; nothing when the scenario is taken. */
export function refusalOf(text: string): string[] {
  return (failureOf(() => read(text))?.faults ?? []).map(({ path, message }) => `${path}: ${message}`);
}
