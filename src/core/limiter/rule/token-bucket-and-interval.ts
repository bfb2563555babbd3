// A token bucket AND a count of the tokens taken in the current interval.
//
//   if t - s >= I:  s = t, taken = 0       at any call, even a refused one; so there is no double burst over an edge
//   ok = n <= L - taken and n <= bucket
//
// Source: limiter 4, RateLimiter.tryRemoveTokens.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { amount, length } from './fields.js';
import { LIMITED, NEVER, type Rule } from './rule.js';
import { type BucketState, continuousBucket } from './token-bucket.js';

export const TokenBucketAndIntervalParams = exact({
  rate: amount('How many tokens come back in per_ms, and may be taken in an interval.', 0.000001),
  per_ms: length('See rate.'),
  capacity: amount('The most tokens there are; there are as many at first.', 0.000001),
  interval_ms: length('Length of the interval in ms.'),
});

export interface BucketAndIntervalState {
  startMs: number;
  taken: number;
  bucket: BucketState;
}

export function bucketAndInterval(params: Static<typeof TokenBucketAndIntervalParams>): Rule<BucketAndIntervalState> {
  const { rate, per_ms, capacity, interval_ms: span } = params;
  const bucket = continuousBucket({ rate, per_ms, capacity, exact_float: true });
  const isOver = (state: BucketAndIntervalState, t: number) => t - state.startMs >= span;
  const left = (state: BucketAndIntervalState, t: number) => rate - (isOver(state, t) ? 0 : state.taken);
  return {
    ...(bucket.hastens && { hastens: true }),
    fresh: (madeMs) => ({ startMs: madeMs, taken: 0, bucket: bucket.fresh(madeMs) }),
    admit(state, t, n) {
      if (n > capacity) return LIMITED;
      if (isOver(state, t)) {
        state.startMs = t;
        state.taken = 0;
      }
      if (n > rate - state.taken || bucket.admit(state.bucket, t, n, 0) === LIMITED) return LIMITED;
      state.taken += n;
      return 0;
    },
    nextAdmission(state, t, n) {
      if (n > rate) return NEVER;
      const inBucket = bucket.nextAdmission(state.bucket, t, n);
      return n <= left(state, t) ? inBucket : Math.max(inBucket, state.startMs + span);
    },
    nextChange(state, t) {
      const inBucket = bucket.nextChange(state.bucket, t);
      return isOver(state, t) || state.taken === 0 ? inBucket : Math.min(inBucket, state.startMs + span);
    },
    remaining: (state, t) => Math.max(0, Math.floor(Math.min(left(state, t), bucket.remaining(state.bucket, t)))),
    // The interval starts at the first call after its end, which a new state does not know.
    forgettable: () => false,
    waits: (state, t, n) => ({ whole_tokens: bucket.nextAdmission(state.bucket, t, n) - t }),
  };
}
