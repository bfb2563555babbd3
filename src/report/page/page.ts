// The page of a run: one file that opens without a network. Its policy allows only its own scripts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundled } from '../../web/bundled.js';
import { palettes, themeStyle } from '../../web/chart/palette.js';
import type { ChartSpec } from '../../web/chart/spec.js';
import type { ReportData } from '../../web/report-data.js';
import { chartsOf } from '../chart/charts.js';
import { runsChart } from '../chart/runs.js';
import type { RunComparison } from '../compare-runs.js';
import type { Reported } from '../reported.js';
import { verdictView } from '../words.js';
import { documentOf, type Html, hashed, html, scriptJson, unbroken } from './html.js';
import { rulesTable } from './rules-table.js';
import {
  againSection,
  comparisonSection,
  differencesSection,
  expectationsSection,
  figuresSection,
  headSection,
} from './sections.js';
import { transitionRows, transitionsSection } from './transitions.js';

/** @param files names of the files beside the page */
export function pageHtml(reported: Reported, files: readonly string[] = []): string {
  const { outcome } = reported;
  const charts = chartsOf(reported);
  const transitions = transitionRows(outcome);
  const body = html`${headSection(outcome)}
${expectationsSection(outcome)}
${differencesSection(outcome)}
${figuresSection(outcome)}
${outcome.compared === undefined ? '' : html`<h2>Other rules, fitted to the same rate</h2>${rulesTable(outcome.compared.rules)}`}<h2>Charts</h2>${charts.map(chartFigure)}
${transitionsSection(outcome, transitions)}
${againSection(reported, files)}</main>`;
  const { cycle_ms, first_cycle } = outcome;
  const data: ReportData = { charts, palettes, transitions, firstCycle: first_cycle ?? 0, cycleMs: cycle_ms };
  return pageDocument(`${verdictView(outcome).words}: ${outcome.scenario}`, body, data);
}

/** Several runs on one page: a table of their figures, and a chart of their windows. */
export function comparisonHtml(comparison: RunComparison, runs: readonly Reported[]): string {
  const charts = [
    runsChart(
      comparison.runs.map(({ name }) => name),
      runs,
    ),
  ].flatMap((spec) => spec ?? []);
  const body = html`${comparisonSection(comparison)}${charts.length === 0 ? '' : html`<h2>Charts</h2>${charts.map(chartFigure)}`}</main>`;
  const transitions = { contracts: [], states: [], rows: [] };
  const data: ReportData = { charts, palettes, transitions, firstCycle: 0, cycleMs: 1 };
  return pageDocument('Runs compared', body, data);
}

const scriptNames = ['report.js', 'sweep.js', 'recommend.js'] as const;
type ScriptName = (typeof scriptNames)[number];

function styleOf(scriptName: ScriptName): string {
  return `${themeStyle}${heights}${bundled(scriptName === 'recommend.js' ? 'recommend.css' : 'report.css')}`;
}

function policyFor(scripts: readonly string[], styles: readonly string[], isLive: boolean): string {
  const [script, style] = [scripts, styles].map((texts) => [...new Set(texts.map(hashed))].join(' '));
  return `default-src 'none'; script-src ${script}; style-src ${style}; img-src data:; ${isLive ? "connect-src 'self'; " : ''}base-uri 'none'; form-action 'none'`;
}

/** What a report may do, whatever its file says: run the scripts of this version, and nothing else. */
export function reportPolicy(): string {
  const scripts = [chartLibrary(), ...scriptNames.map((name) => bundled(name))];
  return policyFor(scripts, scriptNames.map(styleOf), false);
}

/**
 * A page with charts, in one file.
 * @param data for its script, as JSON
 * @param isLive whether it listens to the server that it comes from
 */
export function pageDocument(
  title: string,
  body: Html,
  data: object,
  scriptName: ScriptName = 'report.js',
  isLive = false,
): string {
  const library = chartLibrary();
  const script = bundled(scriptName);
  const style = styleOf(scriptName);
  const policy = policyFor([library, script], [style], isLive);
  return documentOf(title, policy, style, [
    body.text,
    '<footer>Written by Weir. Charts drawn with Chart.js (MIT licence).</footer></div>',
    `<script type="application/json" id="data">${scriptJson(data)}</script>`,
    `<script>${library}</script>`,
    `<script>${script}</script>`,
    '</body></html>\n',
  ]);
}

export function chartFigure({ id, title, about, height }: ChartSpec) {
  // Heights are classes, because the policy of the page forbids inline styles.
  return html`<figure><h3>${title}</h3><figcaption>${unbroken(about)}</figcaption><div class="chart h${heightClass(height)}"><canvas id="chart-${id}" role="img" aria-label="${title}. ${about}"></canvas></div></figure>`;
}

/** Chart heights are rounded up to steps of 40 px. */
function heightClass(height: number): number {
  return Math.ceil(height / HEIGHT_STEP);
}

const HEIGHT_STEP = 40;
const heights = Array.from({ length: 27 }, (_, index) => `.h${index + 3}{height:${(index + 3) * HEIGHT_STEP}px}`).join(
  '',
);

/** The bundle of Chart.js for browsers, which its package does not export by name. */
function chartLibrary(): string {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return readFileSync(join(dirname(main), 'chart.umd.min.js'), 'utf8').replace(
    /\n?\/\/# sourceMappingURL=.*\s*$/,
    '\n',
  );
}
