// The data in the page of a report, as JSON for its script.
import type { Palette, Theme } from './chart/palette.js';
import type { ChartSpec } from './chart/spec.js';

export interface ReportData {
  readonly charts: readonly ChartSpec[];
  readonly palettes: Readonly<Record<Theme, Palette>>;
  readonly transitions?: TransitionRows;
  /** Of the transitions. */
  readonly firstCycle: number;
  readonly cycleMs: number;
}

export interface TransitionRows {
  readonly contracts: readonly string[];
  readonly states: readonly string[];
  readonly rows: readonly TransitionRow[];
}

/** Index of the contract, cycle from the start, index of the state entered, count, cycles until the next transition of the contract. */
export type TransitionRow = readonly [
  contract: number,
  cycle: number,
  to: number,
  count: number | null,
  lasted: number | null,
];
