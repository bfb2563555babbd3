// Where the search for parameters begins, and how one of them is moved. Pure.
import { modulo } from '../math/modulo.js';
import type { Evidence } from './evidence.js';
import type { Features } from './features.js';
import type { Name, Parameters, Structure } from './structure.js';
import { BASE_MS } from './violation.js';

const GRID = 1.15;
const FINE_GRID = 1.09;
/** So many phases of a grid are tried. */
export const PHASES = 5;
/** No span is longer than this part of what was seen. */
export const LONGEST = 4;
/** As many periods are looked at between the first and the last recovery. */
const MOST_PERIODS = 60;

/**
 * Where the search for the parameters of a structure begins.
 * @param near only with spans of about these lengths in ms
 */
export function* startsOf(
  structure: Structure,
  { shortestMs }: Evidence,
  features: Features,
  near?: readonly number[] | undefined,
): Generator<Parameters> {
  const { bursts, recoveries, refusals, fromMs, toMs } = features;
  const has = (name: Name) => structure.has.includes(name);
  const waits = recoveries.slice(0, 4).flatMap((ms) =>
    refusals
      .filter((at) => at < ms)
      .slice(-1)
      .map((at) => ms - at),
  );
  const spans: number[] = [];
  const least = Math.max(1, shortestMs / 4);
  for (let ms = least; ms < LONGEST * (toMs - fromMs); ms *= structure.period === undefined ? GRID : FINE_GRID)
    spans.push(ms);
  const usual = spans.length;
  if (structure.period !== undefined) spans.push(...latticeOf(structure, recoveries, least));
  for (const [k, spanMs] of spans.entries()) {
    const isLattice = k >= usual;
    if (near !== undefined && !near.some((ms) => spanMs > 0.45 * ms && spanMs < 2.2 * ms)) continue;
    const others = has('otherMs') ? [...new Set([...waits.slice(0, 3), spanMs])] : [spanMs];
    for (const [limit, otherMs] of bursts.flatMap((n) => others.map((ms) => [n, ms] as const))) {
      const all = parametersOf(structure, limit, spanMs, { otherMs });
      if (!has('shiftMs')) yield all;
      else {
        const known = [recoveries[0], recoveries.at(-1)].filter((ms) => ms !== undefined);
        const anywhere = isLattice
          ? []
          : Array.from({ length: PHASES }, (_, k) => fromMs + (k / PHASES) * (structure.period?.(all) ?? spanMs));
        for (const ms of [...known, ...anywhere]) yield withEdgeAt(structure, all, ms);
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
