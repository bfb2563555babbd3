// Compares runs: the figures of each, and which are worse than the baseline beyond the tolerance; as document, CSV or JSON.
import type { Outcome } from '../harness/outcome/outcome-schema.js';
import { type Block, type CheckRow, type ReportDocument, right, type Table, type TableCell } from '../report/block.js';
import type { ChartSpec } from '../report/chart-specs/spec.js';
import { type Figure, type FigureUnit, figures, figureText } from '../report/figures.js';
import { column, type RunColumn, runTableCsv } from '../report/run-table.js';
import { shownName } from '../report/terminal-text.js';
import { counted, number, type VerdictMark, verdictView } from '../report/words.js';

interface NamedOutcome {
  readonly name: string;
  readonly outcome: Outcome;
}

interface ComparedFigure {
  readonly value: number | undefined;
  /** From the baseline; undefined for the baseline itself, or if a run lacks the figure. */
  readonly change?: Change;
}

interface Change {
  readonly baseline: number;
  readonly delta: number;
  readonly share: number | undefined;
  readonly verdict: 'same' | 'better' | 'worse' | 'other';
}

interface ComparedRow {
  readonly name: string;
  readonly label: string;
  readonly unit: FigureUnit;
  readonly cells: readonly ComparedFigure[];
}

export interface RunComparison {
  readonly runs: readonly NamedOutcome[];
  /** The first of the runs, or none. */
  readonly baseline: NamedOutcome | undefined;
  readonly rows: readonly ComparedRow[];
  readonly worse: readonly {
    readonly run: string;
    readonly figure: string;
    readonly baseline: number;
    readonly value: number;
  }[];
}

/** A change by at most this share of the baseline counts as the same. */
const TOLERATED = 0.05;

const broken: Figure = {
  name: 'expectations_broken',
  label: 'expectations broken',
  unit: 'count',
  worse: 'more',
  of: ({ expectations }) => expectations.filter(({ held }) => !held).length,
};

