// Changes of parameters during a search. Pure.
import { modulo } from '../../core/math/modulo.js';
import type { Name, Parameters, Structure } from './structure.js';
import { BASE_MS } from './violation.js';

export function withEdgeAt(structure: Structure, parameters: Parameters, ms: number): Parameters {
  const period = structure.period?.(parameters) ?? parameters.spanMs;
  return { ...parameters, shiftMs: modulo(-(ms + BASE_MS), period) };
}

/** On a grid, the edge nearest to `anchorMs` stays in place. */
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

/** One step along each parameter, up and down. @param hasLimits also the limit, alone and with a compensating span */
export function neighboursOf(
  structure: Structure,
  from: Parameters,
  step: number,
  anchors: readonly number[],
  hasLimits: boolean,
): Parameters[] {
  const factors = [1 - step, 1 + step];
  const near = anchors.flatMap((anchorMs) =>
    factors.map((factor) => moved(structure, from, 'spanMs', from.spanMs * factor, anchorMs)),
  );
  const limits = hasLimits ? [-1, 1, -2, 2].filter((by) => from.limit + by >= 1) : [];
  for (const by of limits) near.push({ ...from, limit: from.limit + by });
  if (structure.has.includes('otherMs'))
    for (const factor of factors) near.push({ ...from, otherMs: from.otherMs * factor });
  if (structure.has.includes('shiftMs')) {
    const period = structure.period?.(from) ?? from.spanMs;
    for (const by of [-step, step]) near.push(moved(structure, from, 'shiftMs', from.shiftMs + by * period, 0));
  }
  for (const by of limits.slice(0, 2)) {
    const limit = from.limit + by;
    near.push({ ...from, limit, spanMs: (from.spanMs * limit) / from.limit });
  }
  return near;
}

/** The middles of `n` equal parts of the interval from 0 to 1. */
export function midpoints(n: number): number[] {
  return Array.from({ length: n }, (_, k) => (k + 0.5) / n);
}

const APART = 1.3;

export function isNear(one: Parameters, other: Parameters): boolean {
  const isAbout = (a: number, b: number) => Math.max(a, b) < APART * Math.min(a, b);
  return isAbout(one.spanMs, other.spanMs) && isAbout(one.otherMs, other.otherMs);
}

const GOLDEN = 0.618_033_988_749_895;

/** The k-th place of a sequence in [0, 1) that fills it evenly; another sequence for each `n`. */
export function placeOf(k: number, n = 1): number {
  return modulo(k * GOLDEN ** n, 1);
}

export function scatteredFrom(
  structure: Structure,
  from: Parameters,
  width: number,
  k: number,
  anchorMs: number,
): Parameters {
  const by = (n: number) => width * (2 * placeOf(k, n) - 1);
  const spread = moved(structure, from, 'spanMs', from.spanMs * (1 + by(1)), anchorMs);
  const shifted = structure.has.includes('shiftMs')
    ? moved(structure, spread, 'shiftMs', spread.shiftMs + by(2) * from.spanMs, 0)
    : spread;
  const otherMs = structure.has.includes('otherMs') ? from.otherMs * (1 + by(3)) : shifted.otherMs;
  return { ...shifted, otherMs, countedAt: placeOf(k, 4) };
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
