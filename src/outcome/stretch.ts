// A stretch of a run: from one cycle up to another.
import { Failure } from '../schema/failure.js';

/** A stretch of a run, in cycles from its start; `to` no longer belongs to it, and is Infinity for the end of the run. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Turns the text of a time into cycles; `place` is a JSON pointer, for failures. */
export type ReadTime = (value: number | string, place: string, least?: number) => number;

/**
 * The stretch that two texts describe; without `from` from the start, without `to` up to the end of the run.
 * @throws Failure `invalid_input` at the place of a time that cannot be read, or when no cycle lies between
 */
export function parseStretch(
  { from, to }: { readonly from?: number | string; readonly to?: number | string },
  place: string,
  time: ReadTime,
): Stretch {
  const at = {
    from: time(from ?? 0, `${place}/from`),
    to: to === undefined ? Number.POSITIVE_INFINITY : time(to, `${place}/to`),
  };
  if (at.to > at.from) return at;
  throw new Failure('invalid_input', {
    what: 'The stretch has no cycle.',
    faults: [{ path: `${place}/to`, message: `must lie after from, which is cycle ${at.from}` }],
  });
}
