// Of answers that no counting order explains: when that was settled, and a set of them that is as small as can be and still has none.
//
//   settled      o  o  x | o  x          no order explains what was answered up to here, and some order all that was answered before
//   smallest     .  o  x                 whichever of the others were counted, in their time, and however they were answered
//
// Both are looked for by leaving answers out: half of them, then a quarter, down to one.
import type { SeenRequest } from './seen-request.js';

export interface Settled {
  /** The answer that settled it. */
  readonly last: SeenRequest;
  /** Answers that no order explains, in order of time; without any of them some order does, as far as there was time to look. Undefined where
   * there are too many to look. */
  readonly set: readonly SeenRequest[] | undefined;
}

/** A smaller set is looked for where it was settled by so many answers. */
const MOST_ANSWERS = 200;

/** So often it is asked for the smallest set, each time within so many nodes: large sets are cut down as far as that goes. */
const MOST_ASKED = 60;
const MOST_NODES = 4_000;

/**
 * @param isRefuted whether no order explains some of the answers; it does not for all of them
 * @param nearMs when a request was sent whose answer is about the one that settled it
 */
export function settledOf(
  requests: readonly SeenRequest[],
  isRefuted: (requests: readonly SeenRequest[], mostNodes?: number) => boolean,
  nearMs: number,
): Settled {
  const answered = requests
    .filter(({ decision }) => decision !== 'unknown')
    .sort((one, other) => one.answeredMs - other.answeredMs);
  const upTo = ({ answeredMs }: SeenRequest) =>
    requests
      .filter(({ sentMs }) => sentMs <= answeredMs)
      .map((one) =>
        one.answeredMs <= answeredMs ? one : { ...one, decision: 'unknown' as const, answeredMs: Infinity },
      );
  let [open, settled] = [-1, answered.length - 1];
  // Outwards from about there, farther each time.
  let place = answered.findIndex(({ sentMs }) => sentMs >= nearMs);
  for (let step = 1; place > open && place < settled; step *= 2) {
    const isSettled = isRefuted(upTo(answered[place]!));
    if (isSettled) settled = place;
    else open = place;
    place += isSettled ? -step : step;
  }
  while (settled - open > 1) {
    const middle = (open + settled) >> 1;
    if (isRefuted(upTo(answered[middle]!))) settled = middle;
    else open = middle;
  }
  const last = answered[settled]!;
  const all = upTo(last);
  let set = new Set(all.filter(({ decision }) => decision !== 'unknown'));
  if (set.size > MOST_ANSWERS) return { last, set: undefined };
  let asked = 0;
  for (let size = 2 ** (31 - Math.clz32(set.size)); size >= 1; size /= 2) {
    const parts = [...set];
    for (let from = 0; from < parts.length && asked < MOST_ASKED; from += size) {
      const fewer = new Set(set);
      for (const one of parts.slice(from, from + size)) fewer.delete(one);
      asked += 1;
      const some = all.map((one) => (fewer.has(one) ? one : { ...one, decision: 'unknown' as const }));
      if (isRefuted(some, MOST_NODES)) set = fewer;
    }
  }
  return { last, set: [...set].sort((one, other) => one.sentMs - other.sentMs) };
}
