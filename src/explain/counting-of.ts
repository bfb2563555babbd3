// Chooses the way of counting for a rule.
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import { combinedCounting } from './combined-counting.js';
import type { RuleClock, RuleCounting } from './counting.js';
import { exactCounting } from './exact-counting.js';
import { guavaCounting } from './guava-counting.js';
import { logCounting } from './log-counting.js';
import { scheduleCounting } from './schedule-counting.js';
import { windowCounting } from './window-counting.js';

/** Their answers depend on how long each request is in flight, which is not visible from outside. */
const notSeen = new Set(['concurrency', 'concurrency_queue', 'adaptive']);

/** Rules whose states have bounds for costs, too. */
const bounded = new Set([
  'gcra',
  'token_bucket',
  'fixed_window',
  'fixed_window_delay',
  'sliding_log',
  'sliding_log_block',
  'rolling_count',
]);
const combined = new Set(['or', 'and', 'and_all_charged']);

/** Undefined if the answers depend on something not visible from outside. @param hasCosts whether requests cost more than 1 */
export function countingOf(definition: RuleDefinition, hasCosts = false): RuleCounting | undefined {
  if (namesIn(definition).some((name) => notSeen.has(name))) return undefined;
  return countingOn(definition, clockOf(definition), hasCosts) as RuleCounting;
}

function isBounded({ primitive, params, counts }: RuleDefinition, hasCosts: boolean): boolean {
  const { max_wait_ms, over_limit_cost_bug } = params as OfCosts;
  if (!hasCosts) return true;
  if (counts === 'requests') return false;
  return combined.has(primitive) || (bounded.has(primitive) && !max_wait_ms && over_limit_cost_bug !== true);
}

interface OfCosts {
  readonly max_wait_ms?: number;
  readonly over_limit_cost_bug?: boolean;
}

export function namesIn({ primitive, params }: RuleDefinition): string[] {
  const { a, b, of = [] } = params as { a?: RuleDefinition; b?: RuleDefinition; of?: RuleDefinition[] };
  return [primitive, ...[a, b, ...of].flatMap((one) => (one === undefined ? [] : namesIn(one)))];
}

function clockOf({ primitive, clock_resolution_ms, res, params }: RuleDefinition): RuleClock {
  if (primitive === 'nginx_limit_req') return { stepMs: 1, resolutionMs: 1 };
  const { resolution_us, align, refill } = params as ClockParams;
  const resolutionMs = clock_resolution_ms ?? res ?? (resolution_us === undefined ? 0 : resolution_us / 1000);
  // Where only edges of the rule's own cut time, their phase is searched in whole ms.
  const isOnGrid =
    primitive === 'segmented_window' ||
    (primitive === 'fixed_window' && align !== undefined && align !== 'first') ||
    (primitive === 'token_bucket' && refill === 'interval' && align !== 'first');
  return { stepMs: resolutionMs >= 1 || isOnGrid ? 1 : 0, resolutionMs };
}

interface ClockParams {
  readonly resolution_us?: number;
  readonly align?: string;
  readonly refill?: string;
}

function countingOn(definition: RuleDefinition, clock: RuleClock, hasCosts: boolean): RuleCounting<never> {
  const found =
    clock.resolutionMs > 1 || !isBounded(definition, hasCosts)
      ? undefined
      : (scheduleCounting(definition, clock) ??
        windowCounting(definition, clock) ??
        logCounting(definition, clock) ??
        guavaCounting(definition, clock) ??
        combinedCounting(definition, (member) => countingOn(member, clock, hasCosts) as RuleCounting));
  return (found ?? exactCounting(definition, clock)) as RuleCounting<never>;
}
