// Periods and phases of a grid that put an edge into each return of quota. Pure.
//
//   returns    |--|        |-----|     |---|      from the last refused request to the next admitted one
//   edges   |     |     |     |     |     |       an edge in each
import { modulo } from '../math/modulo.js';
import type { Features, Return } from './features.js';
import { parametersOf, withEdgeAt } from './parameter-steps.js';
import { isInCells, type Parameters, type Structure } from './structure.js';
import type { Spans } from './window-spans.js';

const PERIOD_STEP = 0.01;
const LEAST_STEP = 2e-4;
/** Largest number of starts; more if instants bound the length of a window. */
export const MOST_ON_EDGES = 120;
const MOST_IN_CELLS = 240;
const MOST_PHASES = 6;
const MOST_TIMES = 12;

/** For rules that count in segments or refill at ticks: quota returns at their edges, so each return contains an edge. */
export function startsOnEdges(
  structure: Structure,
  waits: readonly number[],
  { returns }: Features,
  spans: Spans,
): Parameters[] {
  const isCounted = isInCells(structure);
  const cells = isCounted ? (structure.part ?? 1) : 1;
  const found: Parameters[] = [];
  const apart = returns.slice(1).map(({ toMs }, k) => toMs - returns[k]!.fromMs);
  // No edge of a window or tick lies within continuous refusals, and two returns of a key have different edges.
  const refusedMs = isCounted ? 0 : 0.9 * Math.max(SLACK_MS, ...returns.map((one) => one.refusedMs));
  const leastMs = Math.max(refusedMs, spans.leastMs / cells);
  const mostMs = isCounted
    ? spans.mostMs / cells
    : Math.min(spans.mostMs, 1.1 * Math.min(MOST_TIMES * Math.max(...waits), ...apart.filter((ms) => ms > leastMs)));
  const narrowest = returns.reduce((ms, one) => Math.min(ms, one.toMs - one.fromMs), Infinity);
  const seenMs = (returns.at(-1)?.toMs ?? 0) - (returns[0]?.fromMs ?? 0);
  const by = Math.min(PERIOD_STEP, Math.max(LEAST_STEP, narrowest / 2 / Math.max(1, seenMs)));
  let run: { readonly period: number; readonly fromMs: number; readonly arcMs: number }[] = [];
  for (let period = leastMs; period < mostMs; period *= 1 + by) {
    const arc = arcWithin(returns, period);
    const long = Math.min(PERIOD_STEP, period / 4 / Math.max(1, seenMs)) / by;
    if (arc !== undefined) run.push({ period, ...arc });
    const isEnd = arc === undefined || run.length >= long || period * (1 + by) >= mostMs;
    if (!isEnd || run.length === 0) continue;
    const one = run[run.length >> 1]!;
    const phases = Math.max(1, Math.ceil((one.arcMs / one.period) * MOST_PHASES));
    for (let k = 0; k < phases; k += 1) {
      const all = parametersOf(structure, 1, one.period * cells);
      found.push(withEdgeAt(structure, all, one.fromMs + ((k + 0.5) / phases) * one.arcMs));
    }
    run = [];
  }
  const most = isCounted ? MOST_IN_CELLS : MOST_ON_EDGES;
  const step = Math.max(1, found.length / most);
  return Array.from({ length: Math.min(found.length, most) }, (_, k) => found[Math.floor(k * step)]!);
}

/** The times within a whole number of periods of every return; undefined if there are none. */
function arcWithin(
  returns: readonly Return[],
  period: number,
): { readonly fromMs: number; readonly arcMs: number } | undefined {
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

const SLACK_MS = 2;