/** @param runs at least one @param hasBaseline the first is that of the others */
export function compareRuns(runs: readonly NamedOutcome[], hasBaseline: boolean): RunComparison {
  const baseline = hasBaseline ? runs[0] : undefined;
  const rows = [...figures, broken].flatMap((figure): ComparedRow[] => {
    const cells = runs.map(({ outcome }, index): ComparedFigure => {
      const value = figure.of(outcome);
      const basis = baseline === undefined || index === 0 ? undefined : figure.of(baseline.outcome);
      if (value === undefined || basis === undefined) return { value };
      return { value, change: changeOf(figure, basis, value) };
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
  return { runs, baseline, rows, worse };
}

function changeOf({ worse }: Figure, base: number, value: number): Change {
  const delta = value - base;
  const shared = { baseline: base, delta, share: base === 0 ? undefined : delta / Math.abs(base) };
  if (Math.abs(delta) <= TOLERATED * Math.abs(base)) return { ...shared, verdict: 'same' };
  switch (worse) {
    case 'neither':
      return { ...shared, verdict: 'other' };
    case 'more':
      return { ...shared, verdict: delta > 0 ? 'worse' : 'better' };
    case 'less':
      return { ...shared, verdict: delta < 0 ? 'worse' : 'better' };
  }
}

const signs: Readonly<Record<Change['verdict'], string>> = {
  same: '=',
  better: '↑ better',
  worse: '↓ worse',
  other: '≠',
};

export function comparisonDocument(comparison: RunComparison, chart?: ChartSpec): ReportDocument {
  const { runs, baseline, rows, worse } = comparison;
  const verdict: VerdictMark =
    worse.length > 0
      ? { sign: '✘', words: 'worse', hue: 'bad' }
      : baseline === undefined
        ? { sign: '–', words: 'compared', hue: 'open' }
        : { sign: '✔', words: 'not worse', hue: 'good' };
  const table: Table = {
    kind: 'table',
    title: 'Figures',
    // Each part of a split table repeats the baseline.
    keep: baseline === undefined ? 1 : 2,
    columns: [
      'figure',
      ...runs.map((run) => right(`${shownName(run.name, 28)}${run === baseline ? ' (baseline)' : ''}`)),
    ],
    rows: [
      ['verdict', ...runs.map(({ outcome }) => verdictCell(outcome))],
      ...rows.map((row) => [row.label, ...row.cells.map((cell, index) => cellFor(runs[index]!, row, cell))]),
    ],
  };
  const blocks: Block[] =
    chart === undefined ? [table] : [table, { kind: 'chart', spec: chart, title: 'Charts', where: 'documents' }];
  return { title: 'Runs compared', verdict, sentence: conclusion(comparison), blocks };
}

function verdictCell(outcome: Parameters<typeof verdictView>[0]): TableCell {
  const { sign, words } = verdictView(outcome);
  return `${sign} ${words}`;
}

function cellFor({ outcome }: NamedOutcome, { unit }: ComparedRow, { value, change }: ComparedFigure): TableCell {
  const text = figureText({ unit }, value, outcome.cycle_ms);
  if (change === undefined) return text;
  const sign =
    change.delta === 0 && change.verdict === 'same' ? '=' : `${deltaText(change)} ${signs[change.verdict]}`.trim();
  return { text, beside: sign, hue: change.verdict === 'worse' ? 'bad' : undefined };
}

function deltaText({ delta, share }: Change): string {
  if (delta === 0) return '';
  const sign = delta > 0 ? '+' : '';
  if (share === undefined) return `${sign}${number(delta)}`;
  const percent = Number((share * 100).toFixed(1));
  return `${sign}${Math.abs(percent) >= 1000 ? number(Math.round(percent)) : percent} %`;
}

function conclusion({ runs, baseline, worse }: RunComparison): string {
  if (baseline === undefined) return `${counted(runs.length, 'run')} side by side, without a baseline.`;
  const tolerated = `Tolerated: ${number(TOLERATED * 100)} %.`;
  const name = shownName(baseline.name, 60);
  return worse.length === 0
    ? `Nothing is worse than ${name}. ${tolerated}`
    : `${counted(worse.length, 'figure')} ${worse.length === 1 ? 'is' : 'are'} worse than ${name}. ${tolerated}`;
}

/** For JUnit: one document per run except the baseline, one check per figure. */
export function comparedRuns({ runs, baseline, rows }: RunComparison): ReportDocument[] {
  return runs.flatMap((run, index) => {
    if (run === baseline) return [];
    const judged = rows.filter(({ cells }) => baseline === undefined || cells[index]!.change !== undefined);
    const checks = judged.map(({ name: figure, cells }): CheckRow => {
      const { value, change } = cells[index]!;
      if (change?.verdict !== 'worse') return { name: figure, result: 'passed' };
      return {
        name: figure,
        result: 'failed',
        message: `${value ?? 0} is worse than ${change.baseline} of the baseline`,
      };
    });
    return [{ title: run.name, sentence: '', blocks: [{ kind: 'checks', rows: checks }] }];
  });
}

export function comparisonJson({ runs, baseline, rows, worse }: RunComparison): string {
  const shown = {
    runs: runs.map(({ name, outcome }) => ({
      name,
      scenario: outcome.scenario,
      seed: outcome.seed,
      verdict: outcome.verdict,
      digest: outcome.digest,
    })),
    baseline: baseline?.name ?? null,
    figures: rows.map(({ name, unit, cells }) => ({
      name,
      unit,
      values: cells.map(({ value }) => value ?? null),
      changes: cells.map(({ change }) => change ?? null),
    })),
    worse,
  };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

interface ComparedCell extends ComparedFigure, Pick<ComparedRow, 'name' | 'unit'> {
  readonly run: string;
}

const cellColumns: readonly RunColumn<ComparedCell>[] = [
  column('figure', ({ name }) => name),
  column('unit', ({ unit }) => unit),
  column('run', ({ run }) => run),
  column('value', ({ value }) => value),
  column('delta', ({ change }) => change?.delta),
  column('share', ({ change }) => change?.share),
  column('verdict', ({ change }) => change?.verdict),
];

/** A line for each figure of each run. */
export function comparisonCsv({ runs, rows }: RunComparison): string {
  const cells = rows.flatMap(({ name, unit, cells }) =>
    cells.map((cell, index): ComparedCell => ({ name, unit, run: runs[index]!.name, ...cell })),
  );
  return runTableCsv(cellColumns, cells);
}
