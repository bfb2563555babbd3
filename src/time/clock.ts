// The port for time: virtual.ts and wall.ts implement it.
import type { Agenda } from './agenda.js';

/**
 * The present time, and the agenda of tasks for a later one. `now()` and `cycle()` never decrease, and while a task runs, `now()` is not
 * before its due.
 */
export interface Clock {
  /** Length of a cycle in ms, an integer of at least 1. */
  readonly cycleMs: number;
  readonly agenda: Agenda;
  /** Unix ms, may have a fraction. */
  now(): number;
  /** `cycleOf(now(), cycleMs)`. */
  cycle(): number;
}
