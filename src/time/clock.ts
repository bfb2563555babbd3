// The port through which all code learns what time it is. virtual.ts and wall.ts implement it.
import type { Agenda } from './agenda.js';

/**
 * A time that passes, and the agenda of those who wait for it.
 *
 * What every clock promises: `now()` never decreases; `cycle()` is `cycleOf(now(), cycleMs)`, so it never decreases
 * either; and while a task runs, `now()` is not before its due.
 */
export interface Clock {
  /** Length of a cycle in ms, an integer of at least 1. */
  readonly cycleMs: number;
  /** Everything that waits for this clock. */
  readonly agenda: Agenda;
  /** Unix ms, may have a fraction. */
  now(): number;
  /** The number of the cycle in which `now()` lies. */
  cycle(): number;
}
