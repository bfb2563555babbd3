// Compares several runs: every figure of each, and which figures are worse than the baseline by more than the tolerance.
import type { Outcome } from '../outcome/outcome-schema.js';
import { type Figure, type FigureUnit, figures } from './figures.js';

interface NamedOutcome {
  readonly name: string;
  readonly outcome: Outcome;
}

export interface Tolerance {
  /** Share of the baseline by which a figure may be worse: 0.05 is 5 %. */
  readonly share: number;
  /** Amount by which a figure may always be worse, in its unit: small numbers vary by large shares. */
  readonly floor: number;
}

export interface ComparedFigure {
  /** Undefined if the run has no such figure. */
  readonly value: number | undefined;
  /** Against the baseline; undefined without one, for the baseline itself, and if either run has no such figure. */
  readonly change?: Change;
}

export interface Change {
  readonly baseline: number;
  readonly delta: number;
  /** Share of the baseline; undefined if that is 0. */
  readonly share: number | undefined;
  /** `same` or `other` for a figure that is neither good nor bad. */
  readonly verdict: 'same' | 'better' | 'worse' | 'other';
}

export interface ComparedRow {
  readonly name: string;
  readonly label: string;
  readonly unit: FigureUnit;
  readonly cells: readonly ComparedFigure[];
}

export interface RunComparison {
  readonly runs: readonly NamedOutcome[];
  /** Index of the baseline among the runs; undefined if they are only shown side by side. */
  readonly baseline: number | undefined;
  readonly tolerance: Tolerance;
  readonly rows: readonly ComparedRow[];
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
 * @param baseline its index; undefined for none
 */
export function compareRuns(
  runs: readonly NamedOutcome[],
  { baseline, tolerance = noTolerance }: { readonly baseline?: number; readonly tolerance?: Tolerance } = {},
): RunComparison {
  const base = baseline === undefined ? undefined : runs[baseline];
  const rows = [...figures, broken].flatMap((figure): ComparedRow[] => {
    const cells = runs.map(({ outcome }, index): ComparedFigure => {
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
