// What every rule of a limiter is: one interface for windows, buckets, queues and limits on concurrency.
//
//   (state, request) -> [state, decision]        request = time in ms, cost n, time in flight
//
//   decide         0 admitted at once | d > 0 admitted, held d ms | LIMITED
//   nextAdmission  the earliest time at which a request of cost n would be admitted, if nothing else arrives
//   nextChange     the earliest time after now at which `remaining` may change, if nothing arrives
//
// A state is plain data (numbers, arrays, typed arrays): it can be copied, stored and sent. `decide` changes it in place, because a
// new object for every request costs half of the speed.
//
// Promised by every rule:
//   - A clock that steps back stands still: a request is decided at the latest time that was seen (nginx: see there).
//   - A refused request of cost n changes no state, except where the rule says that refused requests count.
//   - Counts saturate at 2^53 - 1, and are never negative. A cost is an integer from 1 to 2^53 - 1. A rule with `charge` also takes 0: it
//     is admitted unless the limit is exceeded.
//   - Times are ms since any epoch, from 0 to 2^53.

/** Returned by `decide` for a refused request. */
export const LIMITED = -1;

export const NEVER = Number.POSITIVE_INFINITY;

/**
 * The finest step of a clock that counts in continuous time: two steps of a double near 2^41 ms, where Unix times lie. Instants
 * nearer than this are the same instant.
 */
export const GRAIN_MS = 2 ** -11;

/** The latest time. An expiry that lies beyond is cut to it. */
export const LAST_MS = 2 ** 53;

export interface Rule<State = unknown> {
  /** One state serves all keys: a queue for one server. */
  readonly shared?: true;
  /** The rule defines the resolution of its clock, and what a step back means. */
  readonly ownClock?: true;
  /**
   * A refused request may bring the next admission forward: `nextAdmission` is asked anew after each. Without it a refused request
   * leaves that time as it is, or puts it off.
   */
  readonly hastens?: true;
  /** The state of a new key, in a limiter made at `madeMs`. */
  fresh(madeMs: number): State;
  /**
   * Decides a request and charges it.
   * @param n cost, an integer >= 1
   * @param holdMs how long the request is in flight once it starts; only limits on concurrency look at it. Infinity: until `release`,
   *   for a rule that has one
   * @returns the delay in ms, or LIMITED
   */
  decide(state: State, tMs: number, n: number, holdMs: number): number;
  /** A request that was admitted with an infinite `holdMs` is over, after `heldMs`. Limits on concurrency without a queue have it. */
  release?(state: State, tMs: number, heldMs: number): void;
  /**
   * Corrects what an admitted request was charged, whatever the limit says. A rule whose charges can be corrected has it.
   * @param n how much more, an integer; below 0 less: given back as far as the rule still counts it
   * @param sinceMs when the request was charged
   */
  charge?(state: State, tMs: number, n: number, sinceMs: number): void;
  /** The earliest time >= `tMs` at which `decide` would admit a request of cost `n`; NEVER if it would not. */
  nextAdmission(state: State, tMs: number, n: number): number;
  /** The earliest time > `tMs` at which `remaining` may change if nothing arrives; NEVER if it does not. */
  nextChange(state: State, tMs: number): number;
  /** How many requests of cost 1 would be admitted now, with or without a delay; Infinity if all. */
  remaining(state: State, tMs: number): number;
  /** A state as 0.2 kept it, in the present form. Absent where the form is the same. */
  upgrade?(state: object): State;
  /** Whether a fresh state decides the same from now on. */
  forgettable(state: State, tMs: number): boolean;
  /** Waits that products announce instead of the true one. */
  readonly waits?: Waits<State>;
}

/** All in ms from `tMs`, after a request of cost `n` was refused. */
export interface Waits<State> {
  windowEnd?(state: State, tMs: number): number;
  /** Until the newest request of a log leaves. */
  newestLeaves?(state: State, tMs: number): number;
  /** Until the tokens are there, whatever wait the rule allows. */
  wholeTokens?(state: State, tMs: number, n: number): number;
  /** Intervals of a grid that bring the tokens, counted from now rather than from the last tick. */
  wholeIntervals?(state: State, tMs: number, n: number): number;
  /** W * 2^(count - limit - 1). */
  backoff?(state: State, tMs: number): number;
}

/** A state that a rule of 0.2 kept. */
export function upgraded<State>(rule: Rule<State>, state: object): State {
  return rule.upgrade?.(state) ?? (state as State);
}

/** A copy of a state, or of a part of it. It is plain data, and so this is several times faster than `structuredClone`. */
export function copyOf<T>(state: T): T {
  if (typeof state !== 'object' || state === null) return state;
  if (ArrayBuffer.isView(state)) return (state as unknown as Float64Array).slice() as T;
  const next = (Array.isArray(state) ? state.slice() : { ...state }) as Record<string, unknown>;
  for (const name in next) if (typeof next[name] === 'object') next[name] = copyOf(next[name]);
  return next as T;
}

/**
 * The first of `from`, `from + grainMs`, … up to `to` at which `holds`, by bisection; `holds` stays true once it is. NEVER if it does
 * not hold at the last one.
 * @param near about when it is: times about it are tried first
 */
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

export function counted(before: number, n: number): number {
  return Math.min(before + n, Number.MAX_SAFE_INTEGER);
}
