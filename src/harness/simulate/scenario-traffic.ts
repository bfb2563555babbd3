// The requests of one run: arrival models and logs, with the random streams of the run.
import { type Draws, drawsOf } from '../../core/math/random.js';
import type { Seed } from '../../core/math/seed.js';
import { startOf } from '../../core/time/cycle.js';
import type { LoadedScenario, RecordedLog } from '../scenario/loaded-scenario.js';
import type { Recording } from '../traffic/arrival/arrival.js';
import type { ArrivalPlan } from '../traffic/arrival/make.js';
import { spreadOverSeconds } from '../traffic/arrival/recorded.js';
import { sum } from '../traffic/arrival/sum.js';
import { recordedRequests } from './reorder-buffer.js';
import { type CycleCounts, type ModelTraffic, RequestsOfModels } from './requests.js';
import { decidesByMs, SECOND_MS } from './spread-seconds.js';

export interface Traffic extends ModelTraffic {
  /** The random streams of the run. */
  readonly draws: Draws;
  /** All requests, if a log names the contract of each; there are no models then. */
  readonly recorded: Iterable<CycleCounts> | undefined;
  /** For the next request; undefined if every request costs 1. */
  readonly drawCost: (() => number) | undefined;
  readonly skippedLines: number;
  readonly notes: readonly string[];
}

interface PlayedArrival {
  readonly plan: ArrivalPlan;
  readonly purpose: string;
  readonly log: RecordedLog | undefined;
  readonly isSpread: boolean;
}

/** @throws Failure of the log readers, or `invalid_input` for a function that returns no count */
export async function trafficOf(scenario: LoadedScenario, seed = scenario.seed): Promise<Traffic> {
  const { arrivals, names, source, cycleMs, plan, startCycle, costs } = scenario;
  const draws = drawsOf(seed);
  const spreads = decidesByMs(plan) && cycleMs <= SECOND_MS;
  const played: PlayedArrival[] = [];
  for (const [index, one] of arrivals.entries()) {
    const purpose = `arrivals/${index}`;
    const log = one.log && (await source.recording(one.log, cycleMs));
    const isPlaced = one.log?.placement !== undefined || one.log?.spread !== undefined;
    const isSpread = spreads && log?.isWholeSeconds === true && !isPlaced;
    const phase = () => draws(`${purpose}/seconds`).uniform();
    played.push({ plan: one, purpose, log: isSpread ? spread(log, cycleMs, phase()) : log, isSpread });
  }
  const cycles = scenario.duration ?? played.reduce((last, one) => Math.max(last, endOf(one)), 1);
  const read = {
    draws,
    cycles,
    drawCost: costs?.make(draws),
    skippedLines: played.reduce((sum, { log }) => sum + (log?.skippedLines ?? 0), 0),
    notes: played.flatMap(({ plan, isSpread }) => (isSpread ? [spreadNote(plan.log!.file)] : [])),
  };
  if (names === undefined) {
    // `checkParts` makes sure that such a log is the only arrival.
    const keyed = keyedTraffic(played[0]!, startCycle, cycles, cycleMs);
    return { ...read, ...keyed, arrivals: [], popularity: undefined };
  }
  const made = (prefix: string) =>
    played.map(({ plan, purpose, log }) =>
      plan.make({ draws, purpose: `${prefix}${purpose}`, cycles, log: log?.whole }),
    );
  if (scenario.independent)
    return {
      ...read,
      names,
      recorded: undefined,
      popularity: undefined,
      arrivals: names.map((name) => sum(made(`contract/${name}/`))),
    };
  const popularity = scenario.popularity.make(draws('popularity'));
  return { ...read, names, recorded: undefined, popularity, arrivals: made('') };
}

function spread(log: RecordedLog, cycleMs: number, phase: number): RecordedLog {
  const spreadOne = (recording: Recording) => spreadOverSeconds(recording, cycleMs, phase);
  const byKey = log.byKey?.map(({ key, recording }) => ({ key, recording: spreadOne(recording) }));
  return { ...log, whole: byKey?.[0]?.recording ?? spreadOne(log.whole), byKey };
}

function spreadNote(file: string): string {
  return `The times of ${file} are whole seconds, and the rule decides by the ms: the requests of one second are spread evenly over it, with a phase that the seed determines. If they came as a burst, more of them would be limited.`;
}

export function hasPlaces({ keyed }: Pick<LoadedScenario, 'keyed'>, names: readonly string[]): boolean {
  return names.length <= (keyed?.max_keys ?? Number.POSITIVE_INFINITY);
}

/** One contract per key of the log. Requests outside from .. to, or after the end of the run, are left out. */
function keyedTraffic({ plan: { from, to }, log }: PlayedArrival, startCycle: number, cycles: number, cycleMs: number) {
  const byKey = log?.byKey ?? [];
  const end = startCycle + Math.min(cycles, to);
  const shifted = byKey.map(({ recording }) => {
    const at = recording.cycles.map((cycle) => cycle - recording.origin + startCycle + from);
    const inside = at.findLastIndex((cycle) => cycle < end) + 1;
    return { cycles: at.subarray(0, inside), counts: recording.counts, instants: recording.instants };
  });
  const names = byKey.map(({ key }) => key);
  return { names, recorded: recordedRequests(names, shifted, cycleMs) };
}

function endOf({ plan: { from, to }, log }: PlayedArrival): number {
  if (log === undefined) return to;
  const recordings = log.byKey?.map(({ recording }) => recording) ?? [log.whole];
  const lengths = recordings.map(({ cycles, origin }) => (cycles.at(-1) ?? origin) - origin + 1);
  return Math.min(to, from + lengths.reduce((most, length) => Math.max(most, length), 0));
}

interface PlannedRequest {
  readonly ms: number;
  readonly contract: number;
}

/** In order of time; determined by scenario and seed. @throws Failure if a log of the scenario cannot be read */
export async function* requestsOf(
  scenario: LoadedScenario,
  seed: Seed = scenario.seed,
): AsyncGenerator<PlannedRequest, void, undefined> {
  const traffic = await trafficOf(scenario, seed);
  if (traffic.recorded !== undefined) yield* recorded(scenario, traffic.recorded);
  const models = new RequestsOfModels(traffic);
  for (let cycle = 0; traffic.recorded === undefined && cycle < traffic.cycles; cycle += 1) {
    const { n, fractions, contracts } = models.at(cycle);
    for (let k = 0; k < n; k += 1)
      yield { ms: startOf(cycle + fractions[k]!, scenario.cycleMs), contract: contracts[k]! };
  }
}

/** A log with a contract per key has cycles only: each request arrives at the start of its cycle. */
function* recorded({ cycleMs, startCycle }: LoadedScenario, batches: Iterable<CycleCounts>): Generator<PlannedRequest> {
  for (const { cycle, contracts, requests } of batches)
    for (let k = 0; k < contracts.length; k += 1)
      for (let n = requests[k]!; n > 0; n -= 1)
        yield { ms: startOf(cycle - startCycle, cycleMs), contract: contracts[k]! };
}
