// Owns the page of a run: one file that opens without a network, and lets nothing else run than its own scripts.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chartsOf } from '../chart/charts.js';
import { paintSource } from '../chart/paint.js';
import { palettes } from '../chart/palette.js';
import type { ChartSpec } from '../chart/spec.js';
import type { Reported } from '../reported.js';
import { escaped, html, scriptJson } from './html.js';
import { script } from './script.js';
import { againSection, differencesSection, expectationsSection, figuresSection, headSection } from './sections.js';
import { style } from './style.js';
import { transitionRows, transitionsSection } from './transitions.js';

/** @param files names of the files that lie beside the page */
export function pageHtml(reported: Reported, files: readonly string[] = []): string {
  const { outcome } = reported;
  const charts = chartsOf(reported);
  const transitions = transitionRows(outcome);
  const firstCycle = outcome.first_cycle ?? 0;
  const data = {
    charts,
    palettes,
    transitions,
    firstCycle,
    cycleMs: outcome.cycle_ms,
    cycles: (outcome.last_cycle ?? firstCycle) - firstCycle + 1,
  };
  const body = html`<div class="page">${headSection(outcome)}
<main>${expectationsSection(outcome)}
${figuresSection(outcome)}
${differencesSection(outcome)}
<h2>Charts</h2>${charts.map(chartFigure)}
${transitionsSection(outcome, transitions)}
${againSection(reported, files)}</main>
<footer>Written by Weir. Charts drawn with Chart.js (MIT licence).</footer></div>`;
  const library = chartLibrary();
  const own = `(() => {\n${paintSource()}\n${script}\n})();`;
  const policy = `default-src 'none'; script-src ${hashed(library)} ${hashed(own)}; style-src ${hashed(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policy).replaceAll('&#39;', "'")}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    `<title>${escaped(`${outcome.verdict}: ${outcome.scenario}`)}</title>`,
    `<style>${style}</style></head><body>`,
    body.text,
    `<script type="application/json" id="data">${scriptJson(data)}</script>`,
    `<script>${library}</script>`,
    `<script>${own}</script>`,
    '</body></html>\n',
  ].join('\n');
}

function chartFigure({ id, title, about, height }: ChartSpec) {
  // Heights come from a small set of classes, because the page forbids styles of single elements.
  return html`<figure><h3>${title}</h3><figcaption>${about}</figcaption><div class="chart h${heightClass(height)}"><canvas id="chart-${id}" role="img" aria-label="${title}. ${about}"></canvas></div></figure>`;
}

/** Rounded up to a multiple of 40 px, as style.ts has classes for. */
function heightClass(height: number): number {
  return Math.ceil(height / 40);
}

function hashed(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The bundle of Chart.js for browsers, which its package does not export by name. */
function chartLibrary(): string {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return readFileSync(join(dirname(main), 'chart.umd.min.js'), 'utf8').replace(
    /\n?\/\/# sourceMappingURL=.*\s*$/,
    '\n',
  );
}
