// How far a parameter can move while the rule still explains the answers. Pure.
import type { Range } from '../../core/math/range.js';
import { midpoints, moved } from './parameter-steps.js';
import type { Hypothesis, Name, Parameters, Structure } from './structure.js';
import { TOLERANCE_MS } from './violation.js';

/** Instants of counting, as shares of the uncertainty. */
export const COUNTED_AT = [0, 0.3, 0.7, 1];

interface Given {
  readonly explains: (parameters: Parameters) => boolean;
  /** Edges of a grid that may stay in place while its period changes. */
  readonly anchors: readonly number[];
  readonly known: number | undefined;
  readonly longestMs: number;
}

const MOST_DOUBLINGS = 20;
const HALVINGS = 6;

/** Spans tried with another limit, on each side of the best: one more and a slower return can look alike. */
const COMPENSATING = 16;

/** The parameters at one end of the range of `name`; the others stay, or move along with it: a grid, the span with a limit. */
export function endOf(
  { structure, parameters: best }: Hypothesis,
  name: Name,
  direction: -1 | 1,
  { explains, anchors, known, longestMs }: Given,
): Parameters {
  let inside = best;
  const isInteger = name === 'limit';
  const period = structure.period?.(best) ?? best.spanMs;
  const at = (value: number): Parameters | undefined => {
    const found = anchors.map((anchorMs) => moved(structure, inside, name, value, anchorMs)).find(explains);
    return found !== undefined || !isInteger || structure.period !== undefined
      ? found
      : compensated({ ...inside, limit: value }).find(explains);
  };
  let outside: number | undefined;
  // Ranges only shrink: what was outside stays outside.
  if (known !== undefined && !isInteger && direction * (known - best[name]) > 0) {
    const found = at(known);
    if (found !== undefined) return found;
    outside = known;
  } else {
    let by = isInteger
      ? 1
      : name === 'shiftMs'
        ? Math.max(TOLERANCE_MS / 4, period * 1e-4)
        : Math.max(best[name] * 5e-4, 0.05);
    const least = isInteger ? 1 : name === 'shiftMs' ? -Infinity : 0.01;
    for (let k = 0; k < MOST_DOUBLINGS; k += 1) {
      const value = inside[name] + direction * by;
      if (value < least || (name === 'spanMs' && value > longestMs)) break;
      if (name === 'shiftMs' && Math.abs(value - best.shiftMs) > period / 2) break;
      const found = at(value);
      if (found === undefined) {
        outside = value;
        break;
      }
      inside = found;
      if (!isInteger) by *= 2;
    }
  }
  if (outside === undefined || isInteger) return inside;
  for (let k = 0; k < HALVINGS; k += 1) {
    const middle: number = (inside[name] + outside) / 2;
    const found = at(middle);
    if (found === undefined) outside = middle;
    else inside = found;
  }
  return inside;
}

/** Spans by up to one in `limit` shorter and longer, the nearest first. */
function compensated(from: Parameters): Parameters[] {
  const shares = Array.from({ length: COMPENSATING }, (_, k) => (k + 1) / (COMPENSATING + 1) / from.limit);
  return shares.flatMap((share) => [1 - share, 1 + share].map((factor) => ({ ...from, spanMs: from.spanMs * factor })));
}

/** How exactly times are wanted, as a share of each. */
export const RESOLUTION = 0.01;
/** Steps beyond an end per resolution; the search ends after a whole resolution without an explanation. */
const STEPS_OF_RESOLUTION = { onGrid: 10, other: 50 };
const MOST_RESOLUTIONS = 6;
/** Margin beyond the farthest explanation, for spans between steps and other orders of counting. */
const STEPS_MORE = 2;
const PHASES = 96;
const MOST_NEAR = 4;
const REFINED = 5;

/** Spans elsewhere: up to this factor longer or shorter, in steps of half the resolution. */
const FARTHEST = 2;
const FACTOR_ELSEWHERE = 1 + RESOLUTION / 2;
/** Values of `otherMs` to try, as shares of the span. */
const OTHER_SHARES = midpoints(60);

/**
 * All spans that explain the answers, as ascending disjoint ranges. With other instants of counting they may lie beyond the ends from
 * `endOf`; with other phases of a grid, distant spans may explain the answers, too.
 */
