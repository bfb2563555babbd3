// Periods and phases of a grid that the answers leave possible. Pure.
//
//   returns    |--|        |-----|     |---|      from the last refused request to the next admitted one
//   edges   |     |     |     |     |     |       an edge in each
//
//   pairs      |--------------|                   counted at the first instant, gone at the second: an edge for each cell of a window between
import { modulo } from '../../core/math/modulo.js';
import type { Range } from '../../core/math/range.js';
import { sampleEvenly } from '../../core/math/sample-evenly.js';
import type { Evidence } from './evidence.js';
import type { Features, Return } from './features.js';
import { midpoints, parametersOf, withEdgeAt } from './parameter-steps.js';
import type { Parameters, Structure } from './structure.js';
import { type Pair, pairsInCells, SLACK_MS } from './window-spans.js';

const PERIOD_STEP = 0.01;
const LEAST_STEP = 2e-4;
/** Largest number of starts; more if instants bound the length of a window. */
export const MOST_ON_EDGES = 120;
/** Ranges of periods that are halved further. */
const MOST_RANGES = 160;
/** Resolution of a period: periods are compared as doubles, so they must be exact. */
const LEAST_PERIOD_STEP = 1 / 16;
const MOST_PHASES = 6;
const MOST_TIMES = 12;

/** For rules that refill at ticks: quota returns at them, so each return contains a tick. */
export function startsOnEdges(
  structure: Structure,
  waits: readonly number[],
  { returns }: Features,
  spans: Range,
): Parameters[] {
  const apart = returns.slice(1).map(({ toMs }, k) => toMs - returns[k]!.fromMs);
  // No tick lies within continuous refusals, and two returns of a key have different ticks.
  const leastMs = Math.max(0.9 * Math.max(SLACK_MS, ...returns.map((one) => one.refusedMs)), spans.least);
  const mostMs = Math.min(
    spans.most,
    1.1 * Math.min(MOST_TIMES * Math.max(...waits), ...apart.filter((ms) => ms > leastMs)),
  );
  const narrowest = returns.reduce((ms, one) => Math.min(ms, one.toMs - one.fromMs), Infinity);
  const seenMs = (returns.at(-1)?.toMs ?? 0) - (returns[0]?.fromMs ?? 0);
  const by = Math.min(PERIOD_STEP, Math.max(LEAST_STEP, narrowest / 2 / Math.max(1, seenMs)));
  const arcs: { readonly period: number; readonly fromMs: number; readonly arcMs: number }[] = [];
  let run: typeof arcs = [];
  for (let period = leastMs; period < mostMs; period *= 1 + by) {
    const arc = arcWithin(returns, period);
    const long = Math.min(PERIOD_STEP, period / 4 / Math.max(1, seenMs)) / by;
    if (arc !== undefined) run.push({ period, ...arc });
    const isEnd = arc === undefined || run.length >= long || period * (1 + by) >= mostMs;
    if (!isEnd || run.length === 0) continue;
    arcs.push(run[run.length >> 1]!);
    run = [];
  }
  // An edge within a burst must be met exactly.
  const least = Math.min(MOST_PHASES, Math.floor((MOST_ON_EDGES - 1) / arcs.length));
  const found = arcs.flatMap(({ period, fromMs, arcMs }) =>
    midpoints(Math.max(1, least, Math.ceil((arcMs / period) * MOST_PHASES))).map((share) =>
      withEdgeAt(structure, parametersOf(structure, 1, period), fromMs + share * arcMs),
    ),
  );
  return sampleEvenly(found, MOST_ON_EDGES);
}

