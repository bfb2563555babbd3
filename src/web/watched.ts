// What the page of a run, or of a sweep, is sent while it goes on, whole each time: a page that lost its connection has no hole afterwards.
import type { SweepData } from './chart/sweep-charts.js';

/** Columns of whole cycles, from the start; a cycle that has not been is not in them. */
export interface WatchedArm {
  readonly requests: readonly number[];
  readonly admitted: readonly number[];
  /** The window at the end of each column; of several contracts how many do not admit. Empty where it is not known. */
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
  /** null while it cannot be estimated. */
  readonly leftMs: number | null;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** What the model says of the same requests, where it is known. */
  readonly predicted: WatchedArm | undefined;
  readonly running: WatchedArm;
  readonly isLive: boolean;
  readonly expectations: readonly {
    readonly name: string;
    readonly expected: string;
    /** So far; `open` where nothing can be said yet. */
    readonly state: 'held' | 'broken' | 'open';
    readonly found: string;
  }[];
  /** Undefined while it runs; then whether there is a report at /report. */
  readonly ended?: { readonly hasReport: boolean } | undefined;
}

export interface SweepScreen {
  /** The cells that are whole; undefined before the first. */
  readonly sweep: SweepData | undefined;
  readonly share: number;
  readonly words: string;
  /** Undefined while it goes on; then whether there is a report at /report. */
  readonly ended?: { readonly hasReport: boolean } | undefined;
}
