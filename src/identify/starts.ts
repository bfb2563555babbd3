// Where the search for parameters begins, and how one of them is moved. Pure.
import { modulo } from '../math/modulo.js';
import type { Evidence } from './evidence.js';
import type { Features, Return } from './features.js';
import type { Name, Parameters, Structure } from './structure.js';
import { BASE_MS } from './violation.js';

/** Neighbours of the spans that are looked at differ by this factor. */
export const GRID = 1.12;
/** Spans that are looked at, as parts of the times in which something came back. */
const SHORTEST_PART = 0.3;
const LONGEST_PART = 2.3;
/** Buckets get single tokens back, and windows on a grid may have come back early. */
const MANY_TIMES = 12;
/** So many phases of a grid are tried. */
export const PHASES = 4;
/** No span is longer than this part of what was seen. */
export const LONGEST = 4;
/** As many periods are looked at between the first and the last recovery. */
const MOST_PERIODS = 24;

/**
 * Where the search for the parameters of a structure begins.
 * @param known what `otherMs` is about
 * @param near only with spans of about these lengths in ms
 */
export function* startsOf(
  structure: Structure,
  { shortestMs, longestMs }: Evidence,
  features: Features,
  near?: readonly number[] | undefined,
  known?: number | undefined,
): Generator<Parameters> {
  const { bursts, recoveries, refusals, returns, fromMs, toMs } = features;
  const has = (name: Name) => structure.has.includes(name);
  const waits = recoveries.slice(0, 6).flatMap((ms) =>
    refusals
      .filter((at) => at < ms)
      .slice(-1)
      .map((at) => ms - at),
  );
  // Where refused requests put it off, what counts is the time since the last of them.
  const gaps = returns.slice(0, 6).map((one) => one.toMs - one.fromMs);
  const spans: number[] = [];
  const times = near ?? [...[...new Set(waits)].slice(-3), ...(structure.isPutOff ? gaps : [])];
  const isGrid = structure.period !== undefined;
  const isWhole = isGrid && (structure.part === undefined || structure.family === 'token bucket');
  const [shortest, longest] = [Math.max(1, shortestMs / 8), LONGEST * (toMs - fromMs)];
  // What comes back while requests are under way is not seen to come back.
  const isQuick = near === undefined && Math.min(longest, ...times) < 6 * longestMs;
  const least = isQuick || times.length === 0 ? shortest : Math.max(shortest, SHORTEST_PART * Math.min(longest, ...times));
  const many = isWhole || has('otherMs') ? MANY_TIMES : LONGEST_PART;
  const most = times.length === 0 ? longest : Math.min(longest, many * Math.max(shortest, longestMs, ...times));
  for (let ms = least; ms < most; ms *= GRID) spans.push(ms);
  const { heldStepMs } = features;
  if (structure.family === 'queue' && heldStepMs !== undefined) {
    for (let k = -HELD_STEPS; k <= HELD_STEPS; k += 1) spans.push(heldStepMs * (1 + k * HELD_STEP));
  }
  const usual = spans.length;
  if (isGrid) spans.push(...latticeOf(structure, recoveries, least));
  const isInCells = structure.family === 'segmented window' || structure.family === 'rolling count';
  if (isInCells || (structure.period !== undefined && (structure.family === 'token bucket' || structure.id === 'fixed-grid'))) {
    const isEnough = near === undefined && returns.length >= FEW_RETURNS;
    if (isInCells || isEnough) {
      for (const start of startsOnEdges(structure, waits, features))
        for (const limit of bursts) yield { ...start, limit };
    }
    // There is no other period for which each return has an edge in it.
    if (isEnough) return;
  }
  for (const [k, spanMs] of spans.entries()) {
    const isLattice = k >= usual;
    const others = has('otherMs')
      ? [...new Set(known === undefined ? [...waits.slice(-1), spanMs] : [known])]
      : [spanMs];
    for (const [limit, otherMs] of bursts.flatMap((n) => others.map((ms) => [n, ms] as const))) {
      const all = parametersOf(structure, limit, spanMs, { otherMs });
      if (!has('shiftMs')) yield all;
      else {
        const edges = [recoveries[0], recoveries.at(-1)].filter((ms) => ms !== undefined);
        const anywhere = isLattice
          ? []
          : Array.from({ length: PHASES }, (_, k) => fromMs + (k / PHASES) * (structure.period?.(all) ?? spanMs));
        for (const ms of [...edges, ...anywhere]) yield withEdgeAt(structure, all, ms);
      }
    }
  }
}

/** Spans of which there is a whole number between recoveries. */
function latticeOf(structure: Structure, recoveries: readonly number[], least: number): number[] {
  const [first, last] = [recoveries[0], recoveries.at(-1)];
  if (first === undefined || last === undefined) return [];
  const part = structure.family === 'token bucket' ? 1 : (structure.part ?? 1);
  return Array.from({ length: MOST_PERIODS }, (_, k) => (part * (last - first)) / (k + 1)).filter((ms) => ms > least);
}

