// Starting points of the search for parameters. Pure.
import { log } from '../../core/math/elementary.js';
import type { Range } from '../../core/math/range.js';
import { sampleEvenly } from '../../core/math/sample-evenly.js';
import type { Evidence } from './evidence.js';
import type { Features, Return } from './features.js';
import { MOST_ON_EDGES, startsInCells, startsOnEdges } from './grid-starts.js';
import { midpoints, parametersOf, withEdgeAt } from './parameter-steps.js';
import { isByToken, isInCells, type Name, type Parameters, type Structure } from './structure.js';
import { PROMPT_MS } from './violation.js';
import { windowSpansOf } from './window-spans.js';

export const GRID = 1.12;
/** Range of spans, relative to the times in which quota returned. */
const SHORTEST_PART = 0.3;
const LONGEST_PART = 2.3;
/** The same upper end for buckets, which return single tokens, and for windows on a grid, which may return early. */
const MANY_TIMES = 12;
export const PHASES = 4;
export const LONGEST = 4;
const MOST_PERIODS = 24;

export interface Where {
  readonly near?: readonly number[] | undefined;
  readonly known?: number | undefined;
  /** Includes spans much longer than the return of a single request. Default: no. */
  readonly isWide?: boolean | undefined;
}

/** The spans to try, in ms; `shortest` and `longest` are those of any structure. */
function searchedSpans(
  structure: Structure,
  { shortestMs, longestMs }: Evidence,
  { bursts, returns, fromMs, toMs, heldStepMs }: Features,
  waits: readonly number[],
  { near, isWide = false }: Where,
) {
  // If refused requests delay the return, the time since the last of them counts.
  const gaps = returns.slice(0, 6).map((one) => one.toMs - one.fromMs);
  const times = near ?? [...[...new Set(waits)].slice(-3), ...(structure.isPutOff ? gaps : [])];
  const isGrid = structure.period !== undefined;
  const isWhole = isGrid && (structure.part === undefined || structure.family === 'token bucket');
  const [shortest, longest] = [Math.max(1, shortestMs / 8), LONGEST * (toMs - fromMs)];
  const isQuick = near === undefined && Math.min(longest, ...times) < 6 * longestMs;
  const leastMs =
    isQuick || times.length === 0 ? shortest : Math.max(shortest, SHORTEST_PART * Math.min(longest, ...times));
  const many = isWhole || structure.has.includes('otherMs') ? MANY_TIMES : LONGEST_PART;
  // An estimate returns requests one by one, at instants that change with the slightest change of span.
  const isEstimate = structure.family === 'sliding counter';
  const mostTimes = isWide && isEstimate ? Math.max(...bursts) : many;
  const mostMs =
    times.length === 0
      ? longest
      : Math.min(longest, mostTimes * Math.max(shortest, longestMs, ...(isWide ? waits : times)));
  const spans: number[] = [];
  for (let ms = leastMs; ms < mostMs; ms *= !isEstimate ? GRID : isGrid ? FINE_GRID : FINEST_GRID) spans.push(ms);
  if (structure.family === 'queue' && heldStepMs !== undefined) {
    for (let k = -HELD_STEPS; k <= HELD_STEPS; k += 1) spans.push(heldStepMs * (1 + k * HELD_STEP));
  }
  return { shortest, longest, least: leastMs, most: mostMs, spans };
}

