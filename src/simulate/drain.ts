// How long clients need to recover from what disturbed them, from the open jobs of a run.
//
//   open jobs  ____/‾‾‾‾\___.___     trigger: all faults, and arrivals that begin later than others or end earlier
//   cycle         |tr|   ^           drained: no more open than before the trigger, on average, rounded up
import type { Series } from '../outcome/series.js';
import type { Stretch } from '../outcome/stretch.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';

/** In cycles of the run; undefined if nothing disturbs it. A spike is over in the cycle in which it comes. */
function triggerOf({ arrivals, faults, duration = Number.POSITIVE_INFINITY }: LoadedScenario): Stretch | undefined {
  const passing = arrivals.filter(({ from, to }) => from > 0 || to < duration);
  // One source that begins or ends is the load itself.
  const spans = [...faults.map(({ at }) => at), ...(passing.length < arrivals.length ? passing : [])];
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to));
  return spans.length === 0 || to > duration ? undefined : { from, to };
}

/** From the end of the trigger, in ms to the end of a cycle; undefined where it does not drain in the run. */
export function drainMs(scenario: LoadedScenario, { cycle, open_jobs: open = [] }: Series): number | undefined {
  const trigger = triggerOf(scenario);
  if (trigger === undefined) return undefined;
  const { startCycle, cycleMs } = scenario;
  const at = cycle.map((one) => one - startCycle);
  const before = open.filter((_, index) => at[index]! < trigger.from);
  const usual = Math.ceil(before.reduce((sum, one) => sum + one, 0) / Math.max(1, before.length));
  const index = at.findIndex((one, place) => one >= trigger.to - 1 && open[place]! <= usual);
  return index < 0 ? undefined : (at[index]! + 1 - trigger.to) * cycleMs;
}
