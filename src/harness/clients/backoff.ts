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
//   geometric            |-|--|~~~~|~~~~~~~~|                     g(n) (1 - u(0, s)) (1 + u(0, l)) + u(0, a)
//                                                                 g(n) = min(cap, base * factor^(n - 1))
//   linear               |-|--|~~~|~~~~|                          as geometric, with g(n) = min(cap, base * n)
//   with jitter: exponential               |~~~~~~~~~ ~ ~  ~   ~     exponential, its mean the pause of the policy
//
// Those before geometric are the rules of the simulator behind "Exponential Backoff and Jitter" (M. Brooker, AWS Architecture Blog, 2015):
// github.com/aws-samples/aws-arch-backoff-simulator. There, too, n counts the setback before the pause is taken. Libraries start at base:
// s is 1 for full jitter, 0.5 for equal jitter, 0.25 in the SDKs of OpenAI; got adds up to a = 100 ms, axios-retry up to l = 0.2.

import { exponential } from '../../core/math/time-law.js';
import { unreachable } from '../../core/schema/failure.js';
import type { Wait } from './behaviour.js';

export const backoffPolicies = [
  'none',
  'fixed',
  'exponential',
  'equal_jitter',
  'full_jitter',
  'decorrelated',
  'geometric',
  'linear',
] as const;

export interface BackoffPlan {
  readonly policy: (typeof backoffPolicies)[number];
  /** At least 0. */
  readonly baseMs: number;
  /** At least `baseMs`. */
  readonly capMs: number;
  readonly geometric?: GeometricPlan | undefined;
  /** Draws a pause from the exponential law with this mean, for policies without another jitter. */
  readonly isExponential?: boolean | undefined;
}

interface GeometricPlan {
  /** At least 1. */
  readonly factor: number;
  readonly firstMs: number | undefined;
  /** s, l and a of the header. */
  readonly shortenBy: number;
  readonly lengthenBy: number;
  readonly addMs: number;
}

const doubling: GeometricPlan = { factor: 2, firstMs: undefined, shortenBy: 0, lengthenBy: 0, addMs: 0 };

/**
 * @param n setbacks so far, at least 1
 * @param lastMs the previous pause, 0 for none
 * @param leastMs lower bound of the pause; geometric lengthens it beyond
 */
export type Pauses = (n: number, lastMs: number, leastMs?: number) => Wait;

export function pauses(plan: BackoffPlan): Pauses {
  if (plan.isExponential === true) return exponentialOf(pauses({ ...plan, isExponential: false }));
  if (plan.policy === 'geometric' || plan.policy === 'linear') return geometric(plan, plan.geometric ?? doubling);
  const pause = unbounded(plan.policy, plan);
  return (n, lastMs, leastMs = 0) => atLeast(leastMs, pause(n, lastMs));
}

function exponentialOf(mean: Pauses): Pauses {
  return (n, lastMs, leastMs = 0) => {
    const ms = mean(n, lastMs);
    return typeof ms === 'number' && ms > 0 ? atLeast(leastMs, exponential(ms)) : leastMs;
  };
}

function atLeast(leastMs: number, wait: Wait): Wait {
  if (typeof wait === 'number') return Math.max(wait, leastMs);
  return leastMs === 0 ? wait : { drawMs: (draw) => Math.max(wait.drawMs(draw), leastMs) };
}

function geometric(
  { policy, baseMs, capMs }: BackoffPlan,
  { factor, firstMs, shortenBy, lengthenBy, addMs }: GeometricPlan,
): Pauses {
  return (n, _lastMs, leastMs = 0) => {
    const growing = policy === 'linear' ? Math.min(capMs, baseMs * n) : grown(baseMs, factor, n - 1, capMs);
    const ms = n === 1 && firstMs !== undefined ? firstMs : growing;
    if (shortenBy === 0 && lengthenBy === 0 && addMs === 0) return Math.max(ms, leastMs);
    return {
      drawMs(draw) {
        const shorter = shortenBy === 0 ? ms : ms * (1 - shortenBy * draw.uniform());
        const least = Math.max(shorter, leastMs);
        const longer = lengthenBy === 0 ? least : least * (1 + lengthenBy * draw.uniform());
        return addMs === 0 ? longer : longer + addMs * draw.uniform();
      },
    };
  };
}

function unbounded(
  policy: Exclude<BackoffPlan['policy'], 'geometric' | 'linear'>,
  { baseMs, capMs }: BackoffPlan,
): Pauses {
  switch (policy) {
    case 'none':
      return () => 0;
    case 'fixed':
      return () => baseMs;
    case 'exponential':
      return (n) => grown(baseMs, 2, n, capMs);
    case 'equal_jitter':
      return (n) => ({ drawMs: (draw) => (grown(baseMs, 2, n, capMs) / 2) * (1 + draw.uniform()) });
    case 'full_jitter':
      return (n) => ({ drawMs: (draw) => grown(baseMs, 2, n, capMs) * draw.uniform() });
    case 'decorrelated':
      return (_n, lastMs) => {
        const mostMs = 3 * Math.max(baseMs, lastMs);
        return { drawMs: (draw) => Math.min(capMs, baseMs + (mostMs - baseMs) * draw.uniform()) };
      };
    default:
      return unreachable(policy);
  }
}

/** `min(cap, base * factor^n)` by multiplication, identical in every engine; `factor ** n` need not be. */
function grown(baseMs: number, factor: number, n: number, capMs: number): number {
  let ms = baseMs;
  for (let k = 0; k < n && ms < capMs && ms > 0; k += 1) ms *= factor;
  return Math.min(capMs, ms);
}
