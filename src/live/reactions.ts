// Owns how fast a target reacted: from the request that trips the gate to the first limited answer and to the event at the listener,
// and the same for the restore. Pure.
//
//   entry     request that trips ──► 429                        reaction_ms
//                                └─► rate_limited heard         event_ms
//   restore   the cycle begins in which the window has room ──► rate_restored heard     restore_event_ms
//                                                           └─► first admitted answer   restore_ms (needs somebody to ask)

import type { Reaction, TransitionSeen } from '../outcome/schema.js';
import { startOf } from '../time/cycle.js';
import type { Cell } from './ledger.js';

/** An event as the listener heard it. */
export interface EventHeard {
  readonly cycle: number;
  /** State entered with it. */
  readonly to: string;
  /** Unix ms by the clock of the run. */
  readonly atMs: number;
}

export interface Reacted {
  readonly name: string;
  /** As the target told them, in order of cycle. */
  readonly transitions: readonly TransitionSeen[];
  /** As the model has them: when the window first held too much. */
  readonly modelled: readonly TransitionSeen[];
  readonly cells: readonly Cell[];
  readonly events: readonly EventHeard[];
  readonly admits: (state: string) => boolean;
  readonly cycleMs: number;
}

/** One for each entry of a contract that was seen, in order of cycle. */
export function reactionsOf(reacted: Reacted): Reaction[] {
  const { transitions, admits } = reacted;
  const reactions: Reaction[] = [];
  transitions.forEach(({ cycle, to }, index) => {
    if (admits(to)) return;
    const restore = transitions.slice(index + 1).find((one) => admits(one.to));
    reactions.push(reactionOf(reacted, cycle, restore?.cycle));
  });
  return reactions;
}

function reactionOf(reacted: Reacted, seenCycle: number, restoreCycle: number | undefined): Reaction {
  const { name, cells, events, admits, cycleMs } = reacted;
  const entryCycle = entryFor(reacted, seenCycle);
  const shut = cells.filter(({ cycle }) => cycle >= seenCycle && (restoreCycle === undefined || cycle <= restoreCycle));
  const limited = shut.find(({ firstLimitedMs }) => firstLimitedMs !== undefined);
  const tripMs = limited?.trip?.sentMs;
  const heardMs = events.find(({ cycle, to }) => cycle === seenCycle && !admits(to))?.atMs;
  const since = (fromMs: number | undefined, atMs: number | undefined) =>
    fromMs === undefined || atMs === undefined ? null : Math.max(0, atMs - fromMs);
  const reaction: Reaction = {
    contract: name,
    entry_cycle: entryCycle,
    reaction_cycles: Math.max(0, seenCycle - entryCycle),
    reaction_ms: since(tripMs, limited?.firstLimitedMs),
    event_ms: since(tripMs, heardMs),
    restore_cycle: restoreCycle ?? null,
    recovery_cycles: null,
  };
  if (restoreCycle === undefined) return reaction;
  const last = cells.findLast(({ cycle }) => cycle < restoreCycle);
  const fromMs = startOf(restoreCycle, cycleMs);
  const restored = events.find(({ cycle, to }) => cycle === restoreCycle && admits(to));
  const served = cells.find(({ cycle, firstAdmittedMs }) => cycle >= restoreCycle && firstAdmittedMs !== undefined);
  return {
    ...reaction,
    recovery_cycles: last === undefined ? null : restoreCycle - last.cycle,
    restore_ms: since(fromMs, served?.firstAdmittedMs),
    restore_event_ms: since(fromMs, restored?.atMs),
  };
}

/** The entry of the model that this one answers: the last at or before it that is not answered by an earlier one. */
function entryFor({ modelled, admits }: Reacted, seenCycle: number): number {
  const entry = modelled.findLast(({ cycle, to }) => !admits(to) && cycle <= seenCycle);
  return entry?.cycle ?? seenCycle;
}
