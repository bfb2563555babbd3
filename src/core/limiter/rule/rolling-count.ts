// Weir's own rule: a count over whole cycles (window.ts) in which every request counts. Source: LIMITER.md.
//
//   | 2 | 0 | 5 | 1 |        count = 8; admitted = count <= threshold after the request was counted
//     c-3 c-2 c-1  c         c = floor(t / cycle); the cycle c - within leaves when c begins
//
//   segmented_window   a window of m segments on the grid of a process, without refused requests: each step of W / m
//                      frees what the segment one window ago took. Source: .NET SlidingWindowRateLimiter
import type { Static } from 'typebox';
import { Type } from '../../schema/json-schema.js';
import { addAt, addTo, advanceTo, cycleAt as cycleIn, ownCells, WindowRing, whileFewerLeave } from '../window.js';
import { count, length, limit, strict, windowMs } from './fields.js';
import { multipleOf, periodsIn } from './periods.js';
import { copyOf, LIMITED, NEVER, type Rule } from './rule.js';

export const RollingCountParams = Type.Object(
  {
    threshold: Type.Optional(count('Requests that a window may hold. Default: 100.')),
    within: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Length of the window in cycles. Default: 60.' }),
    ),
    cycle_ms: Type.Optional(length('Length of a cycle in ms. Default: 777.')),
  },
  strict,
);

export function rollingCount({
  threshold = 100,
  within = 60,
  cycle_ms = 777,
}: Static<typeof RollingCountParams>): Rule<State> {
  return cycleWindow({ limit: threshold, within, cycleMs: cycle_ms, countsRefused: true, fromMade: false });
}

export const SegmentedWindowParams = Type.Object(
  {
    limit,
    window_ms: windowMs,
    segments: Type.Integer({ minimum: 1, maximum: 10_000, description: 'How many segments the window is cut into.' }),
  },
  strict,
);

export function segmentedWindow({ limit, window_ms, segments }: Static<typeof SegmentedWindowParams>): Rule {
  return cycleWindow({ limit, within: segments, cycleMs: window_ms / segments, countsRefused: false, fromMade: true });
}

interface State {
  originMs: number;
  window: WindowRing;
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
  const cycleOf = (originMs: number, t: number) => periodsIn(t - originMs, cycleMs);
  const cycleAt = ({ originMs }: State, t: number) => cycleOf(originMs, t);
  /** To be read only: a copy where time has passed. */
  const windowAt = (state: State, t: number) => {
    const cycle = cycleAt(state, t);
    if (cycle <= cycleIn(state.window.offset)) return state.window;
    const later = copyOf(state.window);
    advanceTo(later, cycle);
    return later;
  };
  const timeOfAtMost = ({ originMs }: State, window: WindowRing, most: number) => {
    const [after] = whileFewerLeave(window, window.inWindow - most, 0, within - 1);
    return originMs + multipleOf(cycleMs, cycleIn(window.offset) + after + 1);
  };
  return {
    additive: true,
    fresh(madeMs) {
      const originMs = fromMade ? madeMs : 0;
      return { originMs, window: new WindowRing(within, cycleOf(originMs, madeMs), ownCells(within)) };
    },
    decide(state, t, n) {
      const before = advanceTo(state.window, cycleAt(state, t));
      const ok = before + n <= limit;
      if (ok || countsRefused) addTo(state.window, Math.min(n, Number.MAX_SAFE_INTEGER - before));
      return ok ? 0 : LIMITED;
    },
    charge(state, t, n, sinceMs) {
      advanceTo(state.window, cycleAt(state, t));
      addAt(state.window, n < 0 ? cycleAt(state, sinceMs) : cycleIn(state.window.offset), n);
    },
    nextAdmission(state, t, n) {
      if (n > limit) return NEVER;
      const window = windowAt(state, t);
      return window.inWindow + n <= limit ? t : timeOfAtMost(state, window, limit - n);
    },
    nextChange(state, t) {
      const window = windowAt(state, t);
      return window.inWindow === 0 ? NEVER : timeOfAtMost(state, window, window.inWindow - 1);
    },
    remaining: (state, t) => Math.max(0, limit - windowAt(state, t).inWindow),
    forgettable: (state, t) => windowAt(state, t).inWindow === 0,
  };
}