export function* startsOf(
  structure: Structure,
  evidence: Evidence,
  features: Features,
  where: Where = {},
): Generator<Parameters> {
  const { bursts, recoveries, refusals, returns, fromMs } = features;
  const has = (name: Name) => structure.has.includes(name);
  const waits = recoveries.slice(0, 6).flatMap((ms) =>
    refusals
      .filter((at) => at < ms)
      .slice(-1)
      .map((at) => ms - at),
  );
  const { shortest, longest, least, most, spans } = searchedSpans(structure, evidence, features, waits, where);
  // A block begins with a refusal that no admission follows, at the latest with the last one: this bounds its length.
  const blocks = blocksFrom(returns, structure.isPutOff === true);
  const { known } = where;
  const isGrid = structure.period !== undefined;
  const isEstimate = structure.family === 'sliding counter';
  const lattice = isGrid ? latticeOf(structure, recoveries, least) : [];
  const isCounted = isInCells(structure) || structure.id === 'fixed-grid';
  const isEnough = returns.length >= FEW_RETURNS;
  const phases = isEstimate ? 2 * PHASES : PHASES;
  // A bucket that refills during a burst admits more than its limit.
  if (isByToken(structure) && !isGrid) {
    const each = structure.family === 'token bucket' ? (structure.part ?? 1) : 1;
    for (const { limit, tokenMs } of bucketsWithin(evidence, shortest, most))
      yield parametersOf(structure, limit, tokenMs * each);
  }
  for (const limit of bursts) {
    const within = windowSpansOf(structure, limit, evidence);
    if (within === undefined) continue;
    const own = {
      least: within.least > shortest ? within.least : least,
      most: within.most < longest ? within.most : Math.max(most, LONGEST * within.least),
    };
    if (isCounted) {
      yield* startsInCells(structure, limit, evidence, own);
      continue;
    }
    if (isGrid && structure.family === 'token bucket' && isEnough) {
      const onEdges = startsOnEdges(structure, waits, features, within);
      for (const start of onEdges) yield { ...start, limit };
      // No other period puts an edge into each return, unless the search hit its maximum of starts.
      if (onEdges.length < MOST_ON_EDGES) continue;
    }
    const by = isEstimate ? GRID : 1;
    const isWithin = (ms: number) => ms > within.least / by && ms < within.most * by;
    const ownSpans =
      structure.window === undefined || isEstimate
        ? spans.filter(isWithin)
        : [...spansWithin(own, has('otherMs') ? FINE_GRID : FINEST_GRID), ...spans.filter(isWithin)];
    for (const [k, spanMs] of [...ownSpans, ...lattice.filter(isWithin)].entries()) {
      const shares = structure.capacity && OTHER_SHARES.map((share) => share * spanMs);
      const others =
        shares ?? (has('otherMs') ? [...new Set(known === undefined ? [...blocks, spanMs] : [known])] : [spanMs]);
      for (const otherMs of others) {
        const all = parametersOf(structure, limit, spanMs, { otherMs });
        if (!has('shiftMs')) yield all;
        else {
          const edges = [recoveries[0], recoveries.at(-1)].filter((ms) => ms !== undefined);
          const anywhere =
            k >= ownSpans.length
              ? []
              : Array.from({ length: phases }, (_, j) => fromMs + (j / phases) * (structure.period?.(all) ?? spanMs));
          for (const ms of [...edges, ...anywhere]) yield withEdgeAt(structure, all, ms);
        }
      }
    }
  }
}

/** Values of `otherMs` to try, as shares of the span. */
const OTHER_SHARES = midpoints(20);

/** Lengths of a block to try: midway between the longest time of refusals and each upper bound; in ms. */
function blocksFrom(returns: readonly Return[], isPutOff: boolean): number[] {
  if (returns.length === 0) return [];
  const refusedMs = isPutOff ? 0 : Math.max(...returns.map((one) => one.refusedMs));
  const mosts = (['refusedMs', 'mixedMs'] as const).map((name) =>
    Math.min(...returns.map((one) => one.toMs - one.fromMs + (isPutOff ? 0 : one[name]))),
  );
  return [...new Set(mosts.map((ms) => (refusedMs < ms ? (refusedMs + ms) / 2 : ms)))];
}

function spansWithin({ least, most }: Range, factor: number): number[] {
  const n = Math.max(2, Math.ceil(log(most / least) / log(factor)));
  const at = (share: number) => least * (most / least) ** share;
  return most < least ? [] : [...midpoints(n).map(at), at(0.5 / n ** 2), at(1 - 0.5 / n ** 2)];
}

