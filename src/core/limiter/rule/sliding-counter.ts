// Two counts: the current window, and the previous one, which fades out.
//
//   prev |######|        est = prev * (1 - f) + cur,  f = (t - s) / W
//   cur         |##   |  ok  = est + n <= L
//        s-W    s  t  s+W
//
// There are six, by how they estimate; the flags of a definition name one of them:
//
//   fractions       est as it is                                        no flag
//   floored         est is rounded down as a whole                      floor_total: Python limits
//   prev_floored    the part of prev is rounded down                    floor_prev
//   upstash         as prev_floored; refused without counting if est >= L, else counted, and refused if that exceeds L
//   haproxy         floor((prev * (ms left) + cur * W) / W) in integers; windows begin at an even ms: even_ms
//   symfony         as floored, times are doubles of seconds, the state is kept whole seconds
//
// Source: OTHER-LIMITERS section 4.2 and 4.7; HAProxy freq_ctr.c, @upstash/ratelimit 2.2, Symfony SlidingWindow.php, Python limits 5.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { blockMs, blockToEnd, countRefused, flag, limit, phaseMs, resetEdge, windowMs } from './fields.js';
import { multipleOf, periodsIn } from './periods.js';
import { cappedSum, firstTime, LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';

export const SlidingCounterParams = exact({
  limit,
  window_ms: windowMs,
  'align?': Type.Enum(['first', 'epoch'], {
    description: 'Windows begin at the first request or at multiples since 1970. Default: first.',
  }),
  'phase_ms?': phaseMs,
  'count_refused?': countRefused,
  'floor_total?': flag('The estimate is rounded down.'),
  'floor_prev?': flag('The part of the window before is rounded down.'),
  'cost_overshoot?': flag(
    'A cost that exceeds is refused, and counted nevertheless unless the limit is reached before.',
  ),
  'block_until_window_end?': blockToEnd,
  'block_ms?': blockMs,
  'even_ms?': flag('Windows begin at even ms, and the estimate is computed in integers.'),
  'edge?': resetEdge,
  'state_ttl_whole_seconds?': flag(
    'The state is kept whole seconds only, rounded down from one window after the end of this one.',
  ),
  'double_seconds?': flag('Times are doubles of seconds.'),
});

/** The window is `turns` windows after `fromMs` (-1 before the first). `goneMs` ends the state. */
interface State {
  fromMs: number;
  turns: number;
  cur: number;
  prev: number;
  goneMs: number;
}

type Params = Static<typeof SlidingCounterParams>;

type Counter = 'fractions' | 'floored' | 'prev_floored' | 'upstash' | 'haproxy' | 'symfony';

/** `faultsWithoutEffect` refuses all other combinations. */
function counterOf({ even_ms, floor_prev, cost_overshoot, double_seconds, floor_total }: Params): Counter {
  if (even_ms === true) return 'haproxy';
  if (floor_prev === true) return cost_overshoot === true ? 'upstash' : 'prev_floored';
  if (double_seconds === true) return 'symfony';
  return floor_total === true ? 'floored' : 'fractions';
}

/** The window at some time. */
interface View {
  fromMs: number;
  turns: number;
  startMs: number;
  cur: number;
  prev: number;
}

type Estimate = (view: View, span: number, t: number) => number;

const prevFloored: Estimate = ({ startMs, prev, cur }, span, t) => Math.floor(prev * (1 - (t - startMs) / span)) + cur;

const inIntegers: Estimate = ({ startMs, prev, cur }, span, t) =>
  Math.floor((prev * Math.max(0, span - (t - startMs))) / span) + cur;

const estimates: Readonly<Record<Counter, Estimate>> = {
  fractions: ({ startMs, prev, cur }, span, t) => prev * (1 - (t - startMs) / span) + cur,
  floored: ({ startMs, prev, cur }, span, t) => Math.floor((prev * (span - (t - startMs))) / span + cur),
  prev_floored: prevFloored,
  upstash: prevFloored,
  haproxy: inIntegers,
  symfony: ({ startMs, prev, cur }, span, t) =>
    Math.floor(prev * (1 - (t / 1000 - startMs / 1000) / (span / 1000)) + cur),
};

/** `look` finds the window at a time without changing the state, for queries, too. */
function windowsOf(params: Params, isEven: boolean) {
  const { window_ms: span, align = 'first', phase_ms: phase = 0, edge = 'reset_at_end' } = params;
  const atEnd = edge === 'reset_at_end';
  const view: View = { fromMs: 0, turns: 0, startMs: 0, cur: 0, prev: 0 };
  const startOf = ({ fromMs, turns }: Pick<State, 'fromMs' | 'turns'>, later = 0) =>
    fromMs + multipleOf(span, turns + later);
  const opened = (t: number) => {
    view.fromMs = align === 'epoch' ? phase : isEven ? t - (t % 2) : t;
    view.turns = align === 'epoch' ? periodsIn(t - phase, span) : 0;
    view.startMs = startOf(view);
    view.cur = 0;
    view.prev = 0;
    return view;
  };
  const look = (state: State, t: number): View => {
    if (state.fromMs < 0 || t >= state.goneMs) return opened(t);
    view.fromMs = state.fromMs;
    view.turns = state.turns;
    view.cur = state.cur;
    view.prev = state.prev;
    view.startMs = startOf(view);
    const endMs = startOf(view, 1);
    if (atEnd ? t < endMs : t <= endMs) return view;
    // Without a grid, windows are adjacent only while requests arrive.
    const turns = align === 'epoch' ? periodsIn(t - state.fromMs, span) : state.turns + 1;
    if (align !== 'epoch' && t >= startOf(view, 2)) return opened(t);
    view.prev = turns - state.turns === 1 ? state.cur : 0;
    view.turns = turns;
    view.startMs = startOf(view);
    view.cur = 0;
    // A window that begins with the request that is judged has begun at an even ms by then.
    return isEven && params.count_refused === true ? evened(view) : view;
  };
  return { look, startOf };
}

/** Each turn of HAProxy is kept as an even ms. */
function evened(view: View): View {
  view.startMs -= view.startMs % 2;
  view.fromMs = view.startMs;
  view.turns = 0;
  return view;
}

export function slidingCounter(params: Params, grainMs: number): Rule<State> {
  const { limit: most, window_ms: span, align = 'first', count_refused: all = false } = params;
  const counter = counterOf(params);
  const { look, startOf } = windowsOf(params, counter === 'haproxy');
  const estimateOf = all && align === 'first' ? inIntegers : estimates[counter];
  const estimate = (state: State, t: number) => estimateOf(look(state, t), span, t);
  const isWhole = estimateOf !== estimates.fractions;

  const admits = (state: State, t: number, n: number) => estimate(state, t) + n <= most;
  const roomAt = (state: State, t: number) => Math.max(0, Math.floor(most - estimate(state, t)));
  const fadedBy = (state: State, t: number, n: number) => {
    const { startMs, cur, prev } = look(state, t);
    const room = most - n + (isWhole ? 1 : 0);
    return cur < room ? startMs + span * (1 - (room - cur) / prev) : startMs + span * (2 - room / cur);
  };
  const settledBy = (state: State, t: number) => Math.max(t, startOf(state, 2));

  return {
    additive: true,
    // Whole seconds from a later time may end earlier.
    ...(counter === 'symfony' && all && { hastens: true }),
    fresh: () => ({ fromMs: -1, turns: 0, cur: 0, prev: 0, goneMs: LAST_MS }),
    admit(state, t, n) {
      const window = look(state, t);
      const used = estimateOf(window, span, t);
      const ok = used + n <= most;
      if (ok || all || (counter === 'upstash' && used < most)) {
        if (counter === 'haproxy') evened(window);
        state.fromMs = window.fromMs;
        state.turns = window.turns;
        state.prev = window.prev;
        state.cur = cappedSum(window.cur, n);
        if (counter === 'symfony') state.goneMs = t + Math.trunc((window.startMs + 2 * span - t) / 1000) * 1000;
      }
      return ok ? 0 : LIMITED;
    },
    nextAdmission(state, t, n) {
      if (n > most) return NEVER;
      return firstTime(t, settledBy(state, t), grainMs, (at) => admits(state, at, n), fadedBy(state, t, n));
    },
    nextChange(state, t) {
      const room = roomAt(state, t);
      return firstTime(t, settledBy(state, t), grainMs, (at) => roomAt(state, at) > room);
    },
    remaining: roomAt,
    forgettable: (state, t) => t >= settledBy(state, t),
    waits: (state, t) => ({ window_end: look(state, t).startMs + span - t }),
  };
}
