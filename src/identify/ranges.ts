// How far one parameter of an explanation can be moved so that it still explains the answers. Pure.
import { moved } from './moves.js';
import type { Hypothesis, Name, Parameters } from './structure.js';

interface Given {
  readonly explains: (parameters: Parameters) => boolean;
  /** Where an edge of a grid may be held while its period is changed, in ms. */
  readonly anchors: readonly number[];
  /** The end that was found with fewer answers: it only comes nearer. */
  readonly known: number | undefined;
  /** No span is longer, in ms. */
  readonly longestMs: number;
  readonly toleranceMs: number;
}

const MOST_DOUBLINGS = 20;
const HALVINGS = 6;

/** The parameters at one end of the range of `name`, the others as they are or along with the grid. */
export function endOf(
  { structure, parameters: best }: Hypothesis,
  name: Name,
  direction: -1 | 1,
  { explains, anchors, known, longestMs, toleranceMs }: Given,
): Parameters {
  let inside = best;
  const isInteger = name === 'limit';
  const period = structure.period?.(best) ?? best.spanMs;
  const at = (value: number): Parameters | undefined =>
    anchors.map((anchorMs) => moved(structure, inside, name, value, anchorMs)).find(explains);
  let outside: number | undefined;
  // What was outside stays so: ranges only become narrower.
  if (known !== undefined && !isInteger && direction * (known - best[name]) > 0) {
    const found = at(known);
    if (found !== undefined) return found;
    outside = known;
  } else {
    let by = isInteger
      ? 1
      : name === 'shiftMs'
        ? Math.max(toleranceMs / 4, period * 1e-4)
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