const FINE_GRID = 1.04;
/** Where refused requests count, one wrong answer hides how far the span is off: only the span itself can be searched. */
const FINEST_GRID = 1.005;

function latticeOf(structure: Structure, recoveries: readonly number[], least: number): number[] {
  const [first, last] = [recoveries[0], recoveries.at(-1)];
  if (first === undefined || last === undefined) return [];
  const part = structure.family === 'token bucket' ? 1 : (structure.part ?? 1);
  return Array.from({ length: MOST_PERIODS }, (_, k) => (part * (last - first)) / (k + 1)).filter((ms) => ms > least);
}

const FEW_RETURNS = 2;
const HELD_STEPS = 10;
const HELD_STEP = 0.01;

/** A start with a larger violation, as a share of its span, leads nowhere. */
const NEAR = 0.12;
const NEAR_ON_GRID = 0.3;
/** A bucket with one token too many is off by the time of that token; one with a wrong rate, by that share of every token. */
const NEAR_BY_TOKEN = 1.2;
const TOKENS_OFF = 0.12;

export function nearPartOf(structure: Structure, { limit }: Parameters): number {
  if (isByToken(structure)) return Math.max(NEAR_BY_TOKEN, TOKENS_OFF * limit);
  return structure.period === undefined ? NEAR : NEAR_ON_GRID;
}

// Limits of a bucket that can have given the answers, each with the time of a token.
//
//   taken     ╱|         ╱|      x     one more for each admitted request, one less for each token that returns
//           ╱| | ╲     ╱| |   ╱|       admitted: the limit is at least the number taken after the request
//          |      ╲___|      |         limited:  the limit is less than the number taken would be
export interface Bucket {
  readonly limit: number;
  readonly tokenMs: number;
}

/** Step of the time of a token, as a share of it: changes the number taken by this share of a request. */
const STEP = 0.2;
const LARGEST_STEP = 0.05;
/** Error of the number taken, in requests, beside that of the instants. */
const SLACK = 0.3;
const MOST_LIMITS = 3;
const MOST_BUCKETS = 90;

/** @param leastMs shortest time of a token @param mostMs longest time of a token */
export function bucketsWithin(evidence: Evidence, leastMs: number, mostMs: number): Bucket[] {
  const keys = evidence.keys.map(({ admitted, limited }) =>
    [
      ...[...admitted.first].map((ms) => ({ ms, isAdmitted: true })),
      ...[...limited.last].map((ms) => ({ ms, isAdmitted: false })),
    ].sort((a, b) => a.ms - b.ms),
  );
  const found: Bucket[] = [];
  let [least, most] = [1, Infinity];
  for (let tokenMs = leastMs; tokenMs < mostMs; tokenMs *= 1 + Math.min(LARGEST_STEP, STEP / least)) {
    [least, most] = [1, Infinity];
    for (const requests of keys) {
      let [taken, atMs] = [0, -Infinity];
      for (const { ms, isAdmitted } of requests) {
        taken = Math.max(0, taken - (ms - atMs) / tokenMs);
        atMs = ms;
        if (!isAdmitted) most = Math.min(most, taken + 1);
        else {
          taken += 1;
          least = Math.max(least, taken);
        }
      }
    }
    const slack = SLACK + Math.min(evidence.widestMs, PROMPT_MS) / tokenMs;
    const [from, to] = [Math.max(1, Math.ceil(least - slack)), Math.min(1e6, Math.floor(most + slack))];
    const step = Math.max(1, (to - from) / (MOST_LIMITS - 1));
    for (let limit = from; limit <= to; limit += step) found.push({ limit: Math.round(limit), tokenMs });
  }
  return sampleEvenly(found, MOST_BUCKETS);
}
