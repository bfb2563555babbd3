// The future of a gate if nothing else arrives: when it restores, and when a request would be admitted again.
//
//   count   103 103 102 102 102 101 101 100        a decision changes only where a value falls to a floor:
//   floor                               100        the time before it is skipped
import { cycleOf, startOf } from '../time/cycle.js';
import type { IntegerSet } from './expression/integer-set.js';
import type { Gate } from './gate.js';
import { firingAt } from './plan.js';
import { NEVER } from './rule/rule.js';

/** In unix ms; undefined for never. @param kind index into `plan.kinds` @param cost admitted as a whole */
export function admissionMs(gate: Gate, kind = 0, cost = 1): number | undefined {
  return timeOf(gate, gate.plan.kinds[kind]?.aggregates ?? [], cost);
}

/** In unix ms; undefined for never. */
export function restoresMs(gate: Gate): number | undefined {
  return timeOf(gate, []);
}

/** The smallest k >= 1 so that a request in k cycles is admitted; 0 if the next one would be now, undefined if never. */
export function retryAfterCycles(gate: Gate, kind = 0, cost = 1): number | undefined {
  return cyclesUntil(gate, admissionMs(gate, kind, cost));
}

/** The smallest k >= 1 so that the state admits in k cycles; undefined if it does now, or never. */
export function restoresInCycles(gate: Gate): number | undefined {
  return gate.plan.states[gate.state]!.admits ? undefined : cyclesUntil(gate, restoresMs(gate));
}

export function cyclesUntil({ cycle, cycleMs, nowMs }: Gate, ms: number | undefined): number | undefined {
  if (ms === undefined) return undefined;
  if (ms <= nowMs) return 0;
  const begun = cycleOf(ms, cycleMs);
  return Math.max(1, begun - cycle + (startOf(begun, cycleMs) < ms ? 1 : 0));
}

/** The first time at which the state admits. @param fed aggregates that count the request, if there is one */
function timeOf(gate: Gate, fed: readonly number[], cost = 1): number | undefined {
  const { plan, cycleMs } = gate;
  const gauges = plan.aggregates.map((_, k) => gate.gaugeOf(k));
  const costs = gauges.map((_, k) => (fed.includes(k) ? cost : 0));
  const silent = costs.map(() => 0);
  const levelsAt = (ms: number, asked: readonly number[]) => gauges.map((gauge, k) => gauge.level(ms, asked[k]));
  /** When a level leaves the range in which the conditions of a state do not change. */
  const nextFall = (state: number, ms: number, asked: readonly number[], levels: readonly number[], untilMs: number) =>
    plan.states[state]!.transitions.reduce((first, { trigger }) => {
      if (trigger === undefined) return first;
      const { aggregate, counts } = trigger;
      const floor = sameDownTo(counts, levels[aggregate]!) - 1;
      return Math.min(first, gauges[aggregate]!.falls(floor, ms, asked[aggregate], first));
    }, untilMs);
  const heldMs = startOf(gate.heldUntilCycle, cycleMs);
  let { state, nowMs: ms } = gate;
  let levels = levelsAt(ms, silent);
  // Between two falls each cycle fires at most one transition, and a definition settles.
  for (let fired = 0; fired <= plan.states.length; ) {
    const askedLevels = levelsAt(ms, costs);
    const isHeld = ms < heldMs;
    const decides = isHeld || fed.length === 0 ? state : (firingAt(plan, state, askedLevels)?.to ?? state);
    if (plan.states[decides]!.admits) return ms;
    const isDue = !isHeld && firingAt(plan, state, levels) !== undefined;
    const fallMs = isHeld
      ? heldMs
      : nextFall(state, ms, costs, askedLevels, nextFall(state, ms, silent, levels, NEVER));
    const chainMs = isDue ? startOf(cycleOf(ms, cycleMs) + 1, cycleMs) : NEVER;
    if (fallMs === NEVER && chainMs === NEVER) return undefined;
    fired = chainMs < fallMs ? fired + 1 : 0;
    ms = Math.min(fallMs, chainMs);
    levels = levelsAt(ms, silent);
    state = firingAt(plan, state, levels)?.to ?? state;
  }
  return undefined;
}

/** The smallest m for which m .. value lies completely inside or completely outside the set. */
function sameDownTo(set: IntegerSet, value: number): number {
  let same = 0;
  for (const { lo, hi } of set) {
    if (lo <= value) same = lo;
    if (hi < value) same = hi + 1;
  }
  return same;
}
