// The wait that a product announces to a request it refuses, which need not be the true one.
//
//   now                 earliest          window end
//   |-------------------|-----------------|------>        express-rate-limit says the window's end, in whole seconds, rounded up
//   |<--- up_to_s -------------------------->|
import { unreachable } from '../../schema/failure.js';
import type { Rule } from './rule.js';
import type { Announces } from './rule-definition.js';

/**
 * @param announces undefined where the product announces the true wait
 * @returns ms from `tMs`; undefined where nothing is announced, Infinity for never
 */
export function announcedWait<State>(
  rule: Rule<State>,
  announces: Announces | undefined,
  state: State,
  tMs: number,
  n: number,
): number | undefined {
  const wait = waitOf(rule, announces?.wait ?? 'earliest', state, tMs, n);
  if (wait === undefined || !Number.isFinite(wait)) return wait;
  switch (announces?.round) {
    case undefined:
      return wait;
    case 'up_to_ms':
      return Math.ceil(wait);
    case 'up_to_s':
      return wholeSeconds(wait);
    case 'down_to_s':
      return Math.floor(wait / 1000 + 1e-7) * 1000;
    case 'second':
      return Math.floor((tMs + wholeSeconds(wait)) / 1000) * 1000 - tMs;
    case 'clock_second':
      return Math.floor((tMs + wait) / 1000 + 1e-7) * 1000 - tMs;
    default:
      return unreachable(announces?.round as never);
  }
}

/** Rounded up, without rounding errors. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - 1e-7) * 1000;
}

function waitOf<State>(rule: Rule<State>, wait: Announces['wait'], state: State, tMs: number, n: number) {
  switch (wait) {
    case 'earliest':
      return rule.nextAdmission(state, tMs, n) - tMs;
    case 'window_end':
      return rule.waits?.windowEnd?.(state, tMs);
    case 'newest_leaves':
      return rule.waits?.newestLeaves?.(state, tMs);
    case 'whole_tokens':
      return rule.waits?.wholeTokens?.(state, tMs, n);
    case 'whole_intervals':
      return rule.waits?.wholeIntervals?.(state, tMs, n);
    case 'backoff':
      return rule.waits?.backoff?.(state, tMs);
    case 'none':
      return undefined;
    default:
      return unreachable(wait);
  }
}
