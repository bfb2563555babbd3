// The traffic of a scenario: its arrival models, its logs, and how long requests come.
import type { Seed } from '../math/seed.js';
import { parseStretch } from '../outcome/stretch.js';
import { contractNames, type KeyedSpec, type LoadedScenario, type RecordedLog } from '../scenario/loaded-scenario.js';
import { parseTime } from '../schema/quantity.js';
import type { Arrival } from '../traffic/arrival/arrival.js';
import { makeArrival } from '../traffic/arrival/make.js';
import { sum } from '../traffic/arrival/sum.js';
import { type Feed, recordedFeed } from './feed.js';

export interface Traffic {
  /** Models that add up; for independent contracts, one for each contract. */
  readonly arrivals: readonly Arrival[];
  /** Cycles in which requests come. */
  readonly cycles: number;
  /** Names of the contracts. */
  readonly names: readonly string[];
  /** Where a log says which contract each request belongs to, all requests. */
  readonly feed: Feed | undefined;
  readonly skippedLines: number;
}

/** @throws Failure of the log readers, or `invalid_input` for rates and times that cannot be read */
export async function trafficOf(scenario: LoadedScenario, seed: Seed): Promise<Traffic> {
  const logs = new Map<number, RecordedLog>();
  for (const [index, spec] of scenario.arrivals.entries()) {
    if (spec.model === 'log') logs.set(index, await scenario.source.recording(spec, scenario.cycleMs));
  }
  const cycles = scenario.duration ?? lastOf(scenario, logs);
  const skippedLines = [...logs.values()].reduce((sum, log) => sum + log.skippedLines, 0);
  const names = contractNames(scenario);
  // `checkParts` has seen to it that such a log stands alone.
  if (names === undefined) return { ...keyedTraffic(scenario, [...logs][0]!, cycles), skippedLines };
  const make = (purpose: string) =>
    scenario.arrivals.map((spec, index) =>
      makeArrival(spec, {
        seed,
        purpose: `${purpose}arrivals/${index}`,
        cycleMs: scenario.cycleMs,
        cycles,
        within: scenario.within,
        log: logs.get(index)?.whole,
        place: `/arrivals/${index}`,
      }),
    );
  const arrivals = scenario.independent ? names.map((name) => sum(make(`contract/${name}/`))) : make('');
  return { arrivals, cycles, names, feed: undefined, skippedLines };
}

/** Whether each contract, as a key, has a place of its own. */
export function hasPlaces(keyed: KeyedSpec | undefined, names: readonly string[]): boolean {
  return keyed === undefined || names.length <= keyed.max_keys;
}

/** One contract for each key of the log, heard from `from` up to `to` and not after the last cycle in which requests come. */
function keyedTraffic(
  { arrivals, cycleMs, startCycle }: LoadedScenario,
  [index, { byKey = [] }]: [index: number, log: RecordedLog],
  cycles: number,
): Omit<Traffic, 'skippedLines'> {
  const { from, to } = parseStretch(arrivals[index]!, `/arrivals/${index}`, (value) => parseTime(value, cycleMs));
  const end = startCycle + Math.min(cycles, to);
  const shifted = byKey.map(({ recording }) => {
    const at = recording.cycles.map((cycle) => cycle - recording.origin + startCycle + from);
    const inside = at.findLastIndex((cycle) => cycle < end) + 1;
    return { cycles: at.subarray(0, inside), counts: recording.counts };
  });
  return { arrivals: [], cycles, names: byKey.map(({ key }) => key), feed: recordedFeed(shifted) };
}

function lastOf({ arrivals, cycleMs }: LoadedScenario, logs: ReadonlyMap<number, RecordedLog>): number {
  return arrivals.reduce((last, spec, index) => {
    const to = spec.to === undefined ? Number.POSITIVE_INFINITY : parseTime(spec.to, cycleMs);
    const log = logs.get(index);
    if (log === undefined) return Math.max(last, to);
    const recordings = log.byKey?.map(({ recording }) => recording) ?? [log.whole];
    const length = recordings.reduce(
      (most, { cycles, origin }) => Math.max(most, (cycles.at(-1) ?? origin) - origin + 1),
      0,
    );
    return Math.max(last, Math.min(to, parseTime(spec.from ?? 0, cycleMs) + length));
  }, 1);
}
