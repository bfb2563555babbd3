// Owns where in its cycle a request is sent, so that it arrives in that cycle. Pure arithmetic; leaves sending to paced-sender.ts.
//
//   cycle     |head|<──────── window ────────>|        tail         |
//   spaced    |    |  x    x    x    x    x   |                     |     (k + 1/2) / n of the window
//   at once   |    |xxxxx                     |                     |
//   arrival   |    | x xx      x     x        |                     |     as the model of arrivals has them, drawn together
//   steady    |  x        x        x        x        x        x     |     (k + 1/2) / n of the cycle: for rates, not for counts
//
// The head covers what is not known of the target's clock, the tail what may hold a request up: a timer that wakes late, a
// collection of garbage, a busy machine. Decisions depend on cycles alone, so where in the cycle a request comes changes none.
import { unreachable } from '../schema/failure.js';

export const pacings = ['arrival', 'spaced', 'at once', 'steady'] as const;

export type Pacing = (typeof pacings)[number];

/** Part of a cycle, in ms from its beginning. */
export interface SendWindow {
  readonly fromMs: number;
  readonly lengthMs: number;
}

/** Share of a cycle in which requests are sent when they are few. */
const SHARE = 0.5;
/** What a request is given when they are many: a generator sends ten thousand a second without trouble. */
const MS_EACH = 0.1;
/** The head, beyond the uncertainty: a timer never fires early, so little is needed. */
const HEAD_MS = 1;
/** The least tail when requests are many: a generator that is held up has that long to catch up. */
const TAIL_SHARE = 0.1;
const LEAST_TAIL_MS = 20;

/**
 * Where in a cycle requests are sent.
 * @param n requests of the cycle
 * @param uncertaintyMs what is not known of the target's clock, either way
 */
export function sendWindow(pacing: Pacing, n: number, cycleMs: number, uncertaintyMs: number): SendWindow {
  if (pacing === 'steady') return { fromMs: 0, lengthMs: cycleMs };
  const fromMs = Math.min(HEAD_MS + uncertaintyMs, cycleMs / 4);
  const tailMs = Math.min(Math.max(LEAST_TAIL_MS, TAIL_SHARE * cycleMs) + uncertaintyMs, cycleMs / 4);
  const mostMs = cycleMs - fromMs - tailMs;
  return { fromMs, lengthMs: Math.min(mostMs, Math.max(SHARE * cycleMs - fromMs, n * MS_EACH)) };
}

/**
 * When request k of n is sent, in ms from the beginning of the cycle.
 * @param fraction where the model of arrivals has it, in [0, 1)
 */
export function sendAt(pacing: Pacing, k: number, n: number, fraction: number, window: SendWindow): number {
  switch (pacing) {
    case 'arrival':
      return window.fromMs + fraction * window.lengthMs;
    case 'spaced':
    case 'steady':
      return window.fromMs + ((k + 0.5) / n) * window.lengthMs;
    case 'at once':
      return window.fromMs;
    default:
      return unreachable(pacing);
  }
}
