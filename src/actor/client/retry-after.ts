// What a client does with the Retry-After t of a limiter, beside its own pause p.
//
//   ignore   p             obey   t             floor   max(p, t)             clamp   min(max(p, t), p + slack)
//
// t above the limit is cut to it (cap), counts as none (ignore), or ends the job (stop).
import type { Wait } from './behaviour.js';
import type { retryAfterPolicies } from './retry-schema.js';

export interface RetryAfterPlan {
  readonly policy: (typeof retryAfterPolicies)[number];
  /** In ms; Infinity for none. */
  readonly limitMs: number;
  readonly above: 'cap' | 'ignore' | 'stop';
  readonly slackMs: number;
  readonly missing: 'backoff' | 'stop';
}

/**
 * The wait before the next attempt; undefined: give up.
 * @param pause the own pause, at least so long
 */
export function waitAfter(
  { policy, limitMs, above, slackMs, missing }: RetryAfterPlan,
  toldMs: number | undefined,
  pause: (leastMs: number) => Wait,
): Wait | undefined {
  if (policy === 'ignore') return pause(0);
  if (toldMs === undefined) return missing === 'stop' ? undefined : pause(0);
  if (toldMs > limitMs && above === 'stop') return undefined;
  if (toldMs > limitMs && above === 'ignore') return pause(0);
  const ms = Math.min(toldMs, limitMs);
  if (policy === 'obey') return ms;
  if (policy === 'floor') return pause(ms);
  const own = pause(0);
  if (typeof own === 'number') return clamped(own, ms, slackMs);
  return { drawMs: (draw) => clamped(own.drawMs(draw), ms, slackMs) };
}

function clamped(ownMs: number, toldMs: number, slackMs: number): number {
  return Math.min(Math.max(ownMs, toldMs), ownMs + slackMs);
}
