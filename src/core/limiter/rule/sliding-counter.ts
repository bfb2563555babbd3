// Two counts: the current window, and the previous one, which fades out.
//
//   prev |######|        est = prev * (1 - f) + cur,  f = (t - s) / W
//   cur         |##   |  ok  = est + n <= L
//        s-W    s  t  s+W
//
//   floor_total     est is rounded down as a whole                      HAProxy, Symfony, Python limits
//   floor_prev      the part of prev is rounded down                    Upstash
//   cost_overshoot  refused without counting if est >= L, else counted, and refused if that exceeds L: Upstash
//
// HAProxy computes floor((prev * (ms left) + cur * W) / W) in integers. Its windows begin at an even ms.
// Source: OTHER-LIMITERS section 4.2 and 4.7; HAProxy freq_ctr.c, @upstash/ratelimit 2.2, Symfony SlidingWindow.php, Python limits 5.
import type { Static } from 'typebox';
import { Type } from '../../schema/json-schema.js';
import { blockMs, countRefused, flag, limit, phaseMs, resetEdge, strict, windowMs } from './fields.js';
import { multipleOf, periodsIn } from './periods.js';
import { cappedSum, firstTime, LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';

export const SlidingCounterParams = Type.Object(
  {
    limit,
    window_ms: windowMs,
    align: Type.Optional(
      Type.Enum(['first', 'epoch'], {
        description: 'Windows begin at the first request or at multiples since 1970. Default: first.',
      }),
    ),
    phase_ms: phaseMs,
    count_refused: countRefused,
    floor_total: flag('The estimate is rounded down.'),
    floor_prev: flag('The part of the window before is rounded down.'),
    cost_overshoot: flag(
      'A cost that exceeds is refused, and counted nevertheless unless the limit is reached before.',
    ),
    block_until_window_end: flag('A refused request blocks the key until the end of the window, that ms included.'),
    block_ms: blockMs,
    even_ms: flag('Windows begin at even ms, and the estimate is computed in integers.'),
    edge: resetEdge,
    state_ttl_whole_seconds: flag(
      'The state is kept whole seconds only, rounded down from one window after the end of this one.',
    ),
    double_seconds: flag('Times are doubles of seconds.'),
  },
  strict,
);

/** The window is `turns` windows after `fromMs` (-1 before the first). `untilMs` ends a block, `goneMs` the state. */
interface State {
  fromMs: number;
  turns: number;
  cur: number;
  prev: number;
  untilMs: number;
  goneMs: number;
}

export function slidingCounter(params: Static<typeof SlidingCounterParams>, grainMs: number): Rule<State> {
  const { limit: most, window_ms: span, align = 'first', phase_ms: phase = 0 } = params;
  const { count_refused: all = false, cost_overshoot: overshoots = false, even_ms: even = false } = params;
  const { floor_total: floorTotal = false, floor_prev: floorPrev = false, double_seconds: seconds = false } = params;
  const { block_until_window_end: blocksWindow = false, state_ttl_whole_seconds: wholeTtl = false } = params;
  const integers = even || (all && align === 'first');
  const atEnd = (params.edge ?? 'reset_at_end') === 'reset_at_end';

  /** The window at `t`. Queries must not change the state, so `look` computes it here. */
  const view = { fromMs: 0, turns: 0, startMs: 0, cur: 0, prev: 0 };
  const startOf = ({ fromMs, turns }: Pick<State, 'fromMs' | 'turns'>, later = 0) =>
    fromMs + multipleOf(span, turns + later);
  const look = (state: State, t: number) => {
    if (state.fromMs < 0 || t >= state.goneMs) return opened(t);
    view.fromMs = state.fromMs;
    view.turns = state.turns;
    view.cur = state.cur;
    view.prev = state.prev;
    view.startMs = startOf(view);
    const endMs = startOf(view, 1);
    if (atEnd ? t < endMs : t <= endMs) return;
    // Without a grid, windows are adjacent only while requests arrive.
    const turns = align === 'epoch' ? periodsIn(t - state.fromMs, span) : state.turns + 1;
    if (align !== 'epoch' && t >= startOf(view, 2)) return opened(t);
    view.prev = turns - state.turns === 1 ? state.cur : 0;
    view.turns = turns;
    view.startMs = startOf(view);
    view.cur = 0;
  };
  const opened = (t: number) => {
    view.fromMs = align === 'epoch' ? phase : even ? t - (t % 2) : t;
    view.turns = align === 'epoch' ? periodsIn(t - phase, span) : 0;
    view.startMs = startOf(view);
    view.cur = 0;
    view.prev = 0;
  };
  const estimate = (t: number, n: number) => {
    const { startMs, cur, prev } = view;
    const age = t - startMs;
    if (integers) return Math.floor((prev * Math.max(0, span - age)) / span) + cur + n;
    const share = seconds ? (t / 1000 - startMs / 1000) / (span / 1000) : age / span;
    const part = prev * (1 - share);
    if (floorPrev) return Math.floor(part) + cur + n;
    const total = floorTotal && !seconds ? (prev * (span - age)) / span + cur : part + cur;
    return (floorTotal ? Math.floor(total) : total) + n;
  };
  const blocked = (state: State, t: number) => (blocksWindow ? t <= state.untilMs : t < state.untilMs);
  const admits = (state: State, t: number, n: number) => {
    if (blocked(state, t)) return false;
    look(state, t);
    return estimate(t, n) <= most;
  };
  const roomAt = (state: State, t: number) => {
    if (blocked(state, t)) return 0;
    look(state, t);
    return Math.max(0, Math.floor(most - estimate(t, 0)));
  };
  const fadedBy = (state: State, t: number, n: number) => {
    look(state, t);
    const { startMs, cur, prev } = view;
    const room = most - n + (integers || floorPrev || floorTotal ? 1 : 0);
    return cur < room ? startMs + span * (1 - (room - cur) / prev) : startMs + span * (2 - room / cur);
  };
  const settledBy = (state: State, t: number) =>
    Math.max(t, startOf(state, 2), state.untilMs + (blocksWindow ? grainMs : 0));

  return {
    additive: true,
    // Whole seconds from a later time may end earlier.
    ...(wholeTtl && (all || overshoots) && { hastens: true }),
    fresh: () => ({ fromMs: -1, turns: 0, cur: 0, prev: 0, untilMs: -1, goneMs: LAST_MS }),
    decide(state, t, n) {
      if (blocked(state, t)) return LIMITED;
      look(state, t);
      const ok = estimate(t, n) <= most;
      if (ok || all || (overshoots && estimate(t, 0) < most)) {
        state.fromMs = view.fromMs;
        state.turns = view.turns;
        state.prev = view.prev;
        state.cur = cappedSum(view.cur, n);
        if (wholeTtl) state.goneMs = t + Math.trunc((view.startMs + 2 * span - t) / 1000) * 1000;
      }
      if (ok) return 0;
      if (blocksWindow) state.untilMs = view.startMs + span;
      else if (params.block_ms !== undefined) state.untilMs = t + params.block_ms;
      return LIMITED;
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
    forgettable: (state, t) => t >= settledBy(state, t) && !blocked(state, t),
    waits(state, t) {
      look(state, t);
      return { window_end: view.startMs + span - t };
    },
  };
}
