// The formats in which runs are rendered to standard output: a single run as its report, several runs as their comparison.

import type { Outcome } from '../outcome/outcome-schema.js';
import { csvLines } from '../outcome/timeline-file.js';
import { Failure } from '../schema/failure.js';
import type { ChartSpec } from '../web/chart/spec.js';
import type { Medium, ReportDocument } from './block.js';
import { chartsOf } from './chart/charts.js';
import { drawing } from './chart/drawing.js';
import { runsChart } from './chart/window-count.js';
import {
  comparedRuns,
  compareRuns,
  comparisonCsv,
  comparisonDocument,
  comparisonJson,
  type RunComparison,
  type Tolerance,
} from './compare-runs.js';
import { documentsJunit } from './junit.js';
import { documentMarkdown } from './markdown.js';
import { documentPage, pageHtml } from './page/page.js';
import type { Reported } from './reported.js';
import { runDocument } from './run-document.js';
import { documentText } from './terminal-blocks.js';
import type { Terminal } from './terminal-text.js';

export function outcomeJson(outcome: Outcome): string {
  return `${JSON.stringify(outcome, undefined, 2)}\n`;
}

export interface NamedRun {
  readonly name: string;
  readonly reported: Reported;
}

interface FormatOptions {
  readonly terminal: Terminal;
  readonly baseline?: number;
  readonly tolerance?: Tolerance;
}

export type Rendered = string | Iterable<string> | Uint8Array;

export const formatNames = ['text', 'json', 'csv', 'junit', 'markdown', 'html', 'png'] as const;
type ReportFormat = (typeof formatNames)[number];

/**
 * @param runs at least one
 * @throws Failure `no_requests` if there is nothing to draw
 */
export async function render(
  format: ReportFormat,
  runs: readonly NamedRun[],
  { terminal, ...options }: FormatOptions,
): Promise<Rendered> {
  const [first] = runs;
  if (runs.length === 1 && first !== undefined) return renderOne(format, first.reported, terminal);
  const named = runs.map(({ name, reported }) => ({ name, outcome: reported.outcome }));
  return renderSeveral(format, compareRuns(named, options), runs, terminal);
}

function renderOne(format: ReportFormat, run: Reported, terminal: Terminal): Rendered | Promise<Rendered> {
  switch (format) {
    case 'json':
      return outcomeJson(run.outcome);
    case 'csv':
      return csvLines(run.timeline ?? run.totals);
    case 'html':
      return pageHtml(run);
    case 'png':
      return picture(chartsOf(run)[0]);
    default:
      return documentAs[format]([runDocument(run, mediumOf[format])], terminal);
  }
}

function renderSeveral(
  format: ReportFormat,
  comparison: RunComparison,
  runs: readonly NamedRun[],
  terminal: Terminal,
): Rendered | Promise<Rendered> {
  switch (format) {
    case 'json':
      return comparisonJson(comparison);
    case 'csv':
      return comparisonCsv(comparison);
    case 'html':
      return comparisonHtml(comparison, runs);
    case 'png':
      return picture(runsChart(runs));
    case 'junit':
      return documentsJunit(comparedRuns(comparison));
    default:
      return documentAs[format]([comparisonDocument(comparison)], terminal);
  }
}

export function comparisonHtml(comparison: RunComparison, runs: readonly NamedRun[]): string {
  return documentPage(comparisonDocument(comparison, runsChart(runs)));
}

type DocumentFormat = 'text' | 'markdown' | 'junit';

const mediumOf: Readonly<Record<DocumentFormat, Medium>> = { text: 'terminal', markdown: 'documents', junit: 'junit' };

const documentAs: Readonly<Record<DocumentFormat, (all: readonly ReportDocument[], terminal: Terminal) => string>> = {
  text: (all, terminal) => all.map((one) => documentText(one, terminal)).join('\n'),
  markdown: (all) => all.map((one) => documentMarkdown(one)).join('\n'),
  junit: documentsJunit,
};

async function picture(spec: ChartSpec | undefined): Promise<Uint8Array> {
  if (spec === undefined) {
    throw new Failure('no_requests', {
      what: 'There is nothing to draw.',
      why: 'The runs kept no timeline of their contracts.',
    });
  }
  const { chartPng } = await drawing();
  return chartPng(spec, 'light');
}
