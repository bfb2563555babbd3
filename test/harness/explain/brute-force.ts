// Every order and every placement of a few requests, in whole ms: what a search may not contradict.

import { copyOf, LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import type { SeenRequest } from '../../../src/harness/explain/seen-request.js';

interface Asked {
  readonly definition: RuleDefinition;
  /** How much later than ours the clock of the limiter is, in ms. */
  readonly phaseMs: number;
  /** When it was made, by its own clock. */
  readonly madeMs: number;
  readonly transportMs: number;
}

/** Whether requests, sent and answered at whole ms, can have been counted at whole ms so that the rule answers as it was seen. */
export function isPossible(requests: readonly SeenRequest[], asked: Asked): boolean {
  const { definition, phaseMs, madeMs, transportMs } = asked;
  const rule = ruleOf(definition);
  const counted = new Set<SeenRequest>();
  const next = (state: unknown, nowMs: number): boolean => {
    const left = requests.filter((one) => !counted.has(one));
    if (left.every(({ decision }) => decision === 'unknown')) return true;
    const dueMs = Math.min(...left.map(({ answeredMs }) => answeredMs));
    for (const one of left) {
      const alike = left.find(
        ({ sentMs, answeredMs, decision, cost }) =>
          sentMs === one.sentMs && answeredMs === one.answeredMs && decision === one.decision && cost === one.cost,
      );
      if (alike !== one) continue;
      counted.add(one);
      const lastMs = Math.min(dueMs, one.sentMs + (one.decision === 'unknown' ? 1e9 : transportMs));
      for (let tMs = Math.max(nowMs, one.sentMs); tMs <= lastMs; tMs += 1) {
        const after = copyOf(state);
        const heldMs = rule.admit(after, tMs + phaseMs, one.cost ?? 1, 0);
        if (isAnsweredSo(one, heldMs === LIMITED, tMs + Math.max(0, heldMs), transportMs) && next(after, tMs)) {
          return true;
        }
      }
      counted.delete(one);
    }
    return false;
  };
  return next(rule.fresh(madeMs), Number.NEGATIVE_INFINITY);
}

function isAnsweredSo(
  { decision, answeredMs }: SeenRequest,
  isLimited: boolean,
  releasedMs: number,
  transportMs: number,
): boolean {
  if (decision === 'unknown') return true;
  if ((decision === 'limited') !== isLimited) return false;
  return releasedMs <= answeredMs && releasedMs >= answeredMs - transportMs;
}
