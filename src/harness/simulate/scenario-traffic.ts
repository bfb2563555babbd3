// The requests of one run: arrival models and logs, with the random streams of the run.
import { type Draws, drawsOf } from '../../core/math/random.js';
import { startOf } from '../../core/time/cycle.js';
import type { LoadedScenario, RecordedLog } from '../scenario/loaded-scenario.js';
import type { Recording } from '../traffic/arrival/arrival.js';
import type { ArrivalPlan } from '../traffic/arrival/make.js';
import { spreadOverSecond } from '../traffic/arrival/recorded.js';
import { ReorderBuffer } from '../traffic/reorder-buffer.js';
import { type CycleCounts, type ModelTraffic, oneByOne, priced, requestsOfModels } from '../traffic/requests.js';
import { decidesByMs, SECOND_MS } from '../traffic/spread.js';

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
  readonly log: PlacedLog | undefined;
}

interface PlacedLog extends RecordedLog {
  /** Of requests that are spread over their seconds; undefined: they are not. */
  readonly phase: number | undefined;
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
    const phase = isSpread ? draws(`${purpose}/seconds`).uniform() : undefined;
    played.push({ plan: one, purpose, log: log && { ...log, phase } });
  }
  const cycles = scenario.duration ?? played.reduce((last, one) => Math.max(last, endOf(one, cycleMs)), 1);
  const read = {
    draws,
    cycles,
    drawCost: costs?.make(draws),
    skippedLines: played.reduce((sum, { log }) => sum + (log?.skippedLines ?? 0), 0),
    notes: played.flatMap(({ plan, log }) => (log?.phase === undefined ? [] : [spreadNote(plan.log!.file)])),
  };
  if (names === undefined) {
    // `checkParts` makes sure that such a log is the only arrival.
    const keyed = keyedTraffic(played[0]!, startCycle, cycles, cycleMs);
    return { ...read, ...keyed, arrivals: [], popularity: undefined };
  }
  const recordings = played.map(({ log }) => log && recordingIn(log, cycleMs));
  const made = (prefix: string) =>
    played.map(({ plan, purpose }, index) =>
      plan.make({ draws, purpose: `${prefix}${purpose}`, cycles, log: recordings[index] }),
    );
  const { independent } = scenario;
  return {
    ...read,
    names,
    recorded: undefined,
    popularity: independent ? undefined : scenario.popularity.make(draws('popularity')),
    arrivals: independent ? names.flatMap((name) => made(`contract/${name}/`)) : made(''),
  };
}

type Place = (contract: number, cycle: number, n: number, fraction?: number) => void;

/** Each entry in its cycle; spread, each request at its fraction of one. */
function eachPlaced({ requests: all, phase }: PlacedLog, cycleMs: number, place: Place): void {
  for (const { cycle, contracts, requests } of all())
    for (const [k, contract] of contracts.entries())
      if (phase === undefined) place(contract, cycle, requests[k]!);
      else
        spreadOverSecond(cycle, requests[k]!, { cycleMs, phase }, (own, fraction) => place(contract, own, 1, fraction));
}

function recordingIn(log: PlacedLog, cycleMs: number): Recording {
  const [cycles, counts, instants]: [number[], number[], number[]] = [[], [], []];
  eachPlaced(log, cycleMs, (_, cycle, n, fraction) => {
    if (cycles.at(-1) === cycle) counts[counts.length - 1]! += n;
    else {
      cycles.push(cycle);
      counts.push(n);
    }
    if (fraction !== undefined) instants.push(fraction);
  });
  return {
    cycles: Float64Array.from(cycles),
    counts: Float64Array.from(counts),
    origin: log.firstCycle,
    instants: log.phase === undefined ? undefined : Float64Array.from(instants),
  };
}

function spreadNote(file: string): string {
  return `The times of ${file} are whole seconds, and the rule decides by the ms: the requests of one second are spread evenly over it, with a phase that the seed determines. If they came as a burst, more of them would be limited.`;
}

export function hasPlaces({ keyed }: Pick<LoadedScenario, 'keyed'>, names: readonly string[]): boolean {
  return names.length <= (keyed?.max_keys ?? Number.POSITIVE_INFINITY);
}

/** One contract per key of the log. Requests outside from .. to, or after the end of the run, are left out. */
function keyedTraffic({ plan: { from, to }, log }: PlayedArrival, startCycle: number, cycles: number, cycleMs: number) {
  const { names, firstCycle, phase } = log!;
  const buffer = new ReorderBuffer({ keys: names, isTimed: phase !== undefined });
  const end = startCycle + Math.min(cycles, to);
  eachPlaced(log!, cycleMs, (contract, at, n, fraction) => {
    const cycle = at - firstCycle + startCycle + from;
    if (cycle >= end) return;
    buffer.add(contract, fraction === undefined ? cycle : Math.floor(startOf(cycle, cycleMs) + fraction * cycleMs), n);
  });
  return { names, recorded: buffer.release(cycleMs) };
}

function endOf({ plan: { from, to }, log }: PlayedArrival, cycleMs: number): number {
  if (log === undefined) return to;
  let last = log.lastCycle;
  // Those of the last second may be in later cycles than its start.
  if (log.phase !== undefined)
    eachPlaced(log, cycleMs, (_, cycle) => {
      last = Math.max(last, cycle);
    });
  return Math.min(to, from + last - log.firstCycle + 1);
}

/**
 * The requests of a run without clients one by one, from the models and random streams of its simulation, as a live run sends them.
 * Cycles count from the start of the run, and so do instants. A log with a contract per key has cycles only.
 *
 *   arrivals   | x   x   x |      popularity     | A   C   A |
 *              |  o     o  |   ─────────────►    |  B     A  |      in order of their instants
 */
export function scheduleOf(traffic: Traffic, { startCycle, cycleMs }: LoadedScenario): Iterable<CycleCounts> {
  const { recorded, drawCost } = traffic;
  const batches =
    recorded === undefined ? requestsOfModels(traffic, 0, cycleMs) : recordedSchedule(recorded, startCycle);
  return drawCost === undefined ? batches : priced(batches, drawCost);
}

/** Of batches whose cycle `firstCycle` is the first of the run. */
export function* recordedSchedule(recorded: Iterable<CycleCounts>, firstCycle: number): Generator<CycleCounts> {
  for (const { cycle, keys, contracts, requests } of recorded) {
    const each: number[] = [];
    for (const [k, contract] of contracts.entries()) for (let n = requests[k]!; n > 0; n -= 1) each.push(contract);
    yield oneByOne(cycle - firstCycle, Uint32Array.from(each), keys);
  }
}
