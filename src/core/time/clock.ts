// The port for time: virtual.ts and wall.ts implement it.
import type { Agenda } from './agenda.js';

/** `now()` and `cycle()` never decrease. While a task runs, `now()` is not before its due. */
export interface Clock {
  /** An integer of at least 1. */
  readonly cycleMs: number;
  readonly agenda: Agenda;
  /** Unix ms, may have a fraction. */
  now(): number;
  cycle(): number;
}
