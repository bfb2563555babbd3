// What a limited client hears of the wait.
//
//   a window of cycles    Retry-After: whole seconds up to the cycle in which a request is admitted again
//   a rule                what the product announces, too early or too late as it is; the exact wait where nothing is said of it
import { retryAfterCycles } from '../limiter/forecast.js';
import type { Gate } from '../limiter/gate.js';
import { announcedWait } from '../limiter/rule/announced.js';
import type { Clock } from '../time/clock.js';
import { secondsUntil } from '../time/cycle.js';

/** In ms, after a request was limited; undefined where nothing is announced, and where no wait is long enough. */
export function announcedMs(gate: Gate, clock: Clock): number | undefined {
  const { plan } = gate;
  if (plan.rule === undefined) {
    const cycles = retryAfterCycles(gate);
    return cycles === undefined ? undefined : secondsUntil(gate.cycle + cycles, clock.now(), clock.cycleMs) * 1000;
  }
  const { rule, definition } = plan.rule;
  const ms = gate.askRule((state, nowMs) => announcedWait(rule, definition.announces, state, nowMs, 1));
  return ms === undefined || !Number.isFinite(ms) ? undefined : Math.max(0, ms);
}