export function spansOf(
  { structure, parameters }: Hypothesis,
  range: Range,
  violation: (parameters: Parameters, mostMs: number) => number,
  toleranceMs: number,
): readonly Range[] {
  const steps = structure.period === undefined ? STEPS_OF_RESOLUTION.other : STEPS_OF_RESOLUTION.onGrid;
  const stepMs = (RESOLUTION / steps) * parameters.spanMs;
  const shares = structure.capacity === undefined ? [] : OTHER_SHARES;
  const explains = (spanMs: number) =>
    [parameters.otherMs, ...shares.map((share) => share * spanMs)].some(
      (otherMs) => atSomePhase(structure, { ...parameters, spanMs, otherMs }, violation, toleranceMs) !== undefined,
    );
  const beyond = (end: number, direction: -1 | 1): number => {
    let farthest = end;
    let missed = 0;
    for (let k = 1; k <= MOST_RESOLUTIONS * steps && missed < steps; k += 1) {
      const spanMs = end + direction * k * stepMs;
      missed += 1;
      if (spanMs <= 0 || !explains(spanMs)) continue;
      missed = 0;
      farthest = spanMs;
    }
    return farthest + STEPS_MORE * direction * stepMs;
  };
  const pieces = [{ least: beyond(range.least, -1), most: beyond(range.most, 1) }];
  for (let ms = range.least / FARTHEST; ms < range.most * FARTHEST; ms *= FACTOR_ELSEWHERE) {
    const isInside = ms > pieces[0]!.least && ms < pieces[0]!.most;
    if (!isInside && explains(ms)) pieces.push(around(ms));
  }
  return disjoint(pieces);
}

/** The range that one span elsewhere represents. */
export function around(spanMs: number): Range {
  return { least: spanMs / FACTOR_ELSEWHERE, most: spanMs * FACTOR_ELSEWHERE };
}

export function widened({ least, most }: Range, byMs: number, lowestMs = 0): Range {
  return { least: Math.max(lowestMs, least - byMs), most: most + byMs };
}

/** The same values, as ascending ranges that do not overlap. */
export function disjoint(pieces: readonly Range[]): readonly Range[] {
  const apart: Range[] = [];
  for (const piece of [...pieces].sort((a, b) => a.least - b.least)) {
    const last = apart.at(-1);
    if (last === undefined || piece.least > last.most) apart.push(piece);
    else apart[apart.length - 1] = { least: last.least, most: Math.max(last.most, piece.most) };
  }
  return apart;
}

/** The parameters with a phase of the grid that explains the answers: tries a few over the period, then refines around the best. */
export function atSomePhase(
  structure: Structure,
  from: Parameters,
  violation: (parameters: Parameters, mostMs: number) => number,
  toleranceMs: number,
): Parameters | undefined {
  const period = structure.period?.(from) ?? from.spanMs;
  const at = (shiftMs: number, countedAt = from.countedAt) => ({
    ...moved(structure, from, 'shiftMs', shiftMs, 0),
    countedAt,
  });
  const [phases, rounds] = structure.period === undefined ? [1, 1] : [PHASES, REFINED];
  const mostMs = phases === 1 ? Infinity : period / phases + toleranceMs;
  const near: { readonly shiftMs: number; readonly ms: number }[] = [];
  const look = (shiftMs: number) => {
    const ms = violation(at(shiftMs), Math.min(near[MOST_NEAR - 1]?.ms ?? Infinity, mostMs));
    const place = near.findIndex((one) => one.ms > ms);
    near.splice(place < 0 ? near.length : place, 0, { shiftMs, ms });
    near.length = Math.min(near.length, MOST_NEAR);
  };
  for (let k = 0; k < phases; k += 1) look((k / phases) * period);
  if (near[0]!.ms > mostMs) return undefined;
  for (let k = 1, step = period / phases / 2; k <= rounds; k += 1, step /= 2) {
    if (near[0]!.ms <= toleranceMs) return at(near[0]!.shiftMs);
    // This close, the instants of counting matter.
    for (const { shiftMs, ms } of near)
      for (const countedAt of COUNTED_AT) {
        const one = at(shiftMs, countedAt);
        if (violation(one, ms) <= toleranceMs) return one;
      }
    if (k === rounds) break;
    for (const { shiftMs } of [...near]) for (const by of [-step, step]) look(shiftMs + by);
  }
  return near[0]!.ms <= toleranceMs ? at(near[0]!.shiftMs) : undefined;
}
