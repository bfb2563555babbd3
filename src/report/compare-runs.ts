// Owns several runs beside one another: every figure of each, and where one is worse than the baseline by more than is tolerated.
// Pure. Leaves text, CSV and other forms to comparison-text.ts.
import type { Outcome } from '../outcome/schema.js';
import { type Figure, figures, type Unit } from './figures.js';

export interface NamedOutcome {
  readonly name: string;
  readonly outcome: Outcome;
}

export interface Tolerance {
  /** Share of the baseline that a figure may be worse: 0.05 is 5 %. */
  readonly share: number;
  /** What it may be worse whatever the baseline is, in the unit of the figure: small numbers stray by large shares. */
  readonly floor: number;
}

export interface Cell {
  /** Undefined where the run has no such figure. */
  readonly value: number | undefined;
  /** Against the baseline; undefined without one, for the baseline itself, and where one of both has no such figure. */
  readonly change?: Change;
}

export interface Change {
  readonly baseline: number;
  readonly delta: number;
  /** Of the baseline; undefined where that is 0. */
  readonly share: number | undefined;
  /** Of a figure that is neither good nor bad: `same` or `other`. */
  readonly verdict: 'same' | 'better' | 'worse' | 'other';
}

export interface ComparedRow {
  readonly name: string;
  readonly label: string;
  readonly unit: Unit;
  /** One for each run. */
  readonly cells: readonly Cell[];
}

export interface RunComparison {
  readonly runs: readonly NamedOutcome[];
  /** Index of the baseline among the runs; undefined where they are only shown side by side. */
  readonly baseline: number | undefined;
  readonly tolerance: Tolerance;
  readonly rows: readonly ComparedRow[];
  /** What is worse than the baseline by more than is tolerated. */
  readonly worse: readonly {
    readonly run: string;
    readonly figure: string;
    readonly baseline: number;
    readonly value: number;
  }[];
}

const noTolerance: Tolerance = { share: 0, floor: 0 };

const broken: Figure = {
  name: 'expectations_broken',
  label: 'expectations broken',
  unit: 'count',
  worse: 'more',
  of: ({ expectations }) => expectations.filter(({ held }) => !held).length,
};

/**
 * @param runs at least one; the baseline is one of them
 * @param baseline its index, if there is one
 */
export function compareRuns(
  runs: readonly NamedOutcome[],
  { baseline, tolerance = noTolerance }: { readonly baseline?: number; readonly tolerance?: Tolerance } = {},
): RunComparison {
  const base = baseline === undefined ? undefined : runs[baseline];
  const rows = [...figures, broken].flatMap((figure): ComparedRow[] => {
    const cells = runs.map(({ outcome }, index): Cell => {
      const value = figure.of(outcome);
      const basis = base === undefined || index === baseline ? undefined : figure.of(base.outcome);
      if (value === undefined || basis === undefined) return { value };
      return { value, change: changeOf(figure, basis, value, tolerance) };
    });
    if (cells.every(({ value }) => value === undefined)) return [];
    return [{ name: figure.name, label: figure.label, unit: figure.unit, cells }];
  });
  const worse = rows.flatMap(({ name, cells }) =>
    cells.flatMap(({ value, change }, index) =>
      change?.verdict === 'worse' && value !== undefined
        ? [{ run: runs[index]!.name, figure: name, baseline: change.baseline, value }]
        : [],
    ),
  );
  return { runs, baseline, tolerance, rows, worse };
}

/**
 *   |value - base| <= max(share * |base|, floor)   same
 */
function changeOf({ worse }: Figure, base: number, value: number, { share, floor }: Tolerance): Change {
  const delta = value - base;
  const shared = { baseline: base, delta, share: base === 0 ? undefined : delta / Math.abs(base) };
  if (Math.abs(delta) <= Math.max(share * Math.abs(base), floor)) return { ...shared, verdict: 'same' };
  switch (worse) {
    case 'neither':
      return { ...shared, verdict: 'other' };
    case 'more':
      return { ...shared, verdict: delta > 0 ? 'worse' : 'better' };
    case 'less':
      return { ...shared, verdict: delta < 0 ? 'worse' : 'better' };
  }
}
