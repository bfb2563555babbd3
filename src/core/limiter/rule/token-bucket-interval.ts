// A token bucket that is refilled at the ticks of a grid.
//
//   tokens  B |\         ____       k = floor((t - grid) / P);  b = min(B, b + k * q);  grid += k * P
//             | \    ___|           ok = b >= n, then b -= n;  q = B is a fixed window on a grid, B > q keeps unused tokens
//             |  \__|               max_wait_ms: also ok if the tick that brings the tokens is near enough
//             0     P    2P    t
//
// Source: juju/ratelimit, Resilience4j, Bucket4j intervally, Spring Cloud Gateway, Upstash token bucket, Symfony, ASP.NET Core.
import { multipleOf, periodsIn } from './periods.js';
import { LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';
import type { TokenBucketParams } from './token-bucket.js';

/** `tick` counts from `fromMs` (-1: no grid yet). `base`: tokens at `baseTick` minus those taken since. */
interface IntervalBucketState {
  fromMs: number;
  tick: number;
  base: number;
  baseTick: number;
  goneMs: number;
}

const ROUNDING = 1e-9;

function withoutRounding(tokens: number): number {
  const whole = Math.round(tokens);
  return Math.abs(tokens - whole) < ROUNDING ? whole : tokens;
}

/** The ticks of a bucket, and the tokens that they bring. */
function fillingOf(params: TokenBucketParams) {
  const { rate, per_ms: per, capacity, initial = capacity, align = 'construction', phase_ms: phase = 0 } = params;
  const { stale_tick_when_full: stale = false, forget_when_full: forgets = false } = params;
  const begin = (madeMs: number): Pick<IntervalBucketState, 'fromMs' | 'tick'> => {
    if (align === 'first') return { fromMs: -1, tick: 0 };
    if (align === 'construction') return { fromMs: madeMs + phase, tick: 0 };
    return { fromMs: phase, tick: periodsIn(madeMs - phase, per) };
  };
  const isGone = ({ goneMs }: IntervalBucketState, t: number) => (forgets ? t > goneMs : t >= goneMs);
  const isNew = (state: IntervalBucketState, t: number) => state.fromMs < 0 || (align === 'first' && isGone(state, t));

  const ticksFor = (tokens: number) => Math.ceil(withoutRounding(tokens / rate));
  const tickAt = (state: IntervalBucketState, t: number) => periodsIn(t - state.fromMs, per);
  const gridAt = (state: IntervalBucketState, t: number, later = 0) =>
    isNew(state, t) ? t + multipleOf(per, later) : state.fromMs + multipleOf(per, tickAt(state, t) + later);
  const tokensAt = ({ base, baseTick }: IntervalBucketState, tick: number) =>
    withoutRounding(base + (tick - baseTick) * rate);
  const isFullAtLast = (state: IntervalBucketState) => tokensAt(state, state.tick) >= capacity;
  const level = (state: IntervalBucketState, t: number) => {
    if (isNew(state, t)) return initial;
    if (isGone(state, t)) return capacity;
    if (stale && isFullAtLast(state)) return tokensAt(state, state.tick);
    return Math.min(capacity, tokensAt(state, tickAt(state, t)));
  };
  return { begin, isGone, isNew, ticksFor, tickAt, gridAt, tokensAt, isFullAtLast, level };
}

export function intervalBucket(params: TokenBucketParams, grainMs: number): Rule<IntervalBucketState> {
  const { rate, per_ms: per, capacity, initial = capacity, align = 'construction' } = params;
  const { max_wait_ms: maxWait = 0, allow_over_capacity: overCapacity = false } = params;
  const { stale_tick_when_full: stale = false, forget_when_full: forgets = false } = params;
  const ttl = params.state_ttl_from_last_admit_ms;
  const { begin, isGone, isNew, ticksFor, tickAt, gridAt, tokensAt, isFullAtLast, level } = fillingOf(params);
  /** Requests of cost 1 admitted now. With a stale tick, the first one lets the missed ticks refill the bucket. */
  const within = (state: IntervalBucketState, t: number) => {
    const now = level(state, t);
    if (!stale || !isFullAtLast(state) || isNew(state, t) || isGone(state, t)) return now;
    return 1 + Math.min(capacity, now - 1 + (tickAt(state, t) - state.tick) * rate);
  };
  const tooMany = (n: number) => n > capacity && !overCapacity;
  const timeOf = (state: IntervalBucketState, t: number, n: number) => {
    const missing = n - level(state, t);
    return missing <= 0 ? t : gridAt(state, t, ticksFor(missing));
  };
  /** juju does this before it checks the cost: a refused request that finds the bucket full also stops its grid. */
  const bringUpToDate = (state: IntervalBucketState, t: number) => {
    const tokens = level(state, t);
    const wasNew = isNew(state, t);
    const isFixed = wasNew || isGone(state, t) || tokens >= capacity;
    if (wasNew) state.fromMs = t;
    if (wasNew) state.tick = 0;
    else if (!(stale && tokens >= capacity && isFullAtLast(state))) state.tick = tickAt(state, t);
    if (!isFixed) return;
    state.base = tokens;
    state.baseTick = state.tick;
  };
  const forgotten = ({ goneMs }: IntervalBucketState) => (forgets ? goneMs + grainMs : goneMs);

  return {
    fresh(madeMs) {
      const { fromMs, tick } = begin(madeMs);
      return { fromMs, tick, base: initial, baseTick: tick, goneMs: LAST_MS };
    },
    admit(state, t, n) {
      const at = timeOf(state, t, n);
      if (tooMany(n) || at - t > maxWait) {
        if (stale && !isFullAtLast(state) && !isNew(state, t) && !isGone(state, t)) bringUpToDate(state, t);
        return LIMITED;
      }
      bringUpToDate(state, t);
      state.base -= n;
      if (forgets) state.goneMs = t + multipleOf(per, ticksFor(capacity - tokensAt(state, state.tick)));
      else if (ttl !== undefined) state.goneMs = t + ttl;
      return at - t;
    },
    nextAdmission(state, t, n) {
      if (tooMany(n)) return NEVER;
      return Math.max(t, Math.min(timeOf(state, t, n) - maxWait, forgotten(state)));
    },
    nextChange(state, t) {
      const isAllThere = !stale || !isFullAtLast(state) || within(state, t) >= capacity + 1;
      if (level(state, t) >= capacity && maxWait === 0 && isAllThere) return NEVER;
      const inWait = periodsIn(t + maxWait - gridAt(state, t), per);
      const nextTick = Math.min(gridAt(state, t, inWait + 1) - maxWait, gridAt(state, t, 1));
      return forgotten(state) > t ? Math.min(nextTick, forgotten(state)) : nextTick;
    },
    remaining(state, t) {
      const ticks = periodsIn(t + maxWait - gridAt(state, t), per);
      return Math.max(0, Math.floor(within(state, t) + ticks * rate));
    },
    forgettable: (state, t) => !stale && initial === capacity && level(state, t) >= capacity && align !== 'first',
    waits: (state, t, n) => ({
      window_end: gridAt(state, t, 1) - t,
      whole_tokens: timeOf(state, t, n) - t,
      whole_intervals: multipleOf(per, Math.max(0, ticksFor(n - level(state, t)))),
    }),
  };
}
