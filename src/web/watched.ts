// Complete state for the page of a running run or sweep, so that a lost connection leaves no gap.
import type { SweepData } from './chart/sweep-charts.js';

export interface WatchedArm {
  readonly requests: readonly number[];
  readonly admitted: readonly number[];
  /** The window at the end of each column; for several contracts, how many limit. Empty if unknown. */
  readonly counts: readonly number[];
}

export interface RunScreen {
  readonly name: string;
  readonly question: string;
  readonly cycles: number;
  readonly columnCycles: number;
  readonly threshold: number | null;
  readonly isFleet: boolean;
  readonly share: number;
  readonly leftMs: number | null;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly predicted: WatchedArm | undefined;
  readonly running: WatchedArm;
  readonly isLive: boolean;
  readonly expectations: readonly {
    readonly name: string;
    readonly expected: string;
    readonly state: 'held' | 'broken' | 'open';
    readonly found: string;
  }[];
  /** Undefined while running; then whether there is a report at /report. */
  readonly ended?: { readonly hasReport: boolean } | undefined;
}

export interface SweepScreen {
  readonly sweep: SweepData | undefined;
  readonly share: number;
  readonly words: string;
  /** Undefined while running; then whether there is a report at /report. */
  readonly ended?: { readonly hasReport: boolean } | undefined;
}
