// The most requests that a limit can let through in a short time, for the client that tries hardest.
//
//   interval      |--------------|              1 s touches up to 3 cycles of 777 ms
//   cycles      |     |     |     |     |       any `within` of them in a row admit at most the threshold
//   within 2    | T   |  0  |  T  |             so the cycles touched hold at most ceil(cycles / within) times the threshold

import { LIMITED, type Rule } from '../limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../limiter/rule/rule-definition.js';

/**
 * For the rolling count of whole cycles. A client that sends in the first of every `within` cycles gets it.
 * @param intervalMs a whole number from 1
 */
export function worstBurst(threshold: number, within: number, cycleMs: number, intervalMs: number): number {
  // The first of the whole milliseconds of the interval may be the last one of a cycle.
  const cycles = 1 + Math.ceil((intervalMs - 1) / cycleMs);
  return threshold * Math.ceil(cycles / within);
}

/** The next multiple of a window after this begins a window of the epoch. */
const START_MS = 1_700_000_000_000;

/**
 * For any rule, by playing to it: a request that opens what there is to open, a rest, then every request as soon as it is admitted and none
 * before. The most over rests from none to just before the window ends.
 * @param windowMs length of its window, or of the time in which it refills
 * @param intervalMs a whole number from 1
 */
export function playedBurst(definition: RuleDefinition, windowMs: number, intervalMs: number): number {
  const rule = ruleOf(definition);
  const startMs = Math.ceil(START_MS / windowMs) * windowMs;
  const rests = [0, windowMs / 2, windowMs - 1, 2 * windowMs - 1].map(Math.floor);
  return Math.max(
    ...rests.flatMap((restMs) => [true, false].map((opens) => played(rule, startMs, restMs, opens, intervalMs))),
  );
}

function played(rule: Rule, startMs: number, restMs: number, opens: boolean, intervalMs: number): number {
  const state = rule.fresh(startMs);
  if (opens) rule.decide(state, startMs, 1, 0);
  const from = startMs + restMs;
  const to = from + intervalMs;
  let started = 0;
  for (let at = rule.nextAdmission(state, from, 1); at < to; at = rule.nextAdmission(state, at, 1)) {
    const delay = rule.decide(state, at, 1, 0);
    if (delay === LIMITED || started >= MOST_PLAYED) break;
    if (at + delay < to) started += 1;
  }
  return started;
}

/** Rules that refuse nothing are left there. */
const MOST_PLAYED = 1_000_000;
