// The level of a rule at a target, cycle by cycle, derived from the observed answers.
//
//   observed admitted    charged; a target that admits more than the rule rises above the level
//   observed limited     treated as the rule treats refused requests; ignored if the rule would have admitted it

import type { SeenRequest } from '../explain/seen-request.js';
import type { Plan } from '../limiter/plan.js';
import { copyOf, LIMITED } from '../limiter/rule/rule.js';
import { cycleOf, startOf } from '../time/cycle.js';

/** Maximum per cycle, for one contract; undefined for a limiter that counts over windows, and for a rule that admits all. */
export function observedLevels(
  seen: readonly SeenRequest[],
  { rule: planned }: Plan,
  { firstCycle, lastCycle, cycleMs }: { firstCycle: number; lastCycle: number; cycleMs: number },
): ReadonlyMap<number, number> | undefined {
  if (planned === undefined || !Number.isFinite(planned.most)) return undefined;
  const { rule, most, holdMs } = planned;
  const inOrder = seen.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.sentMs - b.sentMs);
  let state = rule.fresh(startOf(firstCycle, cycleMs));
  const levels = new Map<number, number>();
  let place = 0;
  for (let cycle = firstCycle; cycle <= lastCycle; cycle += 1) {
    let level = most - rule.remaining(state, startOf(cycle, cycleMs));
    let above = 0;
    for (; place < inOrder.length && cycleOf(inOrder[place]!.sentMs, cycleMs) <= cycle; place += 1) {
      const { sentMs, decision, cost = 1 } = inOrder[place]!;
      const next = copyOf(state);
      const isLimited = rule.decide(next, sentMs, cost, holdMs) === LIMITED;
      if (decision === 'admitted' && isLimited) above += cost;
      else if ((decision === 'limited') === isLimited) state = next;
      level = Math.max(level, most - rule.remaining(state, sentMs));
    }
    levels.set(cycle, level + above);
  }
  return levels;
}