const HELD_STEPS = 10;
const HELD_STEP = 0.01;
const PERIOD_STEP = 0.01;
const LEAST_STEP = 2e-4;
const MOST_ON_EDGES = 60;
const MOST_PHASES = 6;
const FEW_RETURNS = 2;

/**
 * What is counted in segments, or comes at ticks, comes back at their edges. So each return has an edge in it, and periods and phases are
 * those for which all have.
 */
function startsOnEdges(structure: Structure, waits: readonly number[], { returns }: Features): Parameters[] {
  const { family, part = 1 } = structure;
  const isInCells = family === 'segmented window' || family === 'rolling count';
  const cells = isInCells ? part : 1;
  const found: Parameters[] = [];
  const apart = returns.slice(1).map(({ toMs }, k) => toMs - returns[k]!.fromMs);
  const [least, most] = isInCells
    ? [(0.9 * Math.min(...waits)) / part, (1.1 * Math.max(...waits)) / (part - 1)]
    : // Whoever is refused waits for the next edge, and the next return has another one.
      [0.9 * Math.max(...waits), 1.1 * Math.min(...apart)];
  // Over many periods a small step moves an edge past a return.
  const narrowest = returns.reduce((ms, one) => Math.min(ms, one.toMs - one.fromMs), Infinity);
  const seenMs = (returns.at(-1)?.toMs ?? 0) - (returns[0]?.fromMs ?? 0);
  const by = Math.min(PERIOD_STEP, Math.max(LEAST_STEP, narrowest / 2 / Math.max(1, seenMs)));
  const long = Math.ceil(PERIOD_STEP / by);
  let run: { readonly period: number; readonly fromMs: number; readonly arcMs: number }[] = [];
  for (let period = least; period < most; period *= 1 + by) {
    const arc = arcWithin(returns, period);
    if (arc !== undefined) run.push({ period, ...arc });
    const isEnd = arc === undefined || run.length === long || period * (1 + by) >= most;
    if (!isEnd || run.length === 0) continue;
    // Of neighbours the one in the middle; of a long arc several phases.
    const one = run[run.length >> 1]!;
    const phases = Math.max(1, Math.ceil((one.arcMs / one.period) * MOST_PHASES));
    for (let k = 0; k < phases; k += 1) {
      const all = parametersOf(structure, 1, one.period * cells);
      found.push(withEdgeAt(structure, all, one.fromMs + ((k + 0.5) / phases) * one.arcMs));
    }
    run = [];
  }
  const step = Math.max(1, found.length / MOST_ON_EDGES);
  return Array.from({ length: Math.min(found.length, MOST_ON_EDGES) }, (_, k) => found[Math.floor(k * step)]!);
}

/** Times of which each return has one in it that is a whole number of periods away; undefined where there are none. */
function arcWithin(
  returns: readonly Return[],
  period: number,
): { readonly fromMs: number; readonly arcMs: number } | undefined {
  const short = returns.filter(({ fromMs, toMs }) => toMs - fromMs < period);
  const isIn = (ms: number) =>
    short.every(({ fromMs, toMs }) => modulo(ms - fromMs + SLACK_MS, period) <= toMs - fromMs + 2 * SLACK_MS);
  // The arc of all that are common begins where one of them begins, and ends where one ends.
  const begin = short.map(({ fromMs }) => fromMs).find(isIn);
  const end = short.map(({ toMs }) => toMs).find(isIn);
  if (short.length === 0) return { fromMs: returns[0]?.fromMs ?? 0, arcMs: period };
  if (begin === undefined || end === undefined) return undefined;
  return { fromMs: begin, arcMs: modulo(end - begin, period) };
}

const SLACK_MS = 2;

/** With an edge of the grid at a time. */
function withEdgeAt(structure: Structure, parameters: Parameters, ms: number): Parameters {
  const period = structure.period?.(parameters) ?? parameters.spanMs;
  return { ...parameters, shiftMs: modulo(-(ms + BASE_MS), period) };
}

/** Moves one parameter; what lies on a grid keeps the edge that is nearest to `anchorMs`. */
export function moved(structure: Structure, from: Parameters, name: Name, value: number, anchorMs: number): Parameters {
  const to = { ...from, [name]: value };
  const { period } = structure;
  if (period === undefined || name === 'shiftMs' || name === 'otherMs' || name === 'limit') {
    return period === undefined || name !== 'shiftMs' ? to : { ...to, shiftMs: modulo(value, period(from)) };
  }
  const phase = modulo(anchorMs + BASE_MS + from.shiftMs, period(from));
  const edgeMs = anchorMs - (phase > period(from) / 2 ? phase - period(from) : phase);
  return withEdgeAt(structure, to, edgeMs);
}

export function parametersOf(
  structure: Structure,
  limit: number,
  spanMs: number,
  more: Partial<Parameters> = {},
): Parameters {
  return {
    limit: Math.max(1, limit),
    spanMs,
    part: structure.part ?? 1,
    otherMs: spanMs,
    shiftMs: 0,
    countedAt: 0.5,
    ...more,
  };
}
