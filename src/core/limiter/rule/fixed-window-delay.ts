// A fixed window that delays requests.
//
//   fixed_window_delay         d = max(0, count - free) * step                       nothing is refused
//   fixed_window_exec_evenly   d = ceil(msLeft / (pointsLeft + 2)), at least count * ceil(W / L) from the second request on
//
//   delay  |        /|           free = 3: three at once, then one step more for each
//          |      /  |
//          |____/    |____
//          0         W    t
//
// Source: express-slow-down 3, rate-limiter-flexible 11 with execEvenly.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { blockMs, count, limit, resetEdge, wait, windowMs } from './fields.js';
import { type FixedWindowState, fixedWindow } from './fixed-window.js';
import { LIMITED, type Rule } from './rule.js';

export const FixedWindowDelayParams = exact({
  free: count('How many requests of a window are not held.', 0),
  step_ms: wait('How much longer each further request is held, in ms.'),
  window_ms: windowMs,
  'align?': Type.Literal('first', { description: 'A window begins at the first request.' }),
  'edge?': resetEdge,
});

export const ExecEvenlyParams = exact({ limit, window_ms: windowMs, 'edge?': resetEdge, 'block_ms?': blockMs });

export function fixedWindowDelay(
  { free, step_ms, ...window }: Static<typeof FixedWindowDelayParams>,
  grainMs: number,
): Rule<FixedWindowState> {
  const most = Number.MAX_SAFE_INTEGER;
  const { additive: _, ...counted } = fixedWindow({ ...window, limit: most }, grainMs);
  return {
    ...counted,
    admit(state, t, n, holdMs) {
      counted.admit(state, t, n, holdMs);
      return Math.max(0, most - counted.remaining(state, t) - free) * step_ms;
    },
    nextAdmission: (_, t) => t,
    remaining: () => Number.POSITIVE_INFINITY,
  };
}

export function execEvenly(params: Static<typeof ExecEvenlyParams>, grainMs: number): Rule<FixedWindowState> {
  const { limit: most, window_ms } = params;
  const { additive: _, ...window } = fixedWindow({ ...params, count_refused: true }, grainMs);
  const least = Math.ceil(window_ms / most);
  return {
    ...window,
    admit(state, t, n, holdMs) {
      if (window.admit(state, t, n, holdMs) === LIMITED) return LIMITED;
      const left = window.remaining(state, t);
      const taken = most - left;
      if (taken <= n) return 0;
      const delay = Math.ceil((state.endMs - t) / (left + 2));
      return delay < least ? taken * least : delay;
    },
  };
}
