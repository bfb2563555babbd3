// For unexplainable answers: the answer that settled it, and a minimal unexplainable set.
//
//   settled      o  o  x | o  x          no order explains the answers up to here; some order explains all before
//   smallest     .  o  x                 however the other requests were counted and answered
//
// Both searches leave answers out: half of them, then a quarter, down to one.
import type { SeenRequest } from './seen-request.js';

export interface Settled {
  readonly last: SeenRequest;
  /** In order of time; minimal as far as the search got. Undefined if there are too many answers. */
  readonly set: readonly SeenRequest[] | undefined;
}

const MOST_ANSWERS = 200;

/** Limits of the search for the set: trials, and nodes of each. Large sets are reduced as far as that allows. */
const MOST_TRIALS = 60;
const NODES_OF_TRIAL = 4_000;

/** @param nearMs sending time of a request near the one whose answer settled it */
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
  let trials = 0;
  for (let size = 2 ** (31 - Math.clz32(set.size)); size >= 1; size /= 2) {
    const members = [...set];
    for (let from = 0; from < members.length && trials < MOST_TRIALS; from += size) {
      const fewer = new Set(set);
      for (const one of members.slice(from, from + size)) fewer.delete(one);
      trials += 1;
      const some = all.map((one) => (fewer.has(one) ? one : { ...one, decision: 'unknown' as const }));
      if (isRefuted(some, NODES_OF_TRIAL)) set = fewer;
    }
  }
  return { last, set: [...set].sort((one, other) => one.sentMs - other.sentMs) };
}
