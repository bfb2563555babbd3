// The numbers that are printed of an explanation: the roundest with which the rule gives the answers, and the phase of a grid. Pure.
import { modulo } from '../../core/math/modulo.js';
import type { Range } from '../../core/math/range.js';
import { roundest } from '../../core/math/roundest.js';
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { moved, withEdgeAt } from './parameter-steps.js';
import { atSomePhase, endOf, widened } from './ranges.js';
import type { Parameters, Structure } from './structure.js';
import { BASE_MS, violationOf } from './violation.js';

/** The roundest numbers within the ranges with which the rule gives the answers, else the best fit. */
export function roundedOf(
  { best: { structure, parameters }, ranges, violationMs }: Fitted,
  evidence: Evidence,
  mostMs: number,
  pieces: readonly Range[],
): Parameters {
  const rounder = (name: 'limit' | 'spanMs' | 'otherMs') =>
    roundest(ranges[name].least, ranges[name].most, parameters[name]);
  const round = { limit: rounder('limit'), otherMs: rounder('otherMs') };
  const { seen } = evidence;
  // A grid of another period keeps an edge near one of these.
  const anchors =
    structure.period === undefined ? [0] : [seen[seen.length >> 1]!, seen[0]!, seen.at(-1)!].map((one) => one.sentMs);
  const spans = [rounder('spanMs'), Math.round(parameters.spanMs), parameters.spanMs];
  const candidates = [round, {}].flatMap((more) =>
    spans.flatMap((spanMs) =>
      anchors
        .map((anchorMs) => moved(structure, { ...parameters, ...more }, 'spanMs', spanMs, anchorMs))
        .flatMap((one) => phasesNear(structure, one)),
    ),
  );
  const violation = (one: Parameters, most: number) =>
    violationOf({ structure, parameters: one }, evidence, { mostMs: most }).ms;
  const gives = (one: Parameters) => violation(one, mostMs) <= mostMs;
  const given = candidates.find(gives) ?? parameters;
  if (structure.period === undefined) return centred(structure, given, gives);
  // A window that is a little off misses more answers the longer the grid goes on: it must come as near as the best fit.
  const isAsNear = (one: Parameters) => violation(one, violationMs) <= violationMs;
  for (const spanMs of roundIn(pieces, parameters.spanMs)) {
    const one = atSomePhase(structure, { ...parameters, spanMs }, violation, violationMs);
    const round = one === undefined ? undefined : phasesNear(structure, one).find(isAsNear);
    if (round !== undefined) return centred(structure, round, isAsNear);
  }
  return centred(structure, given, gives);
}

const MOST_NEAR = 6;
const MOST_DIGITS = 4;

/** Round numbers of the pieces: those of fewer digits first, and of these the nearest. */
function* roundIn(pieces: readonly Range[], nearMs: number): Generator<number> {
  const mostMs = pieces.at(-1)!.most;
  let scale = 1;
  while (10 * scale <= mostMs) scale *= 10;
  for (let digits = 1; digits <= MOST_DIGITS; digits += 1, scale /= 10)
    for (const step of [scale, scale / 2]) {
      const all = pieces.flatMap(({ least, most }) => {
        const [first, last] = [Math.max(1, Math.ceil(least / step)), Math.floor(most / step)];
        const near = Math.min(last, Math.max(first, Math.round(nearMs / step)));
        const places = Array.from({ length: 2 * MOST_NEAR + 1 }, (_, k) => near + k - MOST_NEAR);
        return places.filter((k) => k >= first && k <= last).map((k) => Number((k * step).toPrecision(12)));
      });
      yield* all.sort((a, b) => Math.abs(a - nearMs) - Math.abs(b - nearMs)).slice(0, MOST_NEAR);
    }
}

/** With the phase in the middle of those that explain the answers, unless it is 0. */
function centred(structure: Structure, found: Parameters, gives: (parameters: Parameters) => boolean): Parameters {
  if (structure.period === undefined || phaseOf(structure, found) === 0) return found;
  const { least, most } = phaseRange(structure, found, gives);
  const middle = withEdgeAt(structure, found, (least + most) / 2);
  const round = withEdgeAt(structure, middle, Math.round(phaseOf(structure, middle)));
  return [round, middle].find(gives) ?? found;
}

/** The phases around that of `found` that explain the answers. */
export function phaseRange(structure: Structure, found: Parameters, gives: (parameters: Parameters) => boolean): Range {
  const period = structure.period!(found);
  const given = { explains: gives, anchors: [0], known: undefined, longestMs: Infinity };
  const byMs = (direction: -1 | 1) =>
    modulo(
      direction * (endOf({ structure, parameters: found }, 'shiftMs', direction, given).shiftMs - found.shiftMs),
      period,
    );
  const phase = phaseOf(structure, found);
  return { least: phase - byMs(1), most: phase + byMs(-1) };
}

function phasesNear(structure: Structure, parameters: Parameters): Parameters[] {
  if (structure.period === undefined) return [parameters];
  const phase = phaseOf(structure, parameters);
  return [...[0, Math.round(phase)].map((ms) => withEdgeAt(structure, parameters, ms)), parameters];
}

export function phaseOf(structure: Structure, parameters: Parameters): number {
  const period = structure.period!(parameters);
  return modulo(-(BASE_MS + parameters.shiftMs), period);
}

/** Since the clock began, a little more of each period adds up: unless the period is known so well, the grid may have any phase. */
export function anyPhase(
  period: number,
  edges: Range,
  spanMs: Range,
  { seen }: Evidence,
): Range & { readonly pieces?: readonly Range[] } {
  const driftMs = ((spanMs.most - spanMs.least) / spanMs.most) * seen.at(-1)!.sentMs;
  const { least, most } = widened(edges, driftMs, -Infinity);
  if (most - least >= period) return { least: 0, most: period };
  if (least >= 0 && most <= period) return { least, most };
  const pieces = [
    { least: 0, most: modulo(most, period) },
    { least: modulo(least, period), most: period },
  ];
  return { least: 0, most: period, pieces };
}
