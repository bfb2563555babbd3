// The traffic of a scenario: its arrival models, its logs, and how long requests come.
import { resolve } from 'node:path';
import type { Seed } from '../math/random.js';
import { parseStretch } from '../outcome/stretch.js';
import { contractNames, type LoadedScenario } from '../scenario/loaded-scenario.js';
import { parseTime, parseTimeMs } from '../schema/quantity.js';
import type { Arrival } from '../traffic/arrival/arrival.js';
import type { ArrivalSpec } from '../traffic/arrival/arrival-schema.js';
import { makeArrival } from '../traffic/arrival/make.js';
import type { Recording } from '../traffic/arrival/recorded.js';
import { sum } from '../traffic/arrival/sum.js';
import { readLog } from '../traffic/log/read.js';
import { CycleTally } from '../traffic/tally.js';
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

type LogSpec = Extract<ArrivalSpec, { model: 'log' }>;

/** A log as it was read: one recording, or one for each key. */
interface ReadLog {
  readonly whole: Recording;
  readonly byKey: readonly { readonly key: string; readonly recording: Recording }[] | undefined;
  readonly skippedLines: number;
}

/** @throws Failure of the log readers, or `invalid_input` for rates and times that cannot be read */
export async function trafficOf(scenario: LoadedScenario, seed: Seed): Promise<Traffic> {
  const logs = new Map<number, ReadLog>();
  for (const [index, spec] of scenario.arrivals.entries()) {
    if (spec.model === 'log') logs.set(index, await readRecording(spec, scenario));
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

async function readRecording(spec: LogSpec, { folder, cycleMs }: LoadedScenario): Promise<ReadLog> {
  const tally = new CycleTally(cycleMs);
  const { skippedLines } = await readLog(
    resolve(folder, spec.file),
    {
      format: spec.format,
      timeColumn: spec.time_column,
      countColumn: spec.count_column,
      keyColumn: spec.key_column,
      spreadMs: spec.spread === undefined ? undefined : parseTimeMs(spec.spread, cycleMs),
    },
    tally,
  );
  const keys = [...tally.keys()];
  const origin = Math.min(...keys.map((key) => tally.inOrder(key).cycles[0] ?? Number.POSITIVE_INFINITY));
  const recordings = keys.map((key) => {
    const { cycles, counts } = tally.inOrder(key);
    return { key, recording: { cycles: cycles.slice(), counts: counts.slice(), origin } };
  });
  return {
    whole: recordings[0]!.recording,
    byKey: spec.key_column === undefined ? undefined : recordings,
    skippedLines,
  };
}

/** One contract for each key of the log, heard from `from` up to `to` and not after the last cycle in which requests come. */
function keyedTraffic(
  { arrivals, cycleMs, startCycle }: LoadedScenario,
  [index, { byKey = [] }]: [index: number, log: ReadLog],
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

function lastOf({ arrivals, cycleMs }: LoadedScenario, logs: ReadonlyMap<number, ReadLog>): number {
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
