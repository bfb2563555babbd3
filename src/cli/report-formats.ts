// Output formats of runs, by the end of a file name: a single run as its report, several runs as their comparison.
import { Failure } from '../core/schema/failure.js';
import { chartsOf, runsChart } from '../report/chart/charts.js';
import { drawing } from '../report/chart/drawing.js';
import type { ChartSpec } from '../report/chart-specs/spec.js';
import { outcomeJson } from '../report/folder.js';
import { documentsJunit } from '../report/junit.js';
import { documentMarkdown } from '../report/markdown.js';
import { documentPage, pageHtml } from '../report/page/page.js';
import type { Reported } from '../report/reported.js';
import { runDocument } from '../report/run-document.js';
import { documentText } from '../report/terminal-blocks.js';
import type { Terminal } from '../report/terminal-text.js';
import {
  comparedRuns,
  compareRuns,
  comparisonCsv,
  comparisonDocument,
  comparisonJson,
  type RunComparison,
} from './compare-runs.js';

export interface NamedRun {
  readonly name: string;
  readonly reported: Reported;
}

export type Rendered = string | Uint8Array;

type Rendering = Rendered | Promise<Rendered>;

interface Format {
  /** Default: as for several. */
  readonly one?: (run: Reported, terminal: Terminal) => Rendering;
  readonly several: (comparison: RunComparison, runs: readonly NamedRun[], terminal: Terminal) => Rendering;
}

const formats = {
  txt: {
    one: (run, terminal) => documentText(runDocument(run, 'terminal'), terminal),
    several: (comparison, _, terminal) => documentText(comparisonDocument(comparison), terminal),
  },
  json: { one: (run) => outcomeJson(run), several: comparisonJson },
  csv: { several: comparisonCsv },
  xml: {
    one: (run) => documentsJunit([runDocument(run, 'junit')]),
    several: (comparison) => documentsJunit(comparedRuns(comparison)),
  },
  md: {
    one: (run) => documentMarkdown(runDocument(run, 'documents')),
    several: (comparison) => documentMarkdown(comparisonDocument(comparison)),
  },
  html: { one: (run) => pageHtml(run), several: comparisonHtml },
  png: { one: (run) => picture(chartsOf(run)[0]), several: (_, runs) => picture(runsChart(runs)) },
} satisfies Readonly<Record<string, Format>>;

export type ReportFormat = keyof typeof formats;
export const reportFormats = Object.keys(formats) as ReportFormat[];

/** @param runs at least one @throws Failure `no_requests` if there is nothing to draw */
export async function render(
  name: ReportFormat,
  runs: readonly NamedRun[],
  terminal: Terminal,
  hasBaseline = false,
): Promise<Rendered> {
  const format: Format = formats[name];
  const [first] = runs;
  if (runs.length === 1 && first !== undefined && format.one !== undefined) return format.one(first.reported, terminal);
  const named = runs.map(({ name, reported }) => ({ name, outcome: reported.outcome }));
  return format.several(compareRuns(named, hasBaseline), runs, terminal);
}

export function comparisonHtml(comparison: RunComparison, runs: readonly NamedRun[]): string {
  return documentPage(comparisonDocument(comparison, runsChart(runs)));
}

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
