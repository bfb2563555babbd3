// Tokens that return at a rate, up to a capacity.
//
//   tokens  B |\        ______      continuous      b = min(B, b + (t - last) * r); ok = b >= n, then b -= n
//             | \   /\ /            interval        k = floor((t - grid) / P); b = min(B, b + k * q): token-bucket-interval.ts
//             |  \_/  v             interval_trunc  whole tokens, fractions are lost: token-bucket-trunc.ts
//             0            t
//
//   max_wait_ms   also ok if (n - b) / r <= max_wait: b becomes negative, and the request is held for that long
//
// Source: golang.org/x/time/rate, Traefik, limiter 4 (TokenBucket), @convex-dev/rate-limiter, Bucket4j greedy, Envoy since 1.31.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { amount, blockMs, blockToEnd, flag, length, phaseMs, wait } from './fields.js';
import { GRAIN_MS, LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';

export const TokenBucketParams = exact({
  rate: amount('How many tokens come back in per_ms.', 0.000001),
  per_ms: length('See rate; for interval refill, the length of the interval.'),
  capacity: amount('The most tokens there are.', 0.000001),
  'initial?': amount('Tokens at first. Default: the capacity.'),
  'refill?': Type.Enum(['continuous', 'interval', 'interval_trunc'], {
    description: 'How tokens come back. Default: continuous.',
  }),
  'align?': Type.Enum(['first', 'epoch', 'construction'], {
    description:
      'Where intervals begin: at the first request, at multiples since 1970, at the start of the process. Default: construction.',
  }),
  'phase_ms?': phaseMs,
  'max_wait_ms?': wait('A request is held rather than refused up to so long, in ms. Default: 0.'),
  'allow_over_capacity?': flag('A cost above the capacity may wait for its tokens.'),
  'exact_float?': flag('Tokens are compared as the doubles that they are, without a grain of the clock.'),
  'stale_tick_when_full?': flag(
    'While full the grid stands still, so that the first token taken is given back at once.',
  ),
  'block_ms?': blockMs,
  'block_until_window_end?': blockToEnd,
  'forget_when_full?': flag(
    'The state is forgotten when the bucket would be full, counted in intervals from the last admitted request.',
  ),
  'state_ttl_from_last_admit_ms?': wait('The state is forgotten so long after the last admitted request, in ms.'),
});
export type TokenBucketParams = Static<typeof TokenBucketParams>;

/** Upper bound of the rounding error of a time, in grains; beyond 2^41 ms a grain no longer moves it. */
const MOST_GRAINS = 8;

/** `tokens` counts `per_ms` parts of a token: whole ms restore a whole number of parts, without rounding. */
export interface BucketState {
  tokens: number;
  atMs: number;
  goneMs: number;
}

export function continuousBucket(params: TokenBucketParams): Rule<BucketState> {
  const { rate, per_ms: per, capacity, initial = capacity, max_wait_ms: maxWait = 0 } = params;
  const { allow_over_capacity: overCapacity = false, exact_float: exact = false } = params;
  const ttl = params.state_ttl_from_last_admit_ms;
  /** Products that compare doubles count whole tokens, rounding errors included. */
  const parts = exact ? 1 : per;
  const perMs = exact ? rate / per : rate;
  const most = capacity * parts;
  /** Deficits below the clock's resolution count as zero. */
  const grain = exact ? 0 : GRAIN_MS;
  const level = (state: BucketState, t: number) =>
    t >= state.goneMs ? most : Math.min(most, state.tokens + (t - state.atMs) * perMs);
  const waitFor = (tokens: number, n: number) => (n * parts - tokens <= 0 ? 0 : (n * parts - tokens) / perMs);
  const tooMany = (n: number) => n > capacity && !overCapacity;
  const settled = (state: BucketState, ms: number, n: number) => {
    let at = ms;
    for (let i = 0; i < MOST_GRAINS && waitFor(level(state, at), n) > maxWait + grain; i += 1) at += GRAIN_MS;
    return at;
  };
  return {
    // Each refusal stores the tokens rounded, and so moves the next admission by a grain.
    ...(exact && { hastens: true }),
    fresh: (madeMs) => ({ tokens: initial * parts, atMs: madeMs, goneMs: LAST_MS }),
    admit(state, t, n) {
      const tokens = level(state, t);
      const waits = waitFor(tokens, n);
      if (tooMany(n) || waits > maxWait + grain) {
        if (exact && !tooMany(n)) {
          state.tokens = tokens;
          state.atMs = t;
        }
        return LIMITED;
      }
      state.tokens = tokens - n * parts;
      state.atMs = t;
      if (ttl !== undefined) state.goneMs = t + ttl;
      return waits <= grain ? 0 : waits;
    },
    charge(state, t, n) {
      state.tokens = Math.min(most, level(state, t) - n * parts);
      state.atMs = t;
    },
    nextAdmission(state, t, n) {
      if (tooMany(n)) return NEVER;
      const waits = waitFor(level(state, t), n);
      if (waits <= maxWait + grain) return t;
      return Math.min(settled(state, t + waits - maxWait, n), state.goneMs);
    },
    nextChange(state, t) {
      const tokens = level(state, t);
      if (tokens >= most) return NEVER;
      const credit = ((maxWait + grain) * perMs) / parts;
      const next = Math.min(capacity, Math.floor(tokens / parts + credit) + 1 - credit);
      return Math.min(t + Math.max(GRAIN_MS, waitFor(tokens, next)), state.goneMs);
    },
    remaining: (state, t) => Math.max(0, Math.floor((level(state, t) + (maxWait + grain) * perMs) / parts)),
    forgettable: (state, t) => initial === capacity && level(state, t) >= most,
    waits: (state, t, n) => ({ whole_tokens: waitFor(level(state, t), n) }),
  };
}
