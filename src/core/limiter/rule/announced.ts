// The wait that a product announces to a refused request. It may differ from the true one.
//
//   now                 earliest          window end
//   |-------------------|-----------------|------>        express-rate-limit says the window's end, in whole seconds, rounded up
//   |<--- up_to_s -------------------------->|
import type { Rule } from './rule.js';
import type { Announces } from './rule-definition.js';

const secondsUp = (ms: number) => Math.ceil(ms / 1000 - 1e-7) * 1000;
const secondsDown = (ms: number) => Math.floor(ms / 1000 + 1e-7) * 1000;

const rounded: Readonly<Record<NonNullable<Announces['round']>, (wait: number, tMs: number) => number>> = {
  up_to_ms: Math.ceil,
  up_to_s: secondsUp,
  down_to_s: secondsDown,
  second: (wait, tMs) => Math.floor((tMs + secondsUp(wait)) / 1000) * 1000 - tMs,
  clock_second: (wait, tMs) => secondsDown(tMs + wait) - tMs,
};

/** In ms from `tMs`; undefined if nothing is announced, Infinity for never. Without `announces` it is the true wait. */
export function announcedWait<State>(
  rule: Rule<State>,
  { wait: kind = 'earliest', round }: Partial<Announces> = {},
  state: State,
  tMs: number,
  n: number,
): number | undefined {
  if (kind === 'none') return undefined;
  const wait = kind === 'earliest' ? rule.nextAdmission(state, tMs, n) - tMs : rule.waits?.(state, tMs, n)[kind];
  return wait === undefined || round === undefined || !Number.isFinite(wait) ? wait : rounded[round](wait, tMs);
}
