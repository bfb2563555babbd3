// A token bucket that is refilled at the ticks of a grid.
//
//   tokens  B |\         ____       k = floor((t - grid) / P);  b = min(B, b + k * q);  grid += k * P
//             | \    ___|           ok = b >= n, then b -= n;  q = B is a fixed window on a grid, B > q keeps what was not used
//             |  \__|               max_wait_ms: also ok if the tick that brings the tokens is near enough
//             0     P    2P    t
//
// Source: juju/ratelimit, Resilience4j, Bucket4j intervally, Spring Cloud Gateway, Upstash token bucket, Symfony, ASP.NET Core.
import { LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';
import type { TokenBucketParams } from './token-bucket.js';

/** `gridMs` is the last tick that was seen, -1 before the first request where that begins the grid. */
interface State {
  tokens: number;
  gridMs: number;
  goneMs: number;
}

export function intervalBucket(params: TokenBucketParams, grainMs: number): Rule<State> {
  const { rate, per_ms: per, capacity, initial = capacity, align = 'construction', phase_ms: phase = 0 } = params;
  const { max_wait_ms: maxWait = 0, allow_over_capacity: overCapacity = false } = params;
  const { stale_tick_when_full: stale = false, forget_when_full: forgets = false } = params;
  const ttl = params.state_ttl_from_last_admit_ms;
  const begin = (madeMs: number) =>
    align === 'epoch' ? Math.floor((madeMs - phase) / per) * per + phase : align === 'first' ? -1 : madeMs + phase;
  const isGone = ({ goneMs }: State, t: number) => (forgets ? t > goneMs : t >= goneMs);
  const isNew = (state: State, t: number) => state.gridMs < 0 || (align === 'first' && isGone(state, t));

  /** The tick before `t`. */
  const gridAt = (state: State, t: number) =>
    isNew(state, t) ? t : state.gridMs + Math.floor((t - state.gridMs) / per) * per;
  const level = (state: State, t: number) => {
    if (isNew(state, t)) return initial;
    if (isGone(state, t)) return capacity;
    if (stale && state.tokens >= capacity) return state.tokens;
    return Math.min(capacity, state.tokens + Math.floor((t - state.gridMs) / per) * rate);
  };
  /** What requests of cost 1 can take now. A stale tick is read after the first of them: the ticks since then fill the bucket again. */
  const within = (state: State, t: number) => {
    const now = level(state, t);
    if (!stale || state.tokens < capacity || isNew(state, t) || isGone(state, t)) return now;
    return 1 + Math.min(capacity, now - 1 + Math.floor((t - state.gridMs) / per) * rate);
  };
  const tooMany = (n: number) => n > capacity && !overCapacity;
  /** When `n` are there. */
  const timeOf = (state: State, t: number, n: number) => {
    const missing = n - level(state, t);
    return missing <= 0 ? t : gridAt(state, t) + Math.ceil(missing / rate) * per;
  };
  /** juju does so before it looks at the cost: the grid of a bucket that a refused request finds full stands still from there. */
  const bringUpToDate = (state: State, t: number) => {
    const tokens = level(state, t);
    state.gridMs = gridAt(state, t);
    state.tokens = tokens;
  };
  const forgotten = ({ goneMs }: State) => (forgets ? goneMs + grainMs : goneMs);

  return {
    fresh: (madeMs) => ({ tokens: initial, gridMs: begin(madeMs), goneMs: LAST_MS }),
    decide(state, t, n) {
      const at = timeOf(state, t, n);
      if (tooMany(n) || at - t > maxWait) {
        if (stale && state.tokens < capacity && !isNew(state, t) && !isGone(state, t)) bringUpToDate(state, t);
        return LIMITED;
      }
      const tokens = level(state, t);
      if (!(stale && tokens >= capacity && state.tokens >= capacity)) state.gridMs = gridAt(state, t);
      state.tokens = tokens - n;
      if (forgets) state.goneMs = t + Math.ceil((capacity - state.tokens) / rate) * per;
      else if (ttl !== undefined) state.goneMs = t + ttl;
      return at - t;
    },
    nextAdmission(state, t, n) {
      if (tooMany(n)) return NEVER;
      return Math.max(t, Math.min(timeOf(state, t, n) - maxWait, forgotten(state)));
    },
    nextChange(state, t) {
      if (level(state, t) >= capacity && maxWait === 0 && (!stale || within(state, t) >= capacity + 1)) return NEVER;
      const grid = gridAt(state, t);
      const nextTick = Math.min(grid + (Math.floor((t + maxWait - grid) / per) + 1) * per - maxWait, grid + per);
      return forgotten(state) > t ? Math.min(nextTick, forgotten(state)) : nextTick;
    },
    remaining(state, t) {
      const ticks = Math.floor((t + maxWait - gridAt(state, t)) / per);
      return Math.max(0, Math.floor(within(state, t) + ticks * rate));
    },
    forgettable: (state, t) => !stale && initial === capacity && level(state, t) >= capacity && align !== 'first',
    waits: {
      wholeTokens: (state, t, n) => timeOf(state, t, n) - t,
      wholeIntervals: (state, t, n) => Math.max(0, Math.ceil((n - level(state, t)) / rate)) * per,
    },
  };
}
