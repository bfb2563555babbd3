// A fresh series of requests that is answered as a rule predicts only if it is the rule. Pure.
//
//   requests   |||| |   ||| |    ||||| |        volleys of what has come back and one more; single ones just before something comes back
//   by chance  each volley would have to refuse as many as predicted: the series goes on until that is unlikely
//   two limits what the rule gives back is used at once, window after window: a second limit that allows less refuses some of it
import { log } from '../../core/math/elementary.js';
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { placeOf } from './parameter-steps.js';
import { Followed, type Probe, probeRequests, type Sample, type Volley } from './probe.js';
import { gapOf, jitterOf } from './probes.js';
import { windowMsOf } from './structure.js';

const FRESH = 'what is expected, in a fresh series';

/** Chance alone must not answer a series as predicted more often than once in 2^12 times. */
export const LEAST_BITS = 12;
/** Admissions that a series asks for: as multiples of the limit, fewer if that is many. */
const MOST_WINDOWS = 5;
const LEAST_WINDOWS = 1.5;
const MANY = 30;
/** There are many rare rules, and one of them may come near to what is none: they are tested for longer. */
const RARE = 2;
const MOST_VOLLEYS = 60;
/** Instants tried for the next volley, as parts of the longest time that a rule remembers. */
const INSTANTS = 24;
const MOST_MEMORIES = 2.5;

interface FreshSeries {
  readonly probe: Probe;
  /** How unlikely chance alone answers it as predicted. */
  readonly bits: number;
  /** What would have been needed for more. */
  readonly lacks: 'budget' | 'time' | undefined;
}

interface Left {
  readonly requests: number;
  readonly timeMs: number;
}

/** @param own samples of each rule, the first one of the rule that is tested */
export function freshSeries(
  { best }: Fitted,
  own: readonly Sample[],
  evidence: Evidence,
  startMs: number,
  left: Left,
): FreshSeries {
  const { structure, parameters } = best;
  const { limit } = parameters;
  const memoryMs = structure.isInFlight
    ? evidence.admittedMs
    : Math.max(windowMsOf(best), structure.has.includes('otherMs') ? parameters.otherMs : 0);
  const followed = own.map((sample) => new Followed(sample, evidence));
  const [gapMs, lateMs] = [gapOf(evidence), jitterOf(evidence)];
  const wantedAll =
    (structure.isFine ? RARE : 1) * Math.max(LEAST_WINDOWS * limit, Math.min(MOST_WINDOWS * limit, MANY));
  const volleys: Volley[] = [];
  const counts: Count[] = [];
  let [atMs, admitted] = [0, 0];
  let lacks: FreshSeries['lacks'];
  const probe = (): Probe => ({ words: FRESH, volleys });
  const roomsAt = (ms: number) => followed.map((one) => one.roomAt(startMs + ms));
  const least = (ms: number) => Math.min(...roomsAt(ms - lateMs));
  const most = (ms: number) => Math.max(...roomsAt(ms + lateMs));
  const send = (n: number) => {
    const rooms = [...roomsAt(atMs - lateMs), ...roomsAt(atMs + lateMs)];
    counts.push({ n, least: Math.min(n, ...rooms), most: Math.min(n, Math.max(...rooms)) });
    admitted += Math.max(...followed.map((one) => one.send(startMs + atMs, n).admitted));
    volleys.push({ atMs, n });
  };
  for (let k = 1; k < MOST_VOLLEYS; k += 1) {
    const n = Math.min(most(atMs), limit + 1) + 1;
    lacks = probeRequests(probe()) + n > left.requests ? 'budget' : atMs > left.timeMs ? 'time' : undefined;
    if (lacks !== undefined) break;
    send(n);
    if (admitted >= wantedAll && bitsOf(counts) >= LEAST_BITS) break;
    const wanted = Math.ceil(limit * (0.3 + 0.7 * placeOf(k)));
    const places = Array.from({ length: INSTANTS * MOST_MEMORIES }, (_, place) => ((place + 1) / INSTANTS) * memoryMs);
    const later = places.filter((ms) => ms >= gapMs).map((ms) => atMs + ms);
    let back = later.findIndex((ms) => least(ms) >= wanted);
    if (back < 0) back = later.length - 1;
    const before = later.slice(0, back).filter((ms) => most(ms) === 0);
    // A refused request that puts off what comes back is sent soon.
    const single = structure.isPutOff ? before[0] : before[Math.floor((0.5 + 0.5 * placeOf(k, 2)) * before.length)];
    if (single !== undefined) {
      atMs = single;
      send(structure.isPutOff ? 2 : 1);
      back = later.findIndex((ms) => ms > single && least(ms) >= wanted);
      if (back < 0) back = later.length - 1;
    }
    atMs = later[back]! + placeOf(k, 3) * (memoryMs / INSTANTS);
  }
  return { probe: probe(), bits: bitsOf(counts), lacks };
}

/** Of a volley of `n`, how many are admitted. */
interface Count {
  readonly n: number;
  readonly least: number;
  readonly most: number;
}

const SHARES = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
const BIT = log(2);

/** How unlikely refusals by chance give all counts, whatever their share. */
function bitsOf(counts: readonly Count[]): number {
  const of = (share: number) =>
    counts.reduce((sum, one) => sum - log(Math.max(1e-300, likelihood(one, share))) / BIT, 0);
  return Math.min(...SHARES.map(of));
}

function likelihood({ n, least, most }: Count, share: number): number {
  let one = (1 - share) ** n;
  let sum = 0;
  for (let refused = 0; refused <= n - least; refused += 1) {
    if (refused >= n - most) sum += one;
    one *= ((n - refused) / (refused + 1)) * (share / (1 - share));
  }
  return sum;
}
