// Part of a run, from one cycle to another.
import { Failure } from '../../core/schema/failure.js';

/** Cycles from .. to - 1, counted from the start of the run; `to` is Infinity for its end. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Reads a time as cycles. `place` is a JSON pointer, for failures. */
export type ReadTime = (value: number | string, place: string, least?: number) => number;

/** Defaults to the whole run. @throws Failure `invalid_input` at the place of an invalid time, or for an empty interval */
export function parseStretch(
  { from, to }: { readonly from?: number | string | undefined; readonly to?: number | string | undefined },
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
