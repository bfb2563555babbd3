// Weir's own rule: a count over whole cycles (window.ts) in which every request counts. Source: LIMITER.md.
//
//   | 2 | 0 | 5 | 1 |        count = 8; admitted = count <= threshold after the request was counted
//     c-3 c-2 c-1  c         c = floor(t / cycle); the cycle c - within leaves when c begins
//
//   segmented_window   a window of m segments on the grid of a process, without refused requests: each step of W / m
//                      frees what the segment one window ago took. Source: .NET SlidingWindowRateLimiter
import type { Static } from 'typebox';
import { exact, whole } from '../../schema/fields.js';
import { add, advance, eventsAt, fallsIn, cycleAt as presentOf, type Ring, ringOf } from '../window.js';
import { count, length, limit, windowMs } from './fields.js';
import { multipleOf, periodsIn } from './periods.js';
import { GRAIN_MS, LIMITED, NEVER, type Rule } from './rule.js';

export const RollingCountParams = exact({
  'threshold?': count('Requests that a window may hold. Default: 100.'),
  'within?': whole(1, 100_000, 'Length of the window in cycles. Default: 60.'),
  'cycle_ms?': length('Length of a cycle in ms. Default: 777.'),
});

export function rollingCount({
  threshold = 100,
  within = 60,
  cycle_ms = 777,
}: Static<typeof RollingCountParams>): Rule<State> {
  return cycleWindow({ limit: threshold, within, cycleMs: cycle_ms, countsRefused: true, fromMade: false });
}

export const SegmentedWindowParams = exact({
  limit,
  window_ms: windowMs,
  segments: whole(1, 10_000, 'How many segments the window is cut into.'),
});

export function segmentedWindow({ limit, window_ms, segments }: Static<typeof SegmentedWindowParams>): Rule {
  return cycleWindow({ limit, within: segments, cycleMs: window_ms / segments, countsRefused: false, fromMade: true });
}

interface State {
  originMs: number;
  window: Ring;
}

interface Options {
  readonly limit: number;
  readonly within: number;
  readonly cycleMs: number;
  readonly countsRefused: boolean;
  /** Whether cycles are aligned to the creation of the limiter, or to 1970. */
  readonly fromMade: boolean;
}

function cycleWindow({ limit, within, cycleMs, countsRefused, fromMade }: Options): Rule<State> {
  const cycleAt = ({ originMs }: Pick<State, 'originMs'>, t: number) => periodsIn(t - originMs, cycleMs);
  /** Time that steps back stops. */
  const nowOf = (state: State, t: number) => Math.max(presentOf(state.window), cycleAt(state, t));
  const countAt = (state: State, t: number) => eventsAt(state.window, nowOf(state, t));
  const timeOfAtMost = (state: State, t: number, most: number) => {
    const cycle = fallsIn(state.window, most, nowOf(state, t));
    const ms = state.originMs + multipleOf(cycleMs, cycle);
    // The sum is rounded, and a ms that is too early by its rounding is of the cycle before.
    return cycleAt(state, ms) < cycle ? ms + GRAIN_MS : ms;
  };
  return {
    additive: true,
    fresh(madeMs) {
      const originMs = fromMade ? madeMs : 0;
      return { originMs, window: ringOf(within, cycleAt({ originMs }, madeMs)) };
    },
    admit(state, t, n) {
      const before = advance(state.window, cycleAt(state, t));
      const ok = before + n <= limit;
      if (ok || countsRefused)
        add(state.window, presentOf(state.window), Math.min(n, Number.MAX_SAFE_INTEGER - before));
      return ok ? 0 : LIMITED;
    },
    charge(state, t, n, sinceMs) {
      advance(state.window, cycleAt(state, t));
      add(state.window, n < 0 ? cycleAt(state, sinceMs) : presentOf(state.window), n);
    },
    nextAdmission(state, t, n) {
      if (n > limit) return NEVER;
      return countAt(state, t) + n <= limit ? t : timeOfAtMost(state, t, limit - n);
    },
    nextChange(state, t) {
      const count = countAt(state, t);
      return count === 0 ? NEVER : timeOfAtMost(state, t, count - 1);
    },
    remaining: (state, t) => Math.max(0, limit - countAt(state, t)),
    forgettable: (state, t) => countAt(state, t) === 0,
  };
}
