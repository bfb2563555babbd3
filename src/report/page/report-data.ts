// JSON data in a report page, for its script.
import type { Palette, Theme } from '../chart-specs/palette.js';
import type { ChartSpec } from '../chart-specs/spec.js';

export interface ReportData {
  readonly charts: readonly ChartSpec[];
  readonly palettes: Readonly<Record<Theme, Palette>>;
  readonly transitions?: TransitionRows;
  readonly firstCycle: number;
  readonly cycleMs: number;
}

export interface TransitionRows {
  readonly contracts: readonly string[];
  readonly states: readonly string[];
  readonly rows: readonly TransitionRow[];
}

/** `contract` and `to` are indexes; the last field counts cycles until the contract's next transition. */
export type TransitionRow = readonly [
  contract: number,
  cycle: number,
  to: number,
  count: number | null,
  lasted: number | null,
];
