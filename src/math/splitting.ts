// The probability of a rare event, by multilevel splitting with fixed effort (Garvels, 2000; unbiased: Glasserman et al., 1999).
//
//   level 2   -----------------*~~~~~~ event          runs that reach a level continue from there in n branches per level
//   level 1   -------*~~~~~~~~/                       p = sum over k of (product of the shares that reach levels 1 .. k)
//   run       ______/ \_______________                        x (share of the branches of level k with the event that go no higher)
//
// A branch repeats its run up to the cycle in which the level is first exceeded, and uses other draws from then on. Every run is judged once,
// by the event itself, at the highest level it reaches. The estimate is therefore unbiased for any event; the gain depends on whether the
// level leads to it. A pilot of separate runs sets the levels: levels set by the runs themselves would cause a bias.
import { exp, log } from './elementary.js';
import { meanInterval, tQuantile975 } from './interval.js';
import { RandomStream } from './random.js';
import type { Seed } from './seed.js';

/** From the start of `cycle`, counted from the start of the run, all draws use another seed. */
export interface RunBranch {
  readonly cycle: number;
  readonly seed: Seed;
}

/** A new maximum of the level, at the end of the cycle. */
export interface LevelRecord {
  readonly cycle: number;
  readonly level: number;
}

export interface LevelRun {
  readonly seed: Seed;
  readonly branches: readonly RunBranch[];
}

export interface JudgedRun {
  readonly records: readonly LevelRecord[];
  readonly hasEvent: boolean;
}

type Make = (run: LevelRun) => Promise<JudgedRun | undefined>;

/** Mean of the repetitions, and its 95 % interval. */
export interface RareEvent {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly runs: number;
}

/** Independent repetitions, few and large, so that their products of shares are close to log-normal. */
const REPETITIONS = 5;
/** Share of the pilot's runs that reach the next level; if this share has the event, no further level is needed. */
const PASSED = 0.25;
const MOST_LEVELS = 30;

/**
 * Undefined if stopped, or if no repetition has the event.
 *
 * If all repetitions have the event, the interval is Cox's for the mean of a log-normal law: over products of shares, of 1e-6 to 0.1, it
 * covers the mean in 93 to 97 % of cases from 25 runs per stage on. Otherwise it is that of rare counts, with a coverage of 83 % or more.
 * @param most total number of runs
 */
export async function rareEvent(make: Make, seed: Seed, most: number): Promise<RareEvent | undefined> {
  const levels: number[] = [];
  const ofPilot = Math.max(20, Math.min(200, Math.floor(most / 80)));
  const pilot = await repetition(make, `${seed}/pilot`, ofPilot, (runs) => {
    const isLast = (levels.length + 2) * ofPilot > most / 2 || levels.length === MOST_LEVELS;
    const level = isLast ? undefined : nextLevel(runs, levels.at(-1) ?? 0);
    if (level !== undefined) levels.push(level);
    return level;
  });
  if (pilot === undefined) return undefined;
  const each = Math.floor((most - pilot.runs) / (REPETITIONS * (levels.length + 1)));
  const made: { readonly share: number; readonly runs: number }[] = [];
  for (let number = 0; number < REPETITIONS; number += 1) {
    const one = await repetition(make, `${seed}/${number}`, each, (_, stage) => levels[stage]);
    if (one === undefined) return undefined;
    made.push(one);
  }
  const shares = made.map(({ share }) => share);
  if (shares.every((share) => share === 0)) return undefined;
  return { ...shareOf(shares), runs: made.reduce((sum, { runs }) => sum + runs, pilot.runs) };
}

function nextLevel(runs: readonly JudgedRun[], last: number): number | undefined {
  if (runs.filter(({ hasEvent }) => hasEvent).length >= PASSED * runs.length) return undefined;
  const most = runs.map(({ records }) => records.at(-1)?.level ?? 0).sort((a, b) => a - b);
  return most.slice(Math.floor((1 - PASSED) * most.length)).find((level) => level > last);
}

/** @param levelAfter the level at which to branch the runs of a stage; undefined after the last stage */
async function repetition(
  make: Make,
  seed: Seed,
  n: number,
  levelAfter: (runs: readonly JudgedRun[], stage: number) => number | undefined,
): Promise<{ readonly share: number; readonly runs: number } | undefined> {
  let starts: readonly LevelRun[] = Array.from({ length: n }, (_, index) => ({
    seed: `${seed}/${index}`,
    branches: [],
  }));
  let [share, reached, runs] = [0, 1, 0];
  for (let stage = 0; ; stage += 1) {
    const made = await Promise.all(starts.map(make));
    if (made.includes(undefined)) return undefined;
    const judged = made as readonly JudgedRun[];
    runs += n;
    const level = levelAfter(judged, stage) ?? Number.POSITIVE_INFINITY;
    const entered: (LevelRun & { readonly cycle: number })[] = [];
    let events = 0;
    for (const [index, { records, hasEvent }] of judged.entries()) {
      const at = records.find((record) => record.level >= level);
      if (at !== undefined) entered.push({ ...starts[index]!, cycle: at.cycle + 1 });
      else if (hasEvent) events += 1;
    }
    share += (reached * events) / n;
    if (entered.length === 0) return { share, runs };
    reached *= entered.length / n;
    // Systematic sampling: a random start and equal steps, so that each is branched equally often on average.
    const offset = new RandomStream(seed, `splitting/${stage}`).uniform() * entered.length;
    starts = Array.from({ length: n }, (_, index) => {
      const {
        cycle,
        branches,
        seed: first,
      } = entered[Math.floor(offset + (index * entered.length) / n) % entered.length]!;
      const before = branches.filter((branch) => branch.cycle < cycle);
      return { seed: first, branches: [...before, { cycle, seed: `${seed}/${stage + 1}/${index}` }] };
    });
  }
}

function shareOf(shares: readonly number[]): Pick<RareEvent, 'mean' | 'low' | 'high'> {
  const { mean, low, high } = meanInterval(shares, 1);
  if (shares.includes(0)) return { mean, low, high };
  const logs = shares.map((share) => log(share));
  const n = logs.length;
  const middle = logs.reduce((sum, one) => sum + one, 0) / n;
  const variance = logs.reduce((sum, one) => sum + (one - middle) ** 2, 0) / (n - 1);
  const half = tQuantile975(n - 1) * Math.sqrt(variance / n + (variance * variance) / (2 * (n + 1)));
  const centre = middle + variance / 2;
  return { mean, low: Math.min(mean, exp(centre - half)), high: Math.min(1, Math.max(mean, exp(centre + half))) };
}
