// One interface for windows, buckets, queues and limits on concurrency.
//
//   (state, request) -> [state, decision]        request = time in ms, cost n, time in flight
//
//   admit          0 admitted at once | d > 0 admitted, held d ms | LIMITED
//   nextAdmission  the earliest time at which a request of cost n would be admitted, if nothing else arrives
//   nextChange     the earliest time after now at which `remaining` may change, if nothing arrives
//
// A state is plain data (numbers, arrays, typed arrays): it can be copied, stored and sent. `admit` changes it in place, because a new
// object for every request costs half of the speed.
//
// Every rule guarantees:
//   - A clock that steps back stops: a request is decided at the latest time seen (except nginx: see there).
//   - A refused request of cost n changes no state, unless the rule says that refused requests count.
//   - Counts saturate at 2^53 - 1, and are never negative. A cost is an integer from 1 to 2^53 - 1. A rule with `charge` also takes 0: it
//     is admitted unless the limit is exceeded.
//   - Times are ms since any epoch, from 0 to 2^53.

export const LIMITED = -1;

export const NEVER = Number.POSITIVE_INFINITY;

/** Closer instants are the same. Two steps of a double near 2^41 ms, where Unix times lie. */
export const GRAIN_MS = 2 ** -11;

export const LAST_MS = 2 ** 53;

export interface Rule<State = unknown> {
  /** One state serves all keys: a queue for one server. */
  readonly shared?: true;
  /** The rule defines the resolution of its clock, and the effect of a step back. */
  readonly ownClock?: true;
  /** A refused request may bring the next admission forward. Without this flag it can only postpone it. */
  readonly hastens?: true;
  /** `n` requests of cost 1 at one instant, all admitted at once, leave the state that one of cost `n` does. */
  readonly additive?: true;
  fresh(madeMs: number): State;
  /** @param holdMs time in flight after the start; Infinity: until `release` @returns the delay in ms, or LIMITED */
  admit(state: State, tMs: number, n: number, holdMs: number): number;
  /** Ends a request admitted with an infinite `holdMs`. For limits on concurrency without a queue. */
  release?(state: State, tMs: number, heldMs: number): void;
  /** Corrects a charge, regardless of the limit. @param n integer; negative: a refund @param sinceMs of the charge */
  charge?(state: State, tMs: number, n: number, sinceMs: number): void;
  /** At `tMs` or later; NEVER if a request of cost `n` would never be admitted. */
  nextAdmission(state: State, tMs: number, n: number): number;
  /** After `tMs`; NEVER if `remaining` does not change without requests. */
  nextChange(state: State, tMs: number): number;
  /** Requests of cost 1 that would be admitted now, with or without a delay. */
  remaining(state: State, tMs: number): number;
  /** Whether a fresh state decides the same from now on. */
  forgettable(state: State, tMs: number): boolean;
  /** What products announce beside the true wait, after a refused request of cost `n`. */
  waits?(state: State, tMs: number, n: number): Waits;
}

/** In ms. */
export interface Waits {
  readonly window_end?: number;
  /** Until the newest request of a log leaves. */
  readonly newest_leaves?: number;
  /** Time until enough tokens are available, ignoring the maximum wait, in ms. */
  readonly whole_tokens?: number;
  /** Intervals of a grid that bring the tokens, counted from now rather than from the last tick. */
  readonly whole_intervals?: number;
  /** W * 2^(count - limit - 1). */
  readonly backoff?: number;
}

/** Of requests at these instants, from a fresh state on: delays, or LIMITED. */
export function delaysOf(rule: Rule, madeMs: number, atMs: readonly number[], holdMs = 0): number[] {
  const state = rule.fresh(madeMs);
  return atMs.map((ms) => rule.admit(state, ms, 1, holdMs));
}

/** A deep copy. For plain data this is several times faster than `structuredClone`. */
export function copyOf<T>(state: T): T {
  if (typeof state !== 'object' || state === null) return state;
  if (ArrayBuffer.isView(state)) return (state as unknown as Float64Array).slice() as T;
  const next = (Array.isArray(state) ? state.slice() : { ...state }) as Record<string, unknown>;
  for (const name in next) if (typeof next[name] === 'object') next[name] = copyOf(next[name]);
  return next as T;
}

/** Bisection for the first `from + k * grainMs` at which the monotonic `holds` is true. @param near an estimate */
export function firstTime(
  from: number,
  to: number,
  grainMs: number,
  holds: (tMs: number) => boolean,
  near = Number.NaN,
): number {
  if (holds(from)) return from;
  let [low, high] = [0, Math.ceil((to - from) / grainMs)];
  if (!holds(from + high * grainMs)) return NEVER;
  let next = Math.round((near - from) / grainMs);
  for (let by = 1; high - low > 1; by *= 4) {
    const at = next > low && next < high ? next : Math.floor((low + high) / 2);
    if (holds(from + at * grainMs)) high = at;
    else low = at;
    next = high === at ? at - by : at + by;
  }
  return from + high * grainMs;
}

export function cappedSum(before: number, n: number): number {
  return Math.min(before + n, Number.MAX_SAFE_INTEGER);
}
