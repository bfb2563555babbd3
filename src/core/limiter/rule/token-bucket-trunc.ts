// A token bucket of whole tokens that loses the fraction of a token whenever one is taken.
//
//   tokens  10 |_             b = min(B, b + trunc((t - last) / P * q));  if b >= n: b -= n, last = t;  else last stays
//              | |_  _
//              |   |_|        requests nearer than P / q earn nothing while there are tokens
//              0         t
//
//   block_ms   a refusal for lack of tokens blocks; in the block a request is refused, sets last = t and takes a token if there is one
//
// Source: varnish-modules 0.20, vmod_vsthrottle.c.
import { LIMITED, NEVER, type Rule } from './rule.js';
import type { TokenBucketParams } from './token-bucket.js';

interface State {
  tokens: number;
  atMs: number;
  untilMs: number;
}

export function truncatingBucket(params: TokenBucketParams, grainMs: number): Rule<State> {
  const { rate, per_ms: per, capacity, initial = capacity, block_ms: block = 0 } = params;
  const level = (state: State, t: number) =>
    Math.min(capacity, state.tokens + Math.trunc(((t - state.atMs) / per) * rate));
  const timeOf = (state: State, t: number, n: number) => {
    const missing = n - state.tokens;
    if (level(state, t) >= n) return t;
    let at = state.atMs + Math.ceil((missing * per) / rate / grainMs - 1) * grainMs;
    for (let i = 0; i < 8 && level(state, at) < n; i += 1) at += grainMs;
    return Math.max(t, at);
  };
  return {
    fresh: (madeMs) => ({ tokens: initial, atMs: madeMs, untilMs: -1 }),
    admit(state, t, n) {
      const tokens = level(state, t);
      if (t < state.untilMs) {
        state.tokens = Math.max(0, tokens - 1);
        state.atMs = t;
        return LIMITED;
      }
      if (tokens < n) {
        if (block > 0) state.untilMs = t + block;
        return LIMITED;
      }
      state.tokens = tokens - n;
      state.atMs = t;
      return 0;
    },
    nextAdmission: (state, t, n) => (n > capacity ? NEVER : timeOf(state, Math.max(t, state.untilMs), n)),
    nextChange(state, t) {
      if (t < state.untilMs) return state.untilMs;
      const tokens = level(state, t);
      return tokens >= capacity ? NEVER : timeOf(state, t, tokens + 1);
    },
    remaining: (state, t) => (t < state.untilMs ? 0 : level(state, t)),
    forgettable: (state, t) => initial === capacity && t >= state.untilMs && level(state, t) >= capacity,
  };
}
