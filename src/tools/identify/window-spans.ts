// Bounds on the length of a window, from the instants of the answers. Pure.
//
//   limit 3     1 2 3   x                       refused: three lie within a window before it, so it is at least this long
//               |<----->|
//   limit 3     1 2 3           4               admitted: the first of the last three has left, so it is at most this long
//               |<------------->|
//
// In cells a request leaves up to a cell early; successive windows may hold a limit at the end of one and at the beginning of the next.
// An estimate remembers two windows and fades from one to the next: in d ms it admits at most limit + limit d / window + 1.
import { firstIndex } from '../../core/math/first-index.js';
import type { Range } from '../../core/math/range.js';
import type { AnswerQueue, Evidence, KeyEvidence } from './evidence.js';
import { isInCells, type Structure } from './structure.js';

export const SLACK_MS = 2;

type Counted = Pick<AnswerQueue, 'first' | 'last'>;

type Window = NonNullable<Structure['window']>;

/** Two instants of one key, in ms: what was counted at the first has left at the second, or still counts. */
export interface Pair {
  readonly fromMs: number;
  readonly toMs: number;
  readonly hasLeft: boolean;
}

export function windowSpansOf(structure: Structure, limit: number, { keys }: Evidence): Range | undefined {
  const { window, part = 1 } = structure;
  if (window === undefined) return { least: 0, most: Infinity };
  const early = isInCells(structure) ? part / (part - 1) : 1;
  let [least, most] = [0, Infinity];
  for (const one of keys) {
    for (const { fromMs, toMs, hasLeft } of pairsOf(one, limit, window)) {
      if (hasLeft) most = Math.min(most, early * (toMs - fromMs + SLACK_MS));
      else least = Math.max(least, (toMs - fromMs) / (window.isEstimate ? 2 : 1) - SLACK_MS);
    }
    if (!window.isEstimate) continue;
    for (const more of [1, limit]) {
      one.admitted.last.slice(limit + more).forEach((last, k) => {
        most = Math.min(most, (limit / more) * (last - one.admitted.first[k]!) + SLACK_MS);
      });
    }
  }
  return least > most || least === Infinity ? undefined : { least, most };
}

/** For windows made of cells, or of one: an edge at which a whole cell leaves lies between the instants of a pair that `hasLeft`. */
export function pairsInCells({ window = {} }: Structure, limit: number, { keys }: Evidence): Pair[] {
  return keys.flatMap((one) => [...pairsOf(one, limit, { ...window, isFixed: undefined })]);
}

function* pairsOf(
  one: KeyEvidence,
  limit: number,
  { isAll, isFixed, isRestarted, isBlocked, isEstimate }: Partial<Record<keyof Window, boolean | undefined>>,
): Generator<Pair> {
  const { admitted, limited } = one;
  if (isRestarted) {
    yield* sinceRefused(one);
    return;
  }
  const counted = isAll === true ? merged(one) : admitted;
  for (const [j, toMs] of limited.first.entries()) {
    if (isBlocked && !isFirst(admitted, limited, j)) continue;
    // `limit` requests before it, and itself if refused requests count.
    const place = upTo(counted.first, limited.last[j]!) - limit - (isAll ? 1 : 0);
    yield { fromMs: place < 0 ? -Infinity : counted.last[place]!, toMs, hasLeft: false };
  }
  for (const [k, toMs] of isEstimate ? [] : admitted.last.entries()) {
    const before = isAll ? upTo(counted.last, admitted.first[k]! - SLACK_MS) : k;
    const place = before - (isFixed ? 2 : 1) * limit;
    if (place < 0) continue;
    const fromMs = counted.first[place]!;
    if (isBlocked && upTo(limited.first, toMs) > upTo(limited.last, fromMs)) continue;
    yield { fromMs, toMs, hasLeft: true };
  }
}

/** Each refused request restarts the window: it lasts until the next refused one, and is over at the next admitted one. */
function* sinceRefused({ admitted, limited }: KeyEvidence): Generator<Pair> {
  for (const [j, toMs] of limited.first.entries()) {
    const isNext = j > 0 && upTo(admitted.first, limited.last[j]!) === upTo(admitted.last, limited.first[j - 1]!);
    if (isNext) yield { fromMs: limited.last[j - 1]!, toMs, hasLeft: false };
  }
  for (const [k, toMs] of admitted.last.entries()) {
    const place = upTo(limited.last, admitted.first[k]!) - 1;
    if (place >= 0) yield { fromMs: limited.first[place]!, toMs, hasLeft: true };
  }
}

/** Whether an admission certainly lies between the previous refusal and this one, so that no block interferes. */
function isFirst(admitted: AnswerQueue, limited: AnswerQueue, j: number): boolean {
  if (j === 0) return true;
  const before = upTo(admitted.first, limited.last[j - 1]!);
  return before < admitted.first.length && admitted.last[before]! <= limited.first[j]!;
}

function upTo(ascending: Float64Array, ms: number): number {
  return firstIndex(ascending.length, (index) => ascending[index]! > ms);
}

function merged({ admitted, limited }: KeyEvidence): Counted {
  const both = (one: Float64Array, other: Float64Array) => Float64Array.from([...one, ...other]).sort();
  return { first: both(admitted.first, limited.first), last: both(admitted.last, limited.last) };
}
