// A count that restarts with every window.
//
//   count  10 |     ______            ____       over(t):  count = 0, a new window
//             |  __|      |   _______|           count_refused: count += n, ok = count <= L
//             |_|         |__|                   else           ok = count + n <= L, and only then count += n
//             0           W  t                   a window opens at the first request (align first), or at multiples of W
//
// Source: OTHER-LIMITERS section 1, express-rate-limit 8, @fastify/rate-limit 11, rate-limiter-flexible 11, koa-ratelimit 6.
import type { Static } from 'typebox';
import { exact, real, text, whole } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { blockMs, blockToEnd, countRefused, flag, limit, phaseMs, resetEdge, wait, windowMs } from './fields.js';
import { multipleOf, periodsIn } from './periods.js';
import { cappedSum, LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';

export const FixedWindowParams = exact({
  limit,
  window_ms: windowMs,
  'align?': Type.Enum(['first', 'epoch', 'construction'], {
    description:
      'Where windows begin: at the first request, at multiples since 1970, at the start of the process. Default: first.',
  }),
  'phase_ms?': phaseMs,
  'edge?': resetEdge,
  'count_refused?': countRefused,
  'refused_restart_window?': flag('A refused request starts the window again, with the count as it is.'),
  'every_hit_restarts_window?': flag('Every request moves the end of the window to one window from now.'),
  'refused_backoff?': real(
    1,
    10,
    'A refused request moves the end to window * backoff ^ (count - limit - 1) from now.',
  ),
  'block_ms?': blockMs,
  'block_until_window_end?': blockToEnd,
  'local_block_ms?': wait(
    'A refused request blocks the key in this process, in ms; the count does not move in the block.',
  ),
  'refused_rearm?': flag('Each request that is refused in the local block starts it again.'),
  'state_ttl_from_last_admit_ms?': wait('The state is forgotten so long after the last admitted request, in ms.'),
  'ban_status_after?': whole(
    -1,
    1_000_000,
    'From this number of refused requests on, the status is 403; decides nothing.',
  ),
  'announce?': text(1, 100, 'What the product announces as the wait; decides nothing.'),
  'resolution_us?': real(0.001, 1_000_000, 'Step of the clock in microseconds; clock_resolution_ms goes before.'),
});
type Params = Static<typeof FixedWindowParams>;

/** `endMs` is -1 before the first window, or an edge of the process's grid; edges are whole windows after `fromMs`. */
export interface FixedWindowState {
  fromMs: number;
  endMs: number;
  count: number;
  admittedMs: number;
}

export function fixedWindow(
  params: Omit<Params, 'limit'> & { limit: number },
  grainMs: number,
): Rule<FixedWindowState> {
  const { limit: most, window_ms: span, align = 'first', phase_ms: phase = 0 } = params;
  const { refused_restart_window: restart = false, every_hit_restarts_window: elastic = false } = params;
  const { count_refused: countsRefused = false, refused_backoff: backoff, block_ms: block = 0 } = params;
  const atEnd = (params.edge ?? 'reset_at_end') === 'reset_at_end';
  const ttl = params.state_ttl_from_last_admit_ms ?? NEVER;

  const isOver = (state: FixedWindowState, t: number) =>
    (atEnd ? t >= state.endMs : t > state.endMs) || t >= state.admittedMs + ttl;
  const overAt = (state: FixedWindowState) =>
    Math.min(atEnd ? state.endMs : state.endMs + grainMs, state.admittedMs + ttl);
  const endFrom = ({ fromMs }: FixedWindowState, t: number) => {
    if (align === 'first') return t + span;
    const windows = periodsIn(t - fromMs, span);
    const isEdge = fromMs + multipleOf(span, windows) === t;
    return fromMs + multipleOf(span, atEnd || !isEdge ? windows + 1 : windows);
  };
  /** An end that is not on the grid; the grid of a process continues from it. */
  const endAt = (state: FixedWindowState, ms: number) => {
    state.endMs = ms;
    if (align === 'construction') state.fromMs = ms;
  };
  const countAt = (state: FixedWindowState, t: number) => (isOver(state, t) ? 0 : state.count);

  return {
    additive: true,
    // The block begins with the first refusal, and may end before the window would.
    ...(block > 0 && { hastens: true }),
    fresh(madeMs) {
      const fromMs = align === 'construction' ? madeMs + phase : phase;
      return { fromMs, endMs: align === 'construction' ? fromMs : -1, count: 0, admittedMs: 0 };
    },
    admit(state, t, n) {
      const over = isOver(state, t);
      const before = over ? 0 : state.count;
      const after = before + n;
      const ok = after <= most;
      if (!ok && !countsRefused) return LIMITED;
      if (over) state.endMs = endFrom(state, t);
      state.count = cappedSum(before, n);
      if (ok) {
        state.admittedMs = t;
        if (elastic) endAt(state, t + span);
        return 0;
      }
      if (elastic || restart) endAt(state, t + span);
      else if (backoff !== undefined) endAt(state, Math.min(t + span * backoff ** (state.count - most - 1), LAST_MS));
      else if (block > 0 && before <= most) endAt(state, t + block);
      return LIMITED;
    },
    charge(state, t, n, sinceMs) {
      const over = isOver(state, t);
      if (n < 0 && (over || sinceMs < state.endMs - span)) return;
      if (over) state.endMs = endFrom(state, t);
      state.count = cappedSum(over ? 0 : state.count, n);
    },
    nextAdmission(state, t, n) {
      if (n > most) return NEVER;
      return countAt(state, t) + n <= most ? t : Math.max(t, overAt(state));
    },
    nextChange: (state, t) => (countAt(state, t) > 0 ? overAt(state) : NEVER),
    remaining: (state, t) => Math.max(0, most - countAt(state, t)),
    forgettable: isOver,
    waits: (state, t) => ({
      window_end: (isOver(state, t) ? endFrom(state, t) : state.endMs) - t,
      backoff: Math.min(span * 2 ** Math.max(0, state.count - most - 1), LAST_MS),
    }),
  };
}
