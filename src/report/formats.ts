// The formats in which runs are rendered to standard output: a single run as its report, several runs as their comparison.
import type { Outcome } from '../outcome/outcome-schema.js';
import { csvLines } from '../outcome/timeline-file.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { ChartSpec } from '../web/chart/spec.js';
import { chartsOf } from './chart/charts.js';
import { runsChart } from './chart/runs.js';
import { compareRuns, type RunComparison, type Tolerance } from './compare-runs.js';
import {
  comparisonCsv,
  comparisonJson,
  comparisonJunit,
  comparisonMarkdown,
  comparisonText,
} from './comparison-text.js';
import { junitXml } from './junit.js';
import { markdownText } from './markdown.js';
import { comparisonHtml, pageHtml } from './page/page.js';
import type { Reported } from './reported.js';
import type { Terminal } from './terminal-text.js';
import { reportText } from './text.js';

/** Two spaces of indent, keys in the order of the schema; ends with a line feed. */
export function outcomeJson(outcome: Outcome): string {
  return `${JSON.stringify(outcome, undefined, 2)}\n`;
}

export interface NamedRun {
  readonly name: string;
  readonly reported: Reported;
}

interface FormatOptions {
  readonly terminal: Terminal;
  /** Index of the baseline among the runs. */
  readonly baseline?: number;
  readonly tolerance?: Tolerance;
}

/** A text, a text in pieces, or bytes. */
export type Rendered = string | Iterable<string> | Uint8Array;

interface Renderer {
  readonly one: (run: Reported, options: FormatOptions) => Rendered | Promise<Rendered>;
  readonly several: (
    comparison: RunComparison,
    runs: readonly Reported[],
    options: FormatOptions,
  ) => Rendered | Promise<Rendered>;
}

export const formatNames = ['text', 'json', 'csv', 'junit', 'markdown', 'html', 'png'] as const;
export type Format = (typeof formatNames)[number];

export const formats: Readonly<Record<Format, Renderer>> = {
  text: {
    one: (run, { terminal }) => reportText(run, terminal),
    several: (comparison, _, { terminal }) => comparisonText(comparison, terminal),
  },
  json: { one: ({ outcome }) => outcomeJson(outcome), several: comparisonJson },
  csv: { one: ({ timeline, totals }) => csvLines(timeline ?? totals), several: comparisonCsv },
  junit: { one: ({ outcome }) => junitXml([outcome]), several: comparisonJunit },
  markdown: { one: (run) => markdownText(run), several: comparisonMarkdown },
  html: { one: (run) => pageHtml(run), several: comparisonHtml },
  png: {
    one: async (run) => picture(chartsOf(run)[0]),
    several: async ({ runs: named }, runs) =>
      picture(
        runsChart(
          named.map(({ name }) => name),
          runs,
        ),
      ),
  },
};

/**
 * @param runs at least one
 * @throws Failure `no_requests` if there is nothing to draw
 */
export async function render(format: Format, runs: readonly NamedRun[], options: FormatOptions): Promise<Rendered> {
  const [first] = runs;
  if (runs.length === 1 && first !== undefined) return formats[format].one(first.reported, options);
  const { baseline, tolerance } = options;
  const comparison = compareRuns(
    runs.map(({ name, reported }) => ({ name, outcome: reported.outcome })),
    { ...(baseline === undefined ? {} : { baseline }), ...(tolerance === undefined ? {} : { tolerance }) },
  );
  return formats[format].several(
    comparison,
    runs.map(({ reported }) => reported),
    options,
  );
}

/** @throws Failure `unknown_format` with the nearest name */
export function formatNamed(name: string): Format {
  const found = formatNames.find((known) => known === name);
  if (found !== undefined) return found;
  const guess = nearest(name, formatNames);
  throw new Failure('unknown_format', {
    what: `There is no format "${name}".`,
    fix:
      guess === undefined
        ? `Formats: ${formatNames.join(', ')}.`
        : `Did you mean "${guess}"? Formats: ${formatNames.join(', ')}.`,
  });
}

async function picture(spec: ChartSpec | undefined): Promise<Uint8Array> {
  if (spec === undefined) {
    throw new Failure('no_requests', {
      what: 'There is nothing to draw.',
      why: 'The runs kept no timeline of their contracts.',
    });
  }
  // Drawing loads a canvas and a font: it is imported only for a picture.
  const { chartPng } = await import('./chart/png.js');
  return chartPng(spec, 'light');
}
