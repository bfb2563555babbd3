// Limits of a bucket that can have given the answers, each with the time of a token. Pure.
//
//   taken     ╱|         ╱|      x     one more for each admitted request, one less for each token that returns
//           ╱| | ╲     ╱| |   ╱|       admitted: the limit is at least the number taken after the request
//          |      ╲___|      |         limited:  the limit is less than the number taken would be
import { sampleEvenly } from '../../core/math/sample-evenly.js';
import type { Evidence } from './evidence.js';
import { PROMPT_MS } from './violation.js';

export interface Bucket {
  readonly limit: number;
  readonly tokenMs: number;
}

/** Step of the time of a token, as a share of it: changes the number taken by this share of a request. */
const STEP = 0.2;
const LARGEST_STEP = 0.05;
/** Error of the number taken, in requests, beside that of the instants. */
const SLACK = 0.3;
const MOST_LIMITS = 3;
const MOST_BUCKETS = 90;

/** @param leastMs shortest time of a token @param mostMs longest time of a token */
export function bucketsWithin(evidence: Evidence, leastMs: number, mostMs: number): Bucket[] {
  const keys = evidence.keys.map(({ admitted, limited }) =>
    [
      ...[...admitted.first].map((ms) => ({ ms, isAdmitted: true })),
      ...[...limited.last].map((ms) => ({ ms, isAdmitted: false })),
    ].sort((a, b) => a.ms - b.ms),
  );
  const found: Bucket[] = [];
  let [least, most] = [1, Infinity];
  for (let tokenMs = leastMs; tokenMs < mostMs; tokenMs *= 1 + Math.min(LARGEST_STEP, STEP / least)) {
    [least, most] = [1, Infinity];
    for (const requests of keys) {
      let [taken, atMs] = [0, -Infinity];
      for (const { ms, isAdmitted } of requests) {
        taken = Math.max(0, taken - (ms - atMs) / tokenMs);
        atMs = ms;
        if (!isAdmitted) most = Math.min(most, taken + 1);
        else {
          taken += 1;
          least = Math.max(least, taken);
        }
      }
    }
    const slack = SLACK + Math.min(evidence.widestMs, PROMPT_MS) / tokenMs;
    const [from, to] = [Math.max(1, Math.ceil(least - slack)), Math.min(1e6, Math.floor(most + slack))];
    const step = Math.max(1, (to - from) / (MOST_LIMITS - 1));
    for (let limit = from; limit <= to; limit += step) found.push({ limit: Math.round(limit), tokenMs });
  }
  return sampleEvenly(found, MOST_BUCKETS);
}
