// What a client does with a Retry-After of t, besides its own pause p.
//
//   ignore   p             obey   t             floor   max(p, t)             clamp   min(max(p, t), p + slack)
//
// t above the limit is cut to it (cap), counts as none (ignore), or ends the job (stop).
import type { Wait } from './behaviour.js';
import type { retryAfterPolicies } from './retry-schema.js';

export interface RetryAfterPlan {
  readonly policy: (typeof retryAfterPolicies)[number];
  /** Infinity for none. */
  readonly limitMs: number;
  readonly above: 'cap' | 'ignore' | 'stop';
  /** What is done with a t of 0 by `obey`. */
  readonly zero?: 'obey' | 'backoff' | undefined;
  readonly slackMs: number;
  readonly missing: 'backoff' | 'stop';
}

export function endsJob(
  { policy, limitMs, above, missing }: RetryAfterPlan,
  retryAfterMs: number | undefined,
): boolean {
  if (policy === 'ignore') return false;
  return retryAfterMs === undefined ? missing === 'stop' : retryAfterMs > limitMs && above === 'stop';
}

export function waitAfter(
  { policy, limitMs, above, zero, slackMs }: RetryAfterPlan,
  retryAfterMs: number | undefined,
  pause: (leastMs: number) => Wait,
): Wait {
  if (policy === 'ignore' || retryAfterMs === undefined || (retryAfterMs > limitMs && above === 'ignore'))
    return pause(0);
  const ms = Math.min(retryAfterMs, limitMs);
  if (policy === 'obey') return ms === 0 && zero === 'backoff' ? pause(0) : ms;
  if (policy === 'floor') return pause(ms);
  const own = pause(0);
  if (typeof own === 'number') return clamped(own, ms, slackMs);
  return { drawMs: (draw) => clamped(own.drawMs(draw), ms, slackMs) };
}

function clamped(ownMs: number, retryAfterMs: number, slackMs: number): number {
  return Math.min(Math.max(ownMs, retryAfterMs), ownMs + slackMs);
}
