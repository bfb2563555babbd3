// How long to pause before the next attempt: the policies, as arithmetic.
//
//   n        setbacks so far: 1 before the second attempt; v(n) = min(cap, base * 2^n)
//   u(a, b)  uniform between a and b
//
//   none                 |                                        0
//   fixed                |----|----|----|----|                    base
//   exponential          |--|----|--------|----------------|      v(n)
//   equal_jitter         |-~|--~~|----~~~~|--------~~~~~~~~|      v(n)/2 + u(0, v(n)/2)        ~ somewhere in here
//   full_jitter          |~~|~~~~|~~~~~~~~|~~~~~~~~~~~~~~~~|      u(0, v(n))
//   decorrelated         |~~~|~~~~~~~|~~~~~~~~~~~~~~~~~~~~~|      min(cap, u(base, 3 * the last pause)), the first of base
//
// The rules are those of the simulator behind "Exponential Backoff and Jitter" (M. Brooker, AWS Architecture Blog, 2015):
// github.com/aws-samples/aws-arch-backoff-simulator. There, too, n counts the setback before the pause is taken.

import { unreachable } from '../../schema/failure.js';
import type { Wait } from './behaviour.js';

export const backoffPolicies = ['none', 'fixed', 'exponential', 'equal_jitter', 'full_jitter', 'decorrelated'] as const;

export interface BackoffPlan {
  readonly policy: (typeof backoffPolicies)[number];
  /** ms, at least 0. */
  readonly baseMs: number;
  /** The longest pause, in ms, at least `baseMs`. */
  readonly capMs: number;
}

/**
 * The next pause: in ms, or with jitter as a law that draws once.
 * @param n setbacks so far, at least 1
 * @param lastMs the pause before, 0 for none yet
 */
export type Pauses = (n: number, lastMs: number) => Wait;

export function pauses({ policy, baseMs, capMs }: BackoffPlan): Pauses {
  switch (policy) {
    case 'none':
      return () => 0;
    case 'fixed':
      return () => baseMs;
    case 'exponential':
      return (n) => doubled(baseMs, n, capMs);
    case 'equal_jitter':
      return (n) => ({ drawMs: (draw) => (doubled(baseMs, n, capMs) / 2) * (1 + draw.uniform()) });
    case 'full_jitter':
      return (n) => ({ drawMs: (draw) => doubled(baseMs, n, capMs) * draw.uniform() });
    case 'decorrelated':
      return (_n, lastMs) => {
        const mostMs = 3 * Math.max(baseMs, lastMs);
        return { drawMs: (draw) => Math.min(capMs, baseMs + (mostMs - baseMs) * draw.uniform()) };
      };
    default:
      return unreachable(policy);
  }
}

/** `min(cap, base * 2^n)` by doubling, which is exact in every engine; `2 ** n` need not be. */
function doubled(baseMs: number, n: number, capMs: number): number {
  let ms = baseMs;
  for (let k = 0; k < n && ms < capMs && ms > 0; k += 1) ms *= 2;
  return Math.min(capMs, ms);
}
