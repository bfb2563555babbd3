// Bounds on the length of a window, from the instants of the answers. Pure.
//
//   limit 3     1 2 3   x                       refused: three lie within a window before it, so it is at least this long
//               |<----->|
//   limit 3     1 2 3           4               admitted: the first of the last three has left, so it is at most this long
//               |<------------->|
//
// In cells a request leaves up to a cell early; successive windows may hold a limit at the end of one and at the beginning of the next.
// An estimate remembers two windows and fades from one to the next: in d ms it admits at most limit + limit d / window + 1.
import type { AnswerQueue, Evidence, KeyEvidence } from './evidence.js';
import { isInCells, type Structure } from './structure.js';

export interface Spans {
  readonly leastMs: number;
  readonly mostMs: number;
}

const SLACK_MS = 2;

type Counted = Pick<AnswerQueue, 'first' | 'last'>;

export function windowSpansOf(structure: Structure, limit: number, { keys }: Evidence): Spans | undefined {
  const { window, part = 1 } = structure;
  if (window === undefined) return { leastMs: 0, mostMs: Infinity };
  const early = isInCells(structure) ? part / (part - 1) : 1;
  let [leastMs, mostMs] = [0, Infinity];
  for (const one of keys) {
    const counted = window.isAll === true ? merged(one) : one.admitted;
    const ends = endsOf(one, counted, limit, window);
    leastMs = Math.max(leastMs, ends.leastMs - SLACK_MS);
    mostMs = Math.min(mostMs, early * (ends.mostMs + SLACK_MS));
  }
  return leastMs > mostMs || leastMs === Infinity ? undefined : { leastMs, mostMs };
}

function endsOf(
  { admitted, limited }: KeyEvidence,
  counted: Counted,
  limit: number,
  { isAll, isFixed, isBlocked, isEstimate }: NonNullable<Structure['window']>,
): Spans {
  let [leastMs, mostMs] = [0, Infinity];
  limited.first.forEach((first, j) => {
    if (isBlocked && !isFirst(admitted, limited, j)) return;
    // `limit` requests before it, and itself if refused requests count.
    const place = upTo(counted.first, limited.last[j]!) - limit - (isAll ? 1 : 0);
    leastMs = Math.max(leastMs, place < 0 ? Infinity : (first - counted.last[place]!) / (isEstimate ? 2 : 1));
  });
  if (isEstimate) {
    for (const more of [1, limit]) {
      admitted.last.slice(limit + more).forEach((last, k) => {
        mostMs = Math.min(mostMs, (limit / more) * (last - admitted.first[k]!));
      });
    }
    return { leastMs, mostMs };
  }
  admitted.last.forEach((last, k) => {
    const before = isAll ? upTo(counted.last, admitted.first[k]! - SLACK_MS) : k;
    const place = before - (isFixed ? 2 : 1) * limit;
    if (place < 0) return;
    const from = counted.first[place]!;
    if (isBlocked && upTo(limited.first, last) > upTo(limited.last, from)) return;
    mostMs = Math.min(mostMs, last - from);
  });
  return { leastMs, mostMs };
}

/** Whether an admission certainly lies between the previous refusal and this one, so that no block interferes. */
function isFirst(admitted: AnswerQueue, limited: AnswerQueue, j: number): boolean {
  if (j === 0) return true;
  const before = upTo(admitted.first, limited.last[j - 1]!);
  return before < admitted.first.length && admitted.last[before]! <= limited.first[j]!;
}

function upTo(ascending: Float64Array, ms: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

function merged({ admitted, limited }: KeyEvidence): Counted {
  const both = (one: Float64Array, other: Float64Array) => Float64Array.from([...one, ...other]).sort();
  return { first: both(admitted.first, limited.first), last: both(admitted.last, limited.last) };
}
