// Chooses the way of counting for a rule.
import { clockStepOf, limitsFlight, membersOf, type RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { combinedCounting } from './combined-counting.js';
import type { RuleClock, RuleCounting } from './counting.js';
import { exactCounting } from './exact-counting.js';
import { guavaCounting } from './guava-counting.js';
import { logCounting } from './log-counting.js';
import { scheduleCounting } from './schedule-counting.js';
import { windowCounting } from './window-counting.js';

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

/** Undefined if the answers depend on something not visible from outside. @param hasCosts whether requests cost more than 1 */
export function countingOf(definition: RuleDefinition, hasCosts = false): RuleCounting | undefined {
  // Their answers depend on how long each request is in flight, which is not visible from outside.
  if (limitsFlight(definition)) return undefined;
  return countingOn(definition, clockOf(definition), hasCosts) as RuleCounting;
}

function isBounded(definition: RuleDefinition, hasCosts: boolean): boolean {
  const { primitive, params, counts } = definition;
  const { max_wait_ms, over_limit_cost_bug } = params as { max_wait_ms?: number; over_limit_cost_bug?: boolean };
  if (!hasCosts) return true;
  if (counts === 'requests') return false;
  return membersOf(definition).length > 0 || (bounded.has(primitive) && !max_wait_ms && over_limit_cost_bug !== true);
}

function clockOf(definition: RuleDefinition): RuleClock {
  const { primitive, params } = definition;
  if (primitive === 'nginx_limit_req') return { stepMs: 1, resolutionMs: 1 };
  const { align, refill } = params as { readonly align?: string; readonly refill?: string };
  const resolutionMs = clockStepOf(definition) ?? 0;
  // Where only edges of the rule's own cut time, their phase is searched in whole ms.
  const isOnGrid =
    primitive === 'segmented_window' ||
    (primitive === 'fixed_window' && align !== undefined && align !== 'first') ||
    (primitive === 'token_bucket' && refill === 'interval' && align !== 'first');
  return { stepMs: resolutionMs >= 1 || isOnGrid ? 1 : 0, resolutionMs };
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
