// Checks that a definition settles for all counts, and bounds the number of transitions.
//
//   count    0 .. 100 | 101 .. 200 | 201 ..        conditions change their value only at the ends of their ranges, so one count of
//   state a   settled |   -> b     |  -> b         each range between two ends represents all of them
//   state b     -> a  |  settled   |  -> c         an event of any count passes the ranges upwards, a gap in time downwards:
//   state c     -> a  |   -> b     | settled        the longest path through them is the most that one event can cause
//
// A definition with a cycle of transitions at some counts is refused, and so is one whose longest path is too long.
import type { Fault } from '../schema/failure.js';
import type { IntegerSet } from './expression/integer-set.js';
import { firingAt, type Plan } from './plan.js';

/** The most transitions that one event or one gap in time may cause: each writes a row. */
const MOST_TRANSITIONS = 128;

/** The most transitions examined in one check, over all combinations of counts: about 5 ms. */
const MOST_EVALUATIONS = 100_000;

export function settlingFaults(plan: Plan): Fault[] {
  const ranges = plan.aggregates.map((_, aggregate) => rangeStarts(plan, aggregate));
  const combinations = ranges.reduce((product, starts) => product * starts.length, 1);
  const states = plan.states.length;
  const transitions = plan.transitions.length;
  const evaluations = Math.max(states, transitions);
  if (combinations * evaluations > MOST_EVALUATIONS) {
    const why = `: ${combinations} combinations of counts, times ${evaluations} states or transitions, is more than ${MOST_EVALUATIONS}`;
    return [
      { path: '/transitions', message: `look at too many different windows and counts at once; use fewer${why}` },
    ];
  }
  const table: Int32Array[] = [];
  for (let combination = 0; combination < combinations; combination += 1) {
    const counts = countsOf(ranges, combination);
    const next = Int32Array.from(plan.states, (_, state) => firingAt(plan, state, counts)?.to ?? SETTLED);
    const loop = findLoop(next);
    if (loop !== undefined) return [{ path: '/transitions', message: loopMessage(plan, loop, counts) }];
    table.push(next);
  }
  const sizes = ranges.map((starts) => starts.length);
  const most = Math.max(longestPath(table, sizes, states), longestPath(table.reverse(), sizes, states));
  if (most <= MOST_TRANSITIONS) return [];
  const message = `can fire ${most} times at one event with a high count, and the most is ${MOST_TRANSITIONS}; use fewer states or conditions`;
  return [{ path: '/transitions', message }];
}

const SETTLED = -1;

/** Decodes a combination: a number whose digits, in mixed radix, are the ranges of the windows. */
function countsOf(ranges: readonly (readonly number[])[], combination: number): number[] {
  let remainder = combination;
  return ranges.map((starts) => {
    const count = starts[remainder % starts.length]!;
    remainder = Math.floor(remainder / starts.length);
    return count;
  });
}

/** The longest path on which every window passes its ranges in order. @param table acyclic, by combination */
function longestPath(table: readonly Int32Array[], sizes: readonly number[], states: number): number {
  const most = table.map(() => new Int32Array(states));
  let longest = 0;
  for (const [combination, next] of table.entries()) {
    const here = most[combination]!;
    let stride = 1;
    for (const size of sizes) {
      if (Math.floor(combination / stride) % size > 0) {
        const before = most[combination - stride]!;
        for (let state = 0; state < states; state += 1) here[state] = Math.max(here[state]!, before[state]!);
      }
      stride *= size;
    }
    for (let from = 0; from < states; from += 1) {
      for (let state = from, to = next[state]!; to !== SETTLED && here[to]! <= here[state]!; to = next[state]!) {
        here[to] = here[state]! + 1;
        state = to;
      }
    }
    for (const transitions of here) longest = Math.max(longest, transitions);
  }
  return longest;
}

function rangeStarts(plan: Plan, aggregate: number): number[] {
  const starts = new Set([0]);
  const mark = (set: IntegerSet) => {
    for (const { lo, hi } of set) {
      starts.add(lo);
      if (hi < Number.POSITIVE_INFINITY) starts.add(hi + 1);
    }
  };
  for (const { trigger } of plan.transitions) if (trigger?.aggregate === aggregate) mark(trigger.counts);
  return [...starts].sort((a, b) => a - b);
}

function findLoop(next: Int32Array): number[] | undefined {
  const seenFrom = new Map<number, number>();
  for (let start = 0; start < next.length; start += 1) {
    let state = start;
    for (; state !== SETTLED && !seenFrom.has(state); state = next[state]!) seenFrom.set(state, start);
    if (state === SETTLED || seenFrom.get(state) !== start) continue;
    const loop = [state];
    for (let on = next[state]!; on !== state; on = next[on]!) loop.push(on);
    return loop;
  }
  return undefined;
}

function loopMessage(plan: Plan, loop: readonly number[], counts: readonly number[]): string {
  const names = loop.map((state) => `"${plan.states[state]!.name}"`);
  const where = plan.aggregates
    .map(({ event, within }, index) =>
      plan.rule === undefined ? `count ${counts[index]} of ${event} in ${within} cycles` : `refused ${counts[index]}`,
    )
    .join(' and ');
  const round = names.length === 1 ? `${names[0]} leads to itself` : `${names.join(' and ')} lead to each other`;
  return `never come to rest: at ${where}, ${round} at every evaluation`;
}