/** The times within a whole number of periods of every return; undefined if there are none. */
function arcWithin(returns: readonly Return[], period: number) {
  const short = returns.filter(({ fromMs, toMs }) => toMs - fromMs < period);
  const isIn = (ms: number) =>
    short.every(({ fromMs, toMs }) => modulo(ms - fromMs + SLACK_MS, period) <= toMs - fromMs + 2 * SLACK_MS);
  // The common arc begins at the beginning of some return and ends at the end of one.
  const begin = short.map(({ fromMs }) => fromMs).find(isIn);
  const end = short.map(({ toMs }) => toMs).find(isIn);
  if (short.length === 0) return { fromMs: returns[0]?.fromMs ?? 0, arcMs: period };
  if (begin === undefined || end === undefined) return undefined;
  return { fromMs: begin, arcMs: modulo(end - begin, period) };
}

/** A range of periods, and the phases of an edge that it leaves possible, since an anchor; in ms. */
interface Periods extends Range {
  readonly arcs: readonly Arc[];
}

type Arc = readonly [fromMs: number, toMs: number];

/**
 * For rules that count in cells. Ranges of periods are halved as long as every pair leaves a phase possible for some period in them: no
 * period that explains the answers is lost.
 */
export function startsInCells(structure: Structure, limit: number, evidence: Evidence, spans: Range): Parameters[] {
  const cells = structure.part ?? 1;
  const pairs = pairsInCells(structure, limit, evidence);
  const times = pairs.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  if (pairs.length === 0 || !times.every(Number.isFinite)) return [];
  const [first, last] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), 0)];
  const anchorMs = (first + last) / 2;
  const rangeOf = (least: number, most: number): Periods => ({
    least,
    most,
    arcs: arcsOf(pairs, cells, anchorMs, (least + most) / 2, (most - least) / 2),
  });
  let ranges = [rangeOf(spans.least / cells, spans.most / cells)];
  const isWide = ({ least, most }: Periods) =>
    most - least > LEAST_PERIOD_STEP && ((most - least) / least) * (last - first) > SLACK_MS;
  while (ranges.length < MOST_RANGES && ranges.some(isWide)) {
    ranges = ranges
      .flatMap((one) => {
        const middle = Math.sqrt(one.least * one.most);
        return isWide(one) ? [rangeOf(one.least, middle), rangeOf(middle, one.most)] : [one];
      })
      .filter(({ arcs }) => arcs.length > 0);
  }
  return ranges.flatMap(({ least, most, arcs }) => {
    const period = (least + most) / 2;
    const parameters = parametersOf(structure, limit, period * cells);
    return arcs.flatMap(([fromMs, toMs]) =>
      midpoints(Math.max(1, Math.ceil(((toMs - fromMs) / period) * MOST_PHASES))).map((share) =>
        withEdgeAt(structure, parameters, anchorMs + fromMs + share * (toMs - fromMs)),
      ),
    );
  });
}

/** Possible phases of an edge, since the anchor, if the period is known to `byMs`. */
function arcsOf(pairs: readonly Pair[], cells: number, anchorMs: number, period: number, byMs: number): Arc[] {
  let arcs: Arc[] = [[0, period]];
  for (const { fromMs, toMs, hasLeft } of pairs) {
    const slackMs = SLACK_MS + byMs * (Math.abs(fromMs - anchorMs) / period + cells);
    const [from, over] = [fromMs - anchorMs, toMs - fromMs - (cells - 1) * period];
    // The first edge after the first instant lies within `over` of it, or does not.
    const [start, length] = hasLeft
      ? [from - slackMs, over + 2 * slackMs]
      : [from + over - slackMs, period - over + 2 * slackMs];
    if (length < 0) return [];
    if (length < period) arcs = common(arcs, modulo(start, period), length, period);
    if (arcs.length === 0) return [];
  }
  return arcs;
}

function common(arcs: readonly Arc[], start: number, length: number, period: number): Arc[] {
  const end = start + length;
  const others: readonly Arc[] =
    end <= period
      ? [[start, end]]
      : [
          [0, end - period],
          [start, period],
        ];
  return arcs.flatMap(([from, to]) =>
    others.flatMap(([least, most]): Arc[] => {
      const one: Arc = [Math.max(from, least), Math.min(to, most)];
      return one[0] <= one[1] ? [one] : [];
    }),
  );
}
