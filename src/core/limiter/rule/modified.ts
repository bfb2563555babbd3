// Modifiers of any rule: a block after a refusal, a count of requests instead of costs, and the step of a clock.
//
//   blocking     refused at t  ->  all refused until t + block, and the rule is not asked    rearm: each one restarts the block
//   per request  1 is charged, whatever the cost
//   on a clock   the rule sees floor(t / step) * step, and time never goes back
//
// Source: rate-limiter-flexible 11 (inMemoryBlockOnConsumed), Bottleneck 2.19 (BLOCK, with rearm); Redis, nginx, PHP for the clocks.
import { windowEndOf } from './combined.js';
import { LIMITED, NEVER, type Rule } from './rule.js';

interface Blocked<State> {
  untilMs: number;
  inner: State;
}

interface Block {
  /** To the end of the window, that step of the clock included, rather than for `ms`. */
  readonly block_until_window_end?: boolean | undefined;
  readonly refused_rearm?: boolean | undefined;
}

/** @returns the rule itself without a block */
export function blocking<State>(rule: Rule<State>, ms: number | undefined, grainMs: number, block: Block) {
  const { block_until_window_end: toEnd = false, refused_rearm: rearms = false } = block;
  if (ms === undefined && !toEnd) return rule;
  const isOver = ({ untilMs }: Blocked<State>, t: number) => (toEnd ? t > untilMs : t >= untilMs);
  const overAt = ({ untilMs }: Blocked<State>) => (toEnd ? untilMs + grainMs : untilMs);
  const blocked: Rule<Blocked<State>> = {
    ...(rule.hastens && { hastens: true }),
    ...(rule.additive && { additive: true }),
    fresh: (madeMs) => ({ untilMs: -1, inner: rule.fresh(madeMs) }),
    admit(state, t, n, holdMs) {
      if (!isOver(state, t)) {
        if (rearms) state.untilMs = t + ms!;
        return LIMITED;
      }
      const delay = rule.admit(state.inner, t, n, holdMs);
      if (delay === LIMITED) state.untilMs = t + (toEnd ? windowEndOf(rule, state.inner, t, n) : ms!);
      return delay;
    },
    nextAdmission: (state, t, n) => rule.nextAdmission(state.inner, isOver(state, t) ? t : overAt(state), n),
    nextChange: (state, t) => (isOver(state, t) ? rule.nextChange(state.inner, t) : overAt(state)),
    remaining: (state, t) => (isOver(state, t) ? rule.remaining(state.inner, t) : 0),
    forgettable: (state, t) => isOver(state, t) && rule.forgettable(state.inner, t),
    waits: (state, t, n) => ({
      window_end: isOver(state, t) ? windowEndOf(rule, state.inner, t, n) : state.untilMs - t,
    }),
  };
  return blocked;
}

export function perRequest<State>(rule: Rule<State>): Rule<State> {
  const { waits, additive: _, ...others } = rule;
  return {
    ...others,
    admit: (state, t, _n, holdMs) => rule.admit(state, t, 1, holdMs),
    charge: () => {},
    nextAdmission: (state, t) => rule.nextAdmission(state, t, 1),
    ...(waits && { waits: (state, t) => waits(state, t, 1) }),
  };
}

interface Clocked<State> {
  atMs: number;
  inner: State;
}

export function withClockStep<State>(rule: Rule<State>, stepMs: number | undefined): Rule<Clocked<State>> {
  // The tolerance keeps multiples of a fine step, because doubles near 2^41 have coarse steps.
  const read =
    stepMs === undefined
      ? (t: number) => t
      : stepMs >= 1
        ? (t: number) => Math.floor(t / stepMs) * stepMs
        : (t: number) => Math.floor(t / stepMs + 0.25) * stepMs;
  const seen = ({ atMs }: Clocked<State>, t: number) => Math.max(atMs, read(t));
  /** The first time from `from` on that is read as `t` or later. */
  const whenRead = (t: number, from: number) =>
    t === NEVER || stepMs === undefined
      ? t
      : Math.max(from, Math.ceil(t / stepMs - 1e-3 / Math.max(1, stepMs)) * stepMs);
  const { waits } = rule;
  return {
    ...(rule.shared && { shared: true }),
    ...(rule.hastens && { hastens: true }),
    ...(rule.additive && { additive: true }),
    fresh(madeMs) {
      const atMs = read(madeMs);
      return { atMs, inner: rule.fresh(atMs) };
    },
    admit(state, t, n, holdMs) {
      state.atMs = seen(state, t);
      return rule.admit(state.inner, state.atMs, n, holdMs);
    },
    ...(rule.release && {
      release(state: Clocked<State>, t: number, heldMs: number) {
        state.atMs = seen(state, t);
        rule.release?.(state.inner, state.atMs, heldMs);
      },
    }),
    ...(rule.charge && {
      charge(state: Clocked<State>, t: number, n: number, sinceMs: number) {
        state.atMs = seen(state, t);
        rule.charge?.(state.inner, state.atMs, n, read(sinceMs));
      },
    }),
    nextAdmission(state, t, n) {
      const now = seen(state, t);
      const at = rule.nextAdmission(state.inner, now, n);
      return at <= now ? t : whenRead(at, t);
    },
    nextChange: (state, t) => whenRead(rule.nextChange(state.inner, seen(state, t)), t),
    remaining: (state, t) => rule.remaining(state.inner, seen(state, t)),
    forgettable: (state, t) => state.atMs <= t && rule.forgettable(state.inner, seen(state, t)),
    ...(waits && { waits: (state: Clocked<State>, t: number, n: number) => waits(state.inner, seen(state, t), n) }),
  };
}
